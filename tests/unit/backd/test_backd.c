/* SPDX-License-Identifier: ISC */
/*
 * mcp-backd between one MCP server and its peers: the real modules, with the
 * server, mcp-proxyd, policyd and auditd played here, in one loop.
 */
#include "mcp-proxyd/backd/backd.h"
#include "tap.h"
#include "unit/backd/rig.h"
#include "unit/backd/rows.h"

#include <sys/socket.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void
put_bytes(const char *text, size_t len)
{
	while (len != 0) {
		size_t n = len < 4096 ? len : 4096;

		if (write(server_out, text, n) != (ssize_t)n)
			err(1, "write");
		text += n;
		len -= n;
		turns();
	}
}

/* Returns the messages to peers after the server wrote `text`. */
static const char *
says(const char *text)
{
	static char copy[sizeof(seen)];

	put_bytes(text, strlen(text));
	memcpy(copy, seen, sizeof(seen));
	seen[0] = '\0';
	return copy;
}

static void
is_gone(const char *got, const char *why, const char *name)
{
	char want[1024];

	snprintf(want, sizeof(want),
	    "GONE to policyd: %s\nGONE to auditd: %s\n", why, why);
	is_str(got, want, "%s", name);
}

static void
test_ends(void)
{
	char *line = malloc(PROTO_MAX_LINE + 4096);

	for (size_t i = 0; i < nitems(ends); i++) {
		set_up();
		is_gone(says(ends[i].text), ends[i].want, ends[i].want);
		tear_down();
	}
	set_up();
	memset(line, 'x', PROTO_MAX_LINE + 4096);
	memcpy(line, "{\"result\":{\"id\":8,\"a\":\"", 23);
	put_bytes(line, PROTO_MAX_LINE);
	is_str(says(""), "", "a line that may still end");
	put_bytes("x", 1);
	is_str(says("x\"}," V ",\"id\":7}\n"),
	    "RESULT 7 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: it is longer than 4194304 bytes; ask for a smaller "
	    "part\"}\nDONE 7 1\n",
	    "one that is too long fails its call, whose id comes last");
	is_str(says("{" V ",\"id\":6,\"result\":{}}\n"),
	    "RESULT 6 0 {}\nDONE 6 0\n", "and the server goes on");
	line[22] = 'x';
	put_bytes(line, PROTO_MAX_LINE + 1);
	is_str(says("\n{" V ",\"id\":6,\"result\":{}}\n"),
	    "RESULT 6 0 {}\nDONE 6 0\n", "one that is no message is dropped");
	tear_down();
	free(line);

	set_up();
	close(server_out);
	server_out = -1;
	turns();
	is_gone(seen, "closed its output", "the end of its output");
	tear_down();
	set_up();
	put_bytes("{", 1);
	close(server_out);
	server_out = -1;
	turns();
	is_gone(seen, "closed its output within a line", "within a line");
	tear_down();
}

/* A result that is JSON but exceeds a limit fails only its own call. */
static void
test_limits(void)
{
	static const char head[] = "{" V ",\"id\":5,\"result\":{\"a\":[0";
	size_t n = 110000, len = sizeof(head) - 1;
	char *line = malloc(2 * n + 256), *at;
	char want[256];

	set_up();
	memcpy(line, head, len);
	for (size_t i = 0; i < n; i++)
		memcpy(line + len + 2 * i, ",0", 2);
	memcpy(line + len + 2 * n, "]}}\n", 5);
	at = line + len;
	is_int((long long)strlen(at), 2 * (long long)n + 4, "a long array");
	snprintf(want, sizeof(want),
	    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server's answer "
	    "was refused: Parse error: more values, members or bytes than are "
	    "taken at byte %zu\"}\nDONE 5 1\n",
	    len + 2 * (VALUE_MAX_NODES - 6) + 1);
	is_str(says(line), want, "costs its own call");
	is_str(says("{" V ",\"id\":6,\"result\":{}}\n"),
	    "RESULT 6 0 {}\nDONE 6 0\n", "and the next one works");
	free(line);
	tear_down();
}

/* Write many lines at a time, because they are limited by time. */
static void
put_many(const char *line, unsigned n)
{
	static char text[16384];
	size_t len = strlen(line), at = 0;

	for (unsigned i = 0; i < n && at + len <= sizeof(text); i++) {
		memcpy(text + at, line, len);
		at += len;
	}
	put_bytes(text, at);
}

/* Everything that a server can repeat without end. */
static void
test_floods(void)
{
	static const char changed[] =
	    "{" V ",\"method\":\"notifications/tools/list_changed\"}\n";
	static const char asks[] = "{" V ",\"id\":1,\"method\":\"ping\"}\n";
	unsigned n = 0;
	const char *s;

	set_up();
	put_many(changed, 50);
	for (s = says(""); (s = strstr(s, "CHANGED")) != NULL; s++)
		n++;
	ok(n >= 4 && n <= 6, "50 list_changed become few (%u)", n);
	ok(b->relist.at != 0, "and one more later");
	put_many(asks, 200);
	for (n = 0, s = says(""); (s = strstr(s, "ASKS")) != NULL; s++)
		n++;
	ok(n >= 64 && n <= 80, "200 requests become few (%u)", n);
	tear_down();
}

/*
 * Write lines of `len` bytes as long as they are read.  Returns their number.
 */
static unsigned
put_until_stuck(const char *line, size_t len)
{
	unsigned stuck = 0, sent = 0;
	size_t at = 0;
	ssize_t n;

	if (fcntl(server_out, F_SETFL, O_NONBLOCK) == -1)
		err(1, "fcntl");
	while (stuck < 3) {
		n = write(server_out, line + at, len - at);
		stuck = n == -1 ? stuck + 1 : 0;
		at += n == -1 ? 0 : (size_t)n;
		if (at == len) {
			at = 0;
			sent++;
		}
		turns();
	}
	return sent;
}

/*
 * A peer that reads nothing stops the reading of the server, and nothing else.
 */
static void
test_back_pressure(const char *head, size_t size, const char *what)
{
	size_t len = strlen(head);
	char *line = malloc(len + size + 8);
	unsigned results = 0, sent;
	const char *s;

	deaf = true;
	set_up();
	deaf = false;
	memcpy(line, head, len);
	memset(line + len, 'z', size);
	memcpy(line + len + size, "\"}}\n", 5);
	sent = put_until_stuck(line, len + size + 4);
	is_int(b->io[0].fd, -1, "%s: the server is not read", what);
	ok(chan_queued(b->w.peers[ROLE_PROXY][0]) < 17U << 20,
	    "with 16 MiB waiting for mcp-proxyd at most");
	is_str(closed_why, "", "no channel has broken");
	if (chan_open(ours[0]) == -1)
		err(1, "chan_open");
	for (int i = 0; i < 100000 && results < sent; i++) {
		if (loop_once(&b->w.loop, 20) == -1)
			err(1, "epoll_wait");
		for (s = seen; (s = strstr(s, "RESULT")) != NULL; s++)
			results++;
		seen[0] = '\0';
	}
	is_int(results, sent, "all of it arrives");
	free(line);
	tear_down();
}

/* Unrequested answers make the server wait. */
static void
test_unasked(void)
{
	const struct msg_UNASKED few = {.count = 200}, many = {.count = 5000};

	set_up();
	if (chan_send(ours[2], MSG_UNASKED, &few, -1) == -1)
		err(1, "chan_send");
	turns();
	is_str(says("{" V ",\"id\":6,\"result\":{}}\n"),
	    "RESULT 6 0 {}\nDONE 6 0\n", "200 answers to nothing pass");
	if (chan_send(ours[2], MSG_UNASKED, &many, -1) == -1)
		err(1, "chan_send");
	turns();
	is_str(says("{" V ",\"id\":7,\"result\":{}}\n"), "",
	    "after 5000 more the server is not read");
	while (b->pause.at != 0)
		if (loop_once(&b->w.loop, 2000) == -1)
			err(1, "epoll_wait");
	turns();
	is_str(seen, "RESULT 7 0 {}\nDONE 7 0\n", "for a second at most");
	tear_down();
}

/* Secrets on stderr are shown masked, and a private key line by line. */
static void
test_shown(void)
{
	static const uint8_t key[MASK_KEY] = "a key";
	static const char *const lines[] = {"token=abcdefgh12345", "a swordfish b",
	    "-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBg",
	    "-----END PRIVATE KEY-----", "plain"};
	static const char *const want[] = {"token=***", "a *** b",
	    "-----BEGIN PRIVATE KEY-----", "***", "-----END PRIVATE KEY-----",
	    "plain"};
	struct mask_known_row row;
	struct msg_KNOWN m = {.key = span_of(key, sizeof(key))};
	char text[100];

	set_up();
	is_str(backd_show_line(b, span_str(lines[0]), text, sizeof(text)),
	    lines[0], "not masked if it is switched off");
	b->mask = true;
	mask_known_row(key, SPAN("swordfish"), &row);
	m.len = row.len;
	m.print = row.print;
	m.digest = span_of(row.digest, sizeof(row.digest));
	ok(backd_on_known(b->w.peers[ROLE_POLICY][0], &m) == 0, "KNOWN");
	for (size_t i = 0; i < nitems(lines); i++)
		is_str(backd_show_line(
			   b, span_str(lines[i]), text, sizeof(text)),
		    want[i], "a line of stderr");
	mask_known_free(b->known);
	b->known = NULL;
	tear_down();
}

static void
test_stderr(void)
{
	char line[3000];

	set_up();
	memset(line, 'e', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 20; i++) {
		if (write(server_err, line, sizeof(line)) !=
		    (ssize_t)sizeof(line))
			err(1, "write");
		turns();
	}
	/*
	 * Write in one piece, so that the number of lines shown does not depend
	 * on time.
	 */
	for (size_t i = 1; i < sizeof(line); i += 2)
		line[i] = '\n';
	if (write(server_err, line, sizeof(line)) != (ssize_t)sizeof(line))
		err(1, "write");
	turns();
	ok(b->silenced > 50, "of many lines on stderr some are not shown");
	is_int((long long)b->err_len, 0, "none is left over");
	is_str(says("{" V ",\"id\":6,\"result\":{}}\n"),
	    "RESULT 6 0 {}\nDONE 6 0\n", "stdout goes on meanwhile");
	tear_down();
}

int
main(void)
{
	if ((pool = value_pool_new(32U << 20)) == NULL)
		err(1, "value_pool_new");
	set_up();
	for (size_t i = 0; i < nitems(rows); i++)
		is_str(says(rows[i].line), rows[i].want, "%.*s",
		    (int)strcspn(rows[i].line, "\r\n"), rows[i].line);
	tear_down();
	test_ends();
	test_limits();
	test_floods();
	test_back_pressure(
	    "{" V ",\"id\":5,\"result\":{\"a\":\"", 60000, "large answers");
	test_back_pressure(
	    "{" V ",\"id\":5,\"result\":{\"a\":\"", 0, "tiny answers");
	test_unasked();
	test_shown();
	test_stderr();
	is_str(closed_why, "", "no channel was broken");
	return tap_done();
}
