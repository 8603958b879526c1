/* SPDX-License-Identifier: ISC */
/*
 * The running keyd and git pushes. mitmd and auditd are played, and lie: unless
 * the body begins with the list that a person approved, no byte of it is sent.
 * argv[1]: keyd.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <stdio.h>

#include "unit/keyd/play.h"

#define A "1111111111111111111111111111111111111111"
#define B "2222222222222222222222222222222222222222"
#define PATH "/owner/repo.git/git-receive-pack"
#define WORDS "\0 report-status"
#define LIST(name) "0072" A " " B " refs/heads/" name WORDS "0000"

enum { REFS_UPLOAD, REFS_RECEIVE, FETCH, PUSH };

static const char git[] =
    "{\"name\":\"g\",\"kind\":\"git\",\"host\":\"provider.test\","
    "\"repositories\":[\"owner/*\"],\"credential\":{\"env\":\"T_KEY\","
    "\"basic\":\"x-access-token\"}}";

static uint8_t sum[SHA256_DIGEST_LENGTH];
static uint32_t stream;

static void
digest(const void *body, size_t len)
{
	SHA256(body, len, sum);
	rig.digest_of_body = span_of(sum, sizeof(sum));
}

/* Push in frames of `step` bytes, on a new stream. */
static void
push(const char *path, const void *body, size_t len, size_t step)
{
	int fd = rig_stream(&rig, ++stream);
	size_t n;

	rig.type = "application/x-git-receive-pack-request";
	rig_request(&rig, stream, 1, PUSH, path, "", len);
	for (size_t at = 0; at < len; at += n) {
		n = len - at < step ? len - at : step;
		rig_body(&rig, fd, 1, (const uint8_t *)body + at, n);
	}
	rig_answer(&rig, fd, 1, &answer);
	close(fd);
}

static unsigned alarms;

static void
refused(const char *what, const char *kind)
{
	ok(!answer.ended && answer.fail[0] == '4', "%s: refused (%s)", what,
	    answer.fail);
	rig_until(&rig, &rig.nalarms, ++alarms);
	is_str(rig.alarm, kind, "with an alarm");
	look(&server, false);
	ok(seen.len == 0 || seen.body == 0,
	    "no byte of its body has left");
}

static const char good[] = LIST("ok") "PACK0123456789";

static void
test_approved(void)
{
	char basic[128], out[256] = "\r\nauthorization: Basic ";

	rig.asked = true;
	rig.shown_name = "g";
	rig.shown_host = "provider.test";
	rig.shown_method = "POST";
	rig.refs = SPAN(A " " B " refs/heads/ok\n");
	for (size_t step = 1; step < 300; step += 41) {
		digest(good, sizeof(good) - 1);
		push(PATH, good, sizeof(good) - 1, step);
		look(&server, true);
		ok(seen.body == sizeof(good) - 1 &&
			strncmp(seen.head, "POST " PATH " ", 5) == 0,
		    "the push that was approved, in frames of %zu", step);
	}
	snprintf(basic, sizeof(basic), "x-access-token:%s", RIG_KEY);
	EVP_EncodeBlock((unsigned char *)out + strlen(out),
	    (const unsigned char *)basic, (int)strlen(basic));
	ok(strstr(seen.head, out) != NULL, "with the token, as Basic");
}

/* Whatever mitmd announces as digest and list, other refs are refused. */
static void
test_refused(void)
{
	static const char evil[] = LIST("no") "PACK0123456789";

	digest(evil, sizeof(evil) - 1);
	push(PATH, evil, sizeof(evil) - 1, 64);
	refused("another ref than was approved", "stream-mismatch");
	push(PATH, evil, sizeof(evil) - 1, 4096);
	refused("in one frame", "stream-mismatch");
	digest(good, sizeof(good) - 1);
	push(PATH, evil, sizeof(evil) - 1, 64);
	refused("another body than was approved", "stream-mismatch");
	digest("PACK", 4);
	push(PATH, "PACK", 4, 4);
	refused("no list", "stream-mismatch");
	digest(good, sizeof(good) - 15);
	push(PATH, good, sizeof(good) - 15, 64);
	refused("a list and no pack", "stream-mismatch");
	rig.refs = SPAN(A " " B " refs/heads/ok\n" A " " B " refs/heads/x\n");
	digest(good, sizeof(good) - 1);
	push(PATH, good, sizeof(good) - 1, 64);
	refused("fewer refs than were approved", "stream-mismatch");
	rig.refs = SPAN("");
	push(PATH, good, sizeof(good) - 1, 64);
	refused("approved without a ref", "request-mismatch");
	rig.refs = SPAN(A " " B " refs/heads/ok\n");
	rig.shown_host = "scratch.test";
	push(PATH, good, sizeof(good) - 1, 64);
	refused("shown for a scratch host, pushed to this one",
	    "request-mismatch");
	rig.shown_host = "provider.test";
	rig.asked = false;
	push(PATH, good, sizeof(good) - 1, 64);
	refused("not approved", "request-mismatch");
	rig.refs = SPAN("");
	push(PATH, good, sizeof(good) - 1, 64);
	refused("nothing said", "request-mismatch");
	rig.asked = true;
	push("/else/repo.git/git-receive-pack", good, sizeof(good) - 1, 64);
	refused("another repository", "request-mismatch");
}

static void
test_empty(void)
{
	rig.asked = false;
	digest("0000", 4);
	push(PATH, "0000", 4, 4);
	/* The provider may have seen heads of pushes that were refused. */
	do {
		look(&server, true);
	} while (seen.len != 0 && seen.body == 0);
	ok(seen.body == 4, "an empty list needs nobody");
	push(PATH, "0001", 4, 4);
	refused("what is none", "stream-mismatch");
}

static void
run(const struct server_ca *ca)
{
	struct rig_upstream u = {.host = "provider.test",
	    .prefix = "",
	    .tls = true,
	    .reuse = true,
	    .roots = pem,
	    .port = server.port};

	rig.provider = git;
	rig_start(&rig, program, &u, RIG_KEY);
	is_int(rig.length, strlen(RIG_KEY), "the length told is the token's");
	test_approved();
	test_refused();
	test_empty();
	rig_stop(&rig);
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
