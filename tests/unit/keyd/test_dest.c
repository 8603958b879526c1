/* SPDX-License-Identifier: ISC */
/*
 * The running keyd with files of other kinds than a model provider's: announced
 * digests, approved routes, several hosts, limited answers, and no credential
 * at all. argv[1]: keyd.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <stdio.h>

#include "unit/keyd/play.h"

/* Routes: 0 digest, 1 ask, 2 a GET of the second host, 3 a limited answer. */
static const char terms[] =
    "{\"name\":\"t\",\"hosts\":[\"provider.test\",\"files.test\"],"
    "\"credential\":{\"env\":\"T_KEY\",\"sentinel\":\"sk-t-ironcurtain-\","
    "\"headers\":[{\"name\":\"x-api-key\"}]},"
    "\"requestHeaders\":[\"accept\",\"content-type\"],"
    "\"responseHeaders\":[\"content-type\"],"
    "\"routes\":[{\"method\":\"POST\",\"path\":\"/t/*\",\"digest\":true,"
    "\"body\":{\"types\":[\"application/json\"],\"read\":true}},"
    "{\"method\":\"PUT\",\"path\":\"/t/*\",\"ask\":true,"
    "\"body\":{\"types\":[\"application/json\"],\"read\":true}},"
    "{\"method\":\"GET\",\"path\":\"/t/*\",\"host\":\"files.test\"},"
    "{\"method\":\"GET\",\"path\":\"/t/*\",\"reply\":1}]}";
static const char web[] =
    "{\"name\":\"w\",\"kind\":\"web\",\"host\":\"provider.test\","
    "\"maxBytes\":2}";

static uint8_t sum[SHA256_DIGEST_LENGTH];

static void
begin(const char *text, unsigned more, const char *key)
{
	struct rig_upstream u = {.host = "provider.test", .prefix = "",
	    .roots = pem, .port = server.port, .tls = true, .reuse = true,
	    .more = more};

	rig.provider = text;
	rig_start(&rig, program, &u, key);
}

static void
digest(const char *body)
{
	SHA256((const uint8_t *)body, strlen(body), sum);
	rig.digest_of_body = span_of(sum, sizeof(sum));
}

/* Wait for this keyd's alarm number `n`. */
static void
alarmed(unsigned n, const char *kind)
{
	rig_until(&rig, &rig.nalarms, n);
	is_str(rig.alarm, kind, "with an alarm");
}

/* Send a body in two frames, on a new stream. */
static void
send_body(unsigned route, const char *one, const char *two)
{
	static uint32_t stream;
	int fd = rig_stream(&rig, ++stream);

	rig_request(&rig, stream, 1, route, "/t/ok", "",
	    strlen(one) + strlen(two));
	rig_body(&rig, fd, 1, one, strlen(one));
	rig_body(&rig, fd, 1, two, strlen(two));
	rig_answer(&rig, fd, 1, &answer);
	close(fd);
}

static void
test_digest(void)
{
	begin(terms, 1, RIG_KEY);
	digest("{\"a\":1}");
	send_body(0, "{\"a\":", "1}");
	ok(answer.ended && body_is("ok"), "the body that was announced");
	look(&server, true);
	is_int(seen.body, 7, "reaches the provider");
	send_body(0, "{\"a\":", "2}");
	ok(strncmp(answer.fail, "400 ", 4) == 0, "another one is refused");
	alarmed(1, "stream-mismatch");
	look(&server, false);
	ok(seen.len == 0 || seen.body < 7, "and is never whole there");
	rig.digest_of_body = span_of(NULL, 0);
	send_body(0, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0, "none announced: refused");
	alarmed(2, "request-mismatch");
	digest("x");
	send_body(0, "", "");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "no body, but another digest: refused");
	digest("{}");
	send_body(3, "", "");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "a digest where the route wants none: refused");
	rig_stop(&rig);
}

/*
 * Returns true if a body of two bytes has arrived. One that an earlier test cut
 * off, which the provider may report late, has seven.
 */
static bool
two_arrived(void)
{
	do
		look(&server, false);
	while (seen.len != 0 &&
	    strstr(seen.head, "content-length: 2\r\n") == NULL);
	return seen.len != 0;
}

static void
test_asked(void)
{
	begin(terms, 1, RIG_KEY);
	digest("{}");
	send_body(1, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "a route that is asked for, not approved: refused");
	alarmed(1, "request-mismatch");
	rig.asked = true;
	rig.shown_name = "t";
	rig.shown_host = "provider.test";
	rig.shown_method = "PUT";
	send_body(0, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "approved on another route: refused");
	rig.shown_method = "GET";
	send_body(1, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "shown with another method: refused");
	rig.shown_method = "PUT";
	rig.shown_host = "docs.example";
	send_body(1, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "shown for another host: refused");
	rig.shown_host = "provider.test";
	rig.shown_name = "docs-reader";
	send_body(1, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "shown for another provider: refused");
	rig.shown_name = "t";
	rig.host = 1;
	send_body(1, "{", "}");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "approved for one host and sent to another: refused");
	rig.host = 0;
	alarmed(6, "request-mismatch");
	ok(!two_arrived(), "nothing reached the provider");
	send_body(1, "{", "}");
	ok(answer.ended && body_is("ok"), "approved: goes out");
	ok(two_arrived() && strncmp(seen.head, "PUT /t/ok ", 10) == 0, "there");
	ok(!two_arrived(), "once");
	rig_stop(&rig);
}

static void
test_hosts(void)
{
	begin(terms, 1, RIG_KEY);
	rig.host = 1;
	send_body(2, "", "");
	ok(answer.ended && body_is("ok"), "a request to the second host");
	is_int(rig.dialed, 1, "goes where that is");
	look(&server, true);
	rig.host = 0;
	send_body(2, "", "");
	ok(strncmp(answer.fail, "403 ", 4) == 0,
	    "its route, but the first host: refused");
	send_body(3, "", "");
	ok(strncmp(answer.fail, "502 the answer is larger", 24) == 0,
	    "an answer over the route's limit");
	look(&server, true);
	rig_stop(&rig);
}

static void
test_web(void)
{
	begin(web, 0, NULL);
	send_body(0, "", "");
	ok(answer.ended && body_is("ok"), "without a credential");
	look(&server, true);
	ok(strstr(seen.head, "key") == NULL &&
	    strstr(seen.head, "authorization") == NULL, "none is sent");
	rig_stop(&rig);
}

static void
run(const struct server_ca *ca)
{
	test_digest();
	test_asked();
	test_hosts();
	test_web();
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
