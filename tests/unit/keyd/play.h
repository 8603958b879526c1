/* SPDX-License-Identifier: ISC */
/*
 * Shared by the tests of the running keyd: one rig, one provider, one answer.
 */
#ifndef KEYD_PLAY_H
#define KEYD_PLAY_H

#include <sys/socket.h>

#include <signal.h>
#include <unistd.h>

#include "tap.h"
#include "unit/keyd/rig.h"
#include "unit/keyd/server.h"

/*
 * Routes: 0 POST with a body, 1 GET, 2 HEAD, 3 POST whose body may go unread,
 * 4 POST that fits what 0 and 3 fit, too.
 */
static __attribute__((unused)) const char file[] =
    "{\"name\":\"t\",\"host\":\"provider.test\",\"credential\":"
    "{\"env\":\"T_KEY\",\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":["
    "{\"name\":\"x-api-key\"},"
    "{\"name\":\"authorization\",\"prefix\":\"Bearer \"}]},"
    "\"requestHeaders\":[\"accept\",\"content-type\"],"
    "\"responseHeaders\":[\"content-type\",\"x-a-*\"],"
    "\"routes\":[{\"method\":\"POST\",\"path\":\"/t/*\",\"query\":"
    "{\"beta\":[\"true\"]},\"body\":{\"types\":[\"application/json\"],"
    "\"max\":16777216,\"read\":true}},{\"method\":\"GET\",\"path\":\"/t/*\"},"
    "{\"method\":\"HEAD\",\"path\":\"/t/*\"},"
    "{\"method\":\"POST\",\"path\":\"/log/*\",\"body\":"
    "{\"types\":[\"application/json\"]}},"
    "{\"method\":\"POST\",\"path\":\"/*/ok\",\"body\":"
    "{\"types\":[\"application/json\"]}}]}";

static const char *program;
static char pem[8192];
static struct server server;
static struct rig rig;
static struct rig_answer answer;
static struct server_seen seen;

static __attribute__((unused)) void
start(const struct server *s, bool tls, bool reuse, const char *key)
{
	struct rig_upstream u = {.host = "provider.test", .prefix = "",
	    .roots = pem, .port = s->port, .tls = tls, .reuse = reuse};

	rig.provider = file;
	rig_start(&rig, program, &u, key);
}

/*
 * Read what the provider received into `seen`; its len is 0 if there is
 * nothing.
 */
static __attribute__((unused)) void
look(const struct server *s, bool wait)
{
	seen.len = 0;
	if (recv(s->log, &seen, sizeof(seen), wait ? 0 : MSG_DONTWAIT) <= 0)
		seen.len = 0;
}

/* Send a POST with `body` on the stream. */
static __attribute__((unused)) void
post(int fd, uint32_t stream, uint32_t exchange, const char *path,
    const char *body)
{
	unsigned want = rig.nends + 1;

	rig_request(&rig, stream, exchange, 0, path, "", strlen(body));
	if (body[0] != '\0')
		rig_body(&rig, fd, exchange, body, strlen(body));
	rig_answer(&rig, fd, exchange, &answer);
	ok(rig_until(&rig, &rig.nends, want), "%s: its end is reported", path);
}

static __attribute__((unused)) bool
body_is(const char *s)
{
	return answer.len == strlen(s) &&
	    memcmp(answer.body, s, answer.len) == 0;
}

static __attribute__((unused)) void
serve(struct server *s, const struct server_ca *ca, const char *name,
    long from, long to, bool rsa)
{
	SSL_CTX *ctx = server_ctx(ca, name, from, to, rsa);

	server_start(s, ctx);
	SSL_CTX_free(ctx);
}

/* The body of main(): call `run` with a keyd and a provider that it trusts. */
static int
play(int argc, char **argv, void (*run)(const struct server_ca *))
{
	struct server_ca ca;

	if (argc != 2)
		return 1;
	program = argv[1];
	(void)signal(SIGPIPE, SIG_IGN);
	server_ca_new(&ca, pem, sizeof(pem));
	serve(&server, &ca, "provider.test", -60, 3600, false);
	run(&ca);
	server_stop(&server);
	EVP_PKEY_free(ca.key);
	X509_free(ca.cert);
	return tap_done();
}

#endif
