/* SPDX-License-Identifier: ISC */
/*
 * mitmd and the arena that it shares with keyd: bodies in both directions, an
 * agent that stops reading, and a compromised keyd.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "unit/mitmd/rig.h"

#define LARGE 1000000U

static uint8_t body[LARGE], got[LARGE];

static void
fill(void)
{
	for (size_t i = 0; i < LARGE; i++)
		body[i] = (uint8_t)(i * 7 + i / 256);
}

static void
test_request(void)
{
	static const unsigned lengths[] = {100, 8191, 8192, 200000, 600000};
	char head[512];
	unsigned n, pieces;
	SSL *s = rig_tls(RIG_HOST, NULL);

	for (size_t i = 0; i < nitems(lengths); i++) {
		n = rig.req.count;
		pieces = rig.pieces;
		snprintf(head, sizeof(head), "%scontent-length: %u\r\n\r\n",
		    POST, lengths[i]);
		rig_write(s, head, strlen(head));
		rig_write(s, (const char *)body, lengths[i]);
		ok(rig_requested(n + 1) &&
		    rig_body(got, lengths[i]) == lengths[i] &&
		    memcmp(got, body, lengths[i]) == 0,
		    "a request of %u bytes", lengths[i]);
		ok((rig.pieces != pieces) == (lengths[i] >= ARENA_LEAST),
		    "%u of its pieces in slots", rig.pieces - pieces);
		rig_head(200, 1, 0);
		rig_frame(STREAM_END, NULL, 0);
		rig_read(s, "\r\n\r\n");
	}
	rig_close(s);
}

/* Read `want` bytes of an answer after its head. Returns the number. */
static size_t
answer_read(SSL *s, uint8_t *dst, size_t want)
{
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t len = 0, n;

	while (len < want && clock_mono_us() < end) {
		if (SSL_read_ex(s, dst + len, want - len, &n) == 1)
			len += n;
		else
			rig_turn(1);
	}
	return len;
}

/* Metered and not. */
static void
test_answer(void)
{
	static const char *const types[] = {"application/json", "image/png"};
	unsigned n, pieces = rig.pieces;
	size_t done, len = 0;
	SSL *s = rig_tls(RIG_HOST, NULL);

	for (size_t i = 0; i < nitems(types); i++) {
		n = rig.req.count;
		SAY(s, POST "content-length: 0\r\n\r\n");
		ok(rig_requested(n + 1), "an answer of %s", types[i]);
		rig_head_of(types[i], 200, 1, LARGE);
		rig_read(s, "\r\n\r\n");
		for (done = 0; done < LARGE; done += len) {
			len = 1 + done * 13 % 50000;
			len = len < LARGE - done ? len : LARGE - done;
			rig_frame(STREAM_BODY, body + done, len);
			if (answer_read(s, got, len) != len ||
			    memcmp(got, body + done, len) != 0)
				break;
		}
		ok(done == LARGE, "all of it comes");
		rig_frame(STREAM_END, NULL, 0);
	}
	ok(rig.pieces > pieces + 20, "%u pieces in slots", rig.pieces - pieces);
	rig_close(s);
}

static void
test_chunked(void)
{
	static char text[30000];
	unsigned n = rig.req.count, count = 0;
	SSL *s = rig_tls(RIG_HOST, NULL);
	const char *p;

	memset(text, '~', sizeof(text));
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "a chunked answer");
	rig_head(200, 2, 0);
	for (unsigned i = 0; i < 5; i++)
		rig_frame(STREAM_BODY, text, sizeof(text));
	rig_frame(STREAM_END, NULL, 0);
	for (p = rig_read(s, "\r\n0\r\n\r\n"); *p != '\0'; p++)
		count += *p == '~';
	is_int(count, 5 * sizeof(text), "all of it comes, and its end");
	rig_close(s);
}

/* Send the head of an answer, and a frame of these bytes. */
static void
lie(SSL *s, const char *name, const struct arena_piece *p, unsigned times)
{
	uint8_t frames[8 * (STREAM_HEADER + STREAM_AT_LEN)];
	unsigned n = rig.req.count;
	size_t len = 0;

	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "keyd: %s", name);
	rig_head_of("image/png", 200, 1, LARGE);
	rig_read(s, "\r\n\r\n");
	for (unsigned i = 0; i < times; i++) {
		stream_at_pack(frames + len, rig.req.exchange, p);
		len += STREAM_HEADER + STREAM_AT_LEN;
	}
	if (write(rig.stream, frames, len) != (ssize_t)len)
		ok(false, "write");
	rig_closed = false;
	rig_read(s, "no such text");
	ok(rig_closed, "... cuts the answer");
	rig_close(s);
}

static void
test_lies(void)
{
	struct arena *a = chan_arena(rig.key);
	struct arena_piece p, bad;
	uint8_t *at;
	SSL *s;

	if ((at = arena_take(a, 1, &p)) == NULL) {
		ok(false, "no slot");
		return;
	}
	memset(at, 'k', ARENA_SLOT);
	p.len = 1000;
	bad = p;
	bad.slot = ARENA_SLOTS;
	lie(rig_tls(RIG_HOST, NULL), "a slot that is not there", &bad, 1);
	bad.slot = UINT32_MAX;
	lie(rig_tls(RIG_HOST, NULL), "another", &bad, 1);
	bad = p;
	bad.len = 0;
	lie(rig_tls(RIG_HOST, NULL), "a piece of no length", &bad, 1);
	bad.len = ARENA_SLOT + 1;
	lie(rig_tls(RIG_HOST, NULL), "a piece longer than a slot", &bad, 1);
	bad = p;
	bad.round++;
	lie(rig_tls(RIG_HOST, NULL), "a slot that was taken back", &bad, 1);
	lie(rig_tls(RIG_HOST, NULL), "more pieces at once than it has slots",
	    &p, ARENA_STREAM + 1);
	s = rig_tls(RIG_HOST, NULL);
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(rig.req.count), "keyd: a piece before HEAD");
	rig_frame(STREAM_BODY, "x", 1);
	ok(strstr(rig_read(s, "}}\n"), "HTTP/1.1 502 ") != NULL, "... is 502");
	rig_close(s);
	arena_done(chan_arena(rig.key), &p);
}

/*
 * An agent that leaves before it has read what is in slots, again and again:
 * others are served.
 */
static void
test_leaves(void)
{
	unsigned n;
	SSL *s;

	for (unsigned i = 0; i < ARENA_SLOTS; i++) {
		n = rig.req.count;
		s = rig_tls(RIG_HOST, NULL);
		SAY(s, POST "content-length: 50000\r\n\r\n");
		rig_write(s, (const char *)body, 50000);
		if (!rig_requested(n + 1))
			break;
		rig_close(s);
		rig_turn(1);
	}
	test_request();
}

int
main(int argc, char **argv)
{
	if (argc != 2 || setenv(RIG_ARENA, "1", 1) == -1)
		return 2;
	fill();
	rig_start(argv[1]);
	test_request();
	test_answer();
	test_chunked();
	test_lies();
	test_leaves();
	ok(rig_alive(), "mitmd survived it all%s%s",
	    rig.why[0] != '\0' ? ": " : "", rig.why);
	rig_stop();
	return tap_done();
}
