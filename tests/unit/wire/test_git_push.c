/* SPDX-License-Identifier: ISC */
/*
 * Command lists of pushes: those that git writes, cut at every byte, and those
 * that git never writes. The refs that are read are those that policyd shows.
 */
#include "mitmd/wire/git_push.h"
#include "policyd/approval/request_holds.h"
#include "tap.h"

#include <stdio.h>

#define A "1111111111111111111111111111111111111111"
#define B "2222222222222222222222222222222222222222"
#define Z "0000000000000000000000000000000000000000"
#define WORDS " report-status-v2 side-band-64k object-format=sha1 agent=git/2"

static struct buf body;
static struct git_push_list list;
static const char *why;

/* Append a pkt-line; `nul` follows a NUL. */
static void
line(const char *text, const char *nul)
{
	size_t n = strlen(text) + 4 + (nul != NULL ? strlen(nul) + 1 : 0);

	buf_printf(&body, "%04zx%s", n, text);
	if (nul == NULL)
		return;
	buf_addc(&body, 0);
	buf_adds(&body, nul);
}

static void
begin(void)
{
	buf_reset(&body, 0);
}

static enum git_push
result(bool whole)
{
	why = NULL;
	return git_push_read(buf_span(&body), whole, &list, &why);
}

static void
bad(const char *what)
{
	enum git_push r = result(true);

	ok(r == GIT_PUSH_BAD && why != NULL, "refused: %s (%s)", what,
	    why != NULL ? why : "taken");
}

static const char *
refs(void)
{
	static char text[PROTO_MAX_REFS + 1];

	(void)span_copy(buf_span(&list.refs), text, sizeof(text));
	return text;
}

static void
test_good(void)
{
	size_t list_len, all;
	unsigned wrong = 0;

	begin();
	line(A " " B " refs/heads/main", WORDS);
	line(Z " " B " refs/tags/v1.0\n", NULL);
	line(A " " Z " refs/heads/old-1_x", NULL);
	buf_adds(&body, "0000");
	list_len = body.len;
	buf_adds(&body, "PACKxxxx");
	all = body.len;
	is_int(result(true), GIT_PUSH_OK, "a list");
	is_str(refs(),
	    A " " B " refs/heads/main\n" Z " " B " refs/tags/v1.0\n" A
	      " " Z " refs/heads/old-1_x\n",
	    "its commands");
	ok(list.report && list.sideband, "and what the client wants");
	for (size_t n = 0; n < all; n++) {
		enum git_push r = git_push_read(
		    span_of(body.p + body.off, n), false, &list, &why);

		wrong += r != (n < list_len + 4 ? GIT_PUSH_MORE : GIT_PUSH_OK);
		r = git_push_read(
		    span_of(body.p + body.off, n), true, &list, &why);
		wrong += r != (n < list_len + 4 ? GIT_PUSH_BAD : GIT_PUSH_OK);
	}
	is_int(wrong, 0, "cut at every byte");
	begin();
	line(A " " Z " refs/heads/gone", " report-status");
	buf_adds(&body, "0000");
	is_int(result(true), GIT_PUSH_OK, "a deletion has no pack");
	is_int(result(false), GIT_PUSH_MORE, "and nothing behind it");
	ok(list.report && !list.sideband, "report without other messages");
	begin();
	line("shallow " A, NULL);
	line("shallow " B "\n", NULL);
	line(A " " B " refs/heads/main", "");
	buf_adds(&body, "0000PACK");
	is_int(result(true), GIT_PUSH_OK, "from a shallow clone");
	ok(!list.report, "no report wanted");
	begin();
	line(A "111111111111111111111111 " B "222222222222222222222222 "
	       "refs/heads/main",
	    " object-format=sha256");
	buf_adds(&body, "0000PACK");
	is_int(result(true), GIT_PUSH_OK, "SHA-256");
}

/* Test a list with this one command. */
static void
one(const char *command, const char *words, const char *what)
{
	begin();
	line(command, words);
	buf_adds(&body, "0000PACK");
	bad(what);
}

static void
test_bad(void)
{
	static const char *const names[] = {"main", "HEAD", "refs", "refs/",
	    "refs//x", "refs/x/", "refs/.x", "refs/x.", "refs/x.lock",
	    "refs/x.lock/y", "refs/a..b", "refs/a@{b", "refs/a b", "refs/a~b",
	    "refs/a^b", "refs/a:b", "refs/a?b", "refs/a*b", "refs/a[b",
	    "refs/a\\b", "refs/\x7f", "refs/\xc3\xa4", "refs/a\tb",
	    "refs/\x1b[2J", "../refs/x"};
	char text[512];

	for (size_t i = 0; i < nitems(names); i++) {
		snprintf(text, sizeof(text), A " " B " %s", names[i]);
		one(text, "", names[i][0] == '.' || names[i][0] == 'r'
				  ? "a name git does not take"
				  : names[i]);
	}
	one(A " " B " refs/x", " push-options", "push options");
	one(A " " B " refs/x", " atomic unheard-of", "an unknown extension");
	one("push-cert", " report-status", "a signed push");
	one(A " " B, "", "no name");
	one(A " " B " ", "", "an empty name");
	one(A "  " B " refs/x", "", "two spaces");
	one(A "1 " B "2 refs/x", "", "41 digits");
	one(A "111111111111111111111111 " B " refs/x", "", "two lengths");
	one("A" A " " B " refs/x", "", "no digit");
	one(Z " " Z " refs/x", "", "nothing to nothing");
	one("", "", "an empty command");
	begin();
	buf_adds(&body, "0000");
	bad("no command");
	begin();
	bad("nothing");
	begin();
	buf_adds(&body, "PACK");
	bad("a pack alone");
	begin();
	line(A " " B " refs/x", "");
	buf_adds(&body, "0000");
	bad("no pack");
	begin();
	line(A " " B " refs/x", "");
	buf_adds(&body, "0000JUNK");
	bad("no pack but something else");
	begin();
	line(A " " Z " refs/x", "");
	buf_adds(&body, "0000PACK");
	bad("a pack that nothing needs");
	begin();
	line(A " " B " refs/x", "");
	line(A " " B " refs/y", " side-band-64k");
	buf_adds(&body, "0000PACK");
	bad("a NUL in the second command");
	begin();
	line(A " " B " refs/x", "");
	line("shallow " A, NULL);
	buf_adds(&body, "0000PACK");
	bad("shallow behind a command");
	begin();
	line("shallow " A " x", NULL);
	line(A " " B " refs/x", "");
	buf_adds(&body, "0000PACK");
	bad("shallow with more");
	for (unsigned n = 1; n <= 4; n++) {
		begin();
		line(A " " B " refs/x", "");
		buf_printf(&body, "%04x0000PACK", n);
		bad("a line shorter than its length");
	}
	begin();
	buf_adds(&body, "006G" A " " B " refs/x0000PACK");
	bad("a length of no hexadecimal digits");
	begin();
	buf_adds(&body, "ffff");
	bad("a line beyond the end");
}

static void
test_limits(void)
{
	char text[512];

	for (unsigned n = GIT_PUSH_MAX_REFS; n <= GIT_PUSH_MAX_REFS + 1; n++) {
		begin();
		for (unsigned i = 0; i < n; i++) {
			snprintf(text, sizeof(text), A " " B " refs/heads/%u",
			    i);
			line(text, i == 0 ? " report-status" : NULL);
		}
		buf_adds(&body, "0000PACK");
		is_int(result(true),
		    n == GIT_PUSH_MAX_REFS ? GIT_PUSH_OK : GIT_PUSH_BAD,
		    "%u refs", n);
	}
	for (unsigned n = GIT_PUSH_MAX_NAME; n <= GIT_PUSH_MAX_NAME + 1; n++) {
		snprintf(text, sizeof(text), A " " B " refs/%0*u",
		    (int)n - 5, 1);
		begin();
		line(text, "");
		buf_adds(&body, "0000PACK");
		is_int(result(true),
		    n == GIT_PUSH_MAX_NAME ? GIT_PUSH_OK : GIT_PUSH_BAD,
		    "a name of %u bytes", n);
	}
	begin();
	for (unsigned i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), A " " B " refs/%0200u", i);
		line(text, i == 0 ? "" : NULL);
	}
	buf_adds(&body, "0000PACK");
	bad("more text of refs than is shown");
	begin();
	for (unsigned i = 0; i <= GIT_PUSH_MAX_SHALLOW; i++)
		line("shallow " A, NULL);
	line(A " " B " refs/x", "");
	buf_adds(&body, "0000PACK");
	bad("more shallow places than are looked at");
	begin();
	buf_adds(&body, "fff0");
	for (unsigned i = 0; i < GIT_PUSH_MAX_LIST + 100; i++)
		buf_addc(&body, 'x');
	is_int(result(false), GIT_PUSH_BAD, "a list without end");
}

/* policyd parses the same text with its own code. */
static void
test_shown(void)
{
	static uint8_t sum[32];
	struct msg_REQUEST_ASK m = {.stream = 1,
	    .exchange = 1,
	    .path = SPAN("/o/r/git-receive-pack"),
	    .body = span_of(sum, 32),
	    .id = 1,
	    .name = SPAN("n"),
	    .host_name = SPAN("h"),
	    .method = SPAN("POST")};
	struct buf json;
	int r;

	begin();
	line(A " " B " refs/heads/a\"b'<>&", WORDS);
	line(Z " " B " refs/x", NULL);
	buf_adds(&body, "0000PACK");
	is_int(result(true), GIT_PUSH_OK, "an odd name");
	m.refs = buf_span(&list.refs);
	ok(ask_check(&m) == NULL, "is taken by policyd");
	buf_init(&json, 65536);
	r = ask_preview(&m, &json);
	buf_addc(&json, 0);
	ok(r == 0 && !json.failed &&
		strstr((char *)json.p,
		    "\"name\":\"refs/heads/a\\\"b'<>&\"") != NULL,
	    "and shown");
	buf_free(&json);
}

static void
test_report(void)
{
	struct buf out;

	begin();
	line(A " " B " refs/heads/main", WORDS);
	line(Z " " B " refs/tags/x", NULL);
	buf_adds(&body, "0000PACK");
	(void)result(true);
	buf_init(&out, 65536);
	is_int(git_push_report(&out, &list, "denied", "no"), 0, "a report");
	is_mem(out.p, out.len,
	    "0008\2no\n"
	    "0069\1" "000eunpack ok\n"
	    "002bng refs/heads/main IronCurtain: denied\n"
	    "0027ng refs/tags/x IronCurtain: denied\n"
	    "0000"
	    "0000",
	    8 + 0x69 + 4, "as git reads it");
	list.sideband = false;
	buf_reset(&out, 0);
	is_int(git_push_report(&out, &list, "denied", "no"), 0, "or plain");
	ok(out.len > 4 && memcmp(out.p, "000eunpack ok\n", 14) == 0,
	    "without bands");
	list.report = false;
	is_int(git_push_report(&out, &list, "denied", "no"), -1,
	    "not to who does not read one");
	buf_free(&out);
}

/* A list that is refused is read to its end, for the report. */
static void
test_many(void)
{
	char text[128];
	struct buf out;

	begin();
	for (unsigned i = 0; i < GIT_PUSH_MAX_REFS + 3; i++) {
		snprintf(text, sizeof(text), Z " " B " refs/heads/b%u", i);
		line(text, i == 0 ? WORDS : NULL);
	}
	buf_adds(&body, "0000PACK");
	is_int(result(true), GIT_PUSH_BAD, "67 refs");
	is_str(why, "67 refs at once; at most 64", "... says how many");
	buf_init(&out, 65536);
	is_int(git_push_report(&out, &list, "push", why), 0, "... a report");
	ok(memmem(out.p + out.off, out.len, "ng refs/heads/b66 ", 18) != NULL,
	    "... with each of them");
	buf_free(&out);
}

int
main(void)
{
	buf_init(&body, 1 << 20);
	buf_init(&list.refs, PROTO_MAX_REFS);
	test_good();
	test_many();
	test_bad();
	test_limits();
	test_shown();
	test_report();
	buf_free(&body);
	buf_free(&list.refs);
	return tap_done();
}
