/* SPDX-License-Identifier: ISC */
/*
 * mitmd on the side of keyd and auditd: a compromised keyd, streams cut at any
 * byte, ends from every side, refusals, and sides that stop reading.
 */
#include <stdio.h>
#include <unistd.h>

#include "tap.h"
#include "tls_end.h"
#include "unit/mitmd/keyd_rows.h"
#include "unit/mitmd/rig.h"

/* Every kind of misbehaviour of a compromised keyd. */
static void
test_keyd(void)
{
	unsigned n, opens;
	SSL *s;

	for (size_t i = 0; i < nitems(keyd_rows); i++) {
		const struct keyd_row *row = &keyd_rows[i];

		n = rig.req.count;
		s = rig_tls(RIG_HOST, NULL);
		SAY(s, POST "content-length: 0\r\n\r\n");
		if (!ok(rig_requested(n + 1), "keyd: %s", row->name))
			break;
		if (write(rig.stream, row->bytes, row->len) !=
		    (ssize_t)row->len)
			ok(false, "write");
		ok(strstr(rig_read(s, "}}\n"), "HTTP/1.1 502 ") != NULL,
		    "... is 502");
		rig_close(s);
	}
	n = rig.req.count;
	opens = rig.opens;
	s = rig_tls(RIG_HOST, NULL);
	for (unsigned i = 1; i <= 2; i++) {
		SAY(s, POST "content-length: 0\r\n\r\n");
		ok(rig_requested(n + i), "request %u", i);
		rig_head(200, 1, 0);
		rig_frame(STREAM_END, NULL, 0);
		rig_read(s, "\r\n\r\n");
		rig_frame(STREAM_BODY, "x", 1);
		while (rig.alarms < i && rig_alive())
			rig_turn(20);
	}
	ok(rig.opens == opens + 2, "bytes outside of an exchange: an alarm, and "
	    "a new stream for the next request");
	rig_close(s);
}

/* The framing on one side is independent of that on the other. */
static void
test_bytes(void)
{
	static const char request[] = POST "content-length: 2\r\n\r\n{}";
	unsigned n = rig.req.count;
	uint8_t frames[256], got[2];
	struct stream_frame f = {1, STREAM_HEAD, 11};
	size_t len = 0;
	const char *text;
	SSL *s = rig_tls(RIG_HOST, NULL);

	for (size_t i = 0; i < sizeof(request) - 1; i++) {
		rig_write(s, request + i, 1);
		rig_turn(0);
	}
	ok(rig_requested(n + 1) && rig_body(got, 2) == 2,
	    "a request byte by byte");
	stream_pack(frames, &f);
	memcpy(frames + 8, "\310\0\2\0\0\0\0\0\0\0\0", 11);
	len = 8 + 11;
	f = (struct stream_frame){1, STREAM_BODY, 2};
	stream_pack(frames + len, &f);
	memcpy(frames + len + 8, "ok", 2);
	len += 8 + 2;
	f = (struct stream_frame){1, STREAM_END, 0};
	stream_pack(frames + len, &f);
	len += 8;
	for (size_t i = 0; i < len; i++) {
		if (write(rig.stream, frames + i, 1) != 1)
			break;
		rig_turn(0);
		rig_turn(1);
	}
	/* On a busy machine both bytes may arrive at once. */
	text = rig_read(s, "0\r\n\r\n");
	ok(strstr(text, "transfer-encoding: chunked\r\n"
	    "\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n") != NULL ||
	    strstr(text, "transfer-encoding: chunked\r\n"
	    "\r\n2\r\nok\r\n0\r\n\r\n") != NULL,
	    "an answer byte by byte");
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 2) && rig.req.exchange == 2, "on the same stream");
	rig_close(s);
}

static void
test_ends(void)
{
	unsigned n = rig.req.count;
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	uint8_t byte;
	ssize_t k = -1;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "an agent that leaves");
	rig_close(s);
	while (k != 0 && clock_mono_us() < end) {
		rig_turn(20);
		k = read(rig.stream, &byte, 1);
	}
	is_int(k, 0, "closes the stream, so that keyd ends the exchange");
	s = rig_tls(RIG_HOST, NULL);
	SAY(s, POST "content-length: 9\r\n\r\n{}");
	ok(rig_requested(n + 2), "an answer before the whole request");
	rig_head(429, 1, 4);
	rig_frame(STREAM_BODY, "wait", 4);
	rig_frame(STREAM_END, NULL, 0);
	ok(strstr(rig_read(s, "wait"), "connection: close\r\n\r\nwait") !=
	    NULL, "is the last one");
	rig_read(s, "(none)");
	ok(rig_closed, "and the connection ends");
	rig_close(s);
	s = rig_tls(RIG_HOST, NULL);
	SAY(s, POST "connection: close\r\ncontent-length: 0\r\n\r\n");
	ok(rig_requested(n + 3), "an agent that wants to close");
	rig_head(200, 1, 0);
	rig_frame(STREAM_END, NULL, 0);
	rig_read(s, "(none)");
	ok(rig_closed, "is closed");
	rig_close(s);
}

/*
 * An agent whose request and whose end come at once, and nothing after them:
 * its connection, with the exchange, ends without another event.
 */
static void
test_leaves(void)
{
	static const char *const requests[] = {POST "content-length: 0\r\n\r\n",
	    POST "content-length: 2\r\n\r\n{}",
	    POST "content-length: 9\r\n\r\n{}", POST, ""};
	uint64_t end_at;
	uint8_t bytes[4096];
	ssize_t n;
	SSL *s;

	for (size_t i = 0; i < nitems(requests); i++) {
		for (unsigned end = 0; end < TLS_ENDS; end++) {
			s = rig_tls(RIG_HOST, NULL);
			is_int(tls_end_write(s, requests[i],
				   strlen(requests[i]), (enum tls_end)end),
			    0, "request %zu and %s at once", i,
			    tls_end_names[end]);
			end_at = clock_mono_us() + RIG_WAIT_MS * 1000;
			do {
				rig_turn(5);
				n = read(SSL_get_fd(s), bytes, sizeof(bytes));
			} while (n != 0 && clock_mono_us() < end_at);
			is_int(n, 0, "the connection ends");
			rig_close(s);
		}
	}
}

static void
test_refused(void)
{
	struct msg_REFUSED m = {.reason = PROTO_REFUSED_AUDIT};
	unsigned n = rig.req.count;
	const char *text;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "content-length: 2\r\n\r\n{}");
	ok(rig_requested(n + 1), "a request that auditd refuses");
	m.stream = rig.req.stream;
	m.exchange = rig.req.exchange + 1;
	chan_send(rig.audit, MSG_REFUSED, &m, -1);
	m.exchange = rig.req.exchange;
	chan_send(rig.audit, MSG_REFUSED, &m, -1);
	text = rig_read(s, "}}\n");
	ok(strstr(text, "HTTP/1.1 503 ") != NULL && strstr(text, "audit") !=
	    NULL, "is 503 and says why");
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 2) && rig.req.stream != m.stream,
	    "the connection goes on with another stream");
	rig_close(s);
}

#define LARGE 1000000U
/* more than an agent's socket and mitmd's queue hold */
#define ANSWER 8000000U
#define ANSWER_FRAMES (ANSWER / 50000U)

static uint8_t large[LARGE + 1024], raw[2 * LARGE];

/* Write what TLS takes now. Returns true if it took anything. */
static bool
say_some(SSL *s, size_t *done, size_t end)
{
	size_t n;

	if (*done == end || SSL_write_ex(s, large + *done, end - *done, &n) != 1)
		return false;
	*done += n;
	return true;
}

static size_t
join_frames(uint8_t *p, size_t len)
{
	struct stream_frame f;
	size_t at = 0, out = 0;

	while (len - at >= STREAM_HEADER && stream_unpack(p + at, &f) == 0 &&
	    f.len <= len - at - STREAM_HEADER) {
		memmove(p + out, p + at + STREAM_HEADER, f.len);
		at += STREAM_HEADER + f.len;
		out += f.len;
	}
	return out;
}

static void
test_large_request(void)
{
	unsigned n = rig.req.count;
	size_t head, done = 0, got = 0;
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	ssize_t k;
	SSL *s = rig_tls(RIG_HOST, NULL);

	head = (size_t)snprintf((char *)large, sizeof(large),
	    "%scontent-length: %u\r\n\r\n", POST, LARGE);
	for (size_t i = 0; i < LARGE; i++)
		large[head + i] = (uint8_t)(i * 7 + i / 256);
	SSL_set_mode(s, SSL_MODE_ENABLE_PARTIAL_WRITE);
	for (int idle = 0; idle < 20; idle++) {
		if (say_some(s, &done, head + LARGE))
			idle = 0;
		else
			rig_turn(5);
	}
	ok(rig_requested(n + 1), "a large request");
	ok(done < head + LARGE, "keyd takes nothing: the agent is not read on");
	while (got < sizeof(raw) && clock_mono_us() < end) {
		say_some(s, &done, head + LARGE);
		k = read(rig.stream, raw + got, sizeof(raw) - got);
		if (k > 0)
			got += (size_t)k;
		else
			rig_turn(1);
		if (got >= LARGE + (LARGE / STREAM_MAX_FRAME) * STREAM_HEADER &&
		    done == head + LARGE && k <= 0)
			break;
	}
	got = join_frames(raw, got);
	ok(got == LARGE && memcmp(raw, large + head, LARGE) == 0,
	    "all of it comes, in order (%zu)", got);
	rig_close(s);
}

static void
test_large_answer(void)
{
	struct stream_frame f = {1, STREAM_BODY, 50000};
	unsigned n = rig.req.count;
	uint64_t end = clock_mono_us() + RIG_WAIT_MS * 1000;
	size_t sent = 0, all = ANSWER_FRAMES * 50008, got = 0, len;
	const size_t head = strlen("HTTP/1.1 200 OK\r\ncontent-type: "
	    "text/event-stream\r\ncontent-length: 8000000\r\n\r\n");
	static uint8_t frames[ANSWER_FRAMES * 50008];
	uint8_t *p = frames;
	ssize_t k;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "a request with a large answer");
	rig_head(200, 1, ANSWER);
	for (unsigned i = 0; i < ANSWER_FRAMES; i++, p += STREAM_HEADER + f.len) {
		stream_pack(p, &f);
		memset(p + STREAM_HEADER, (int)('a' + i % 26), f.len);
	}
	for (int idle = 0; idle < 20; idle++) {
		k = write(rig.stream, frames + sent, all - sent);
		if (k > 0) {
			sent += (size_t)k;
			idle = 0;
		} else {
			rig_turn(5);
		}
	}
	ok(sent < all, "the agent reads nothing: keyd is not read on");
	while (got < ANSWER + head && clock_mono_us() < end) {
		k = sent < all ? write(rig.stream, frames + sent, all - sent) : 0;
		if (k > 0)
			sent += (size_t)k;
		if (SSL_read_ex(s, large, sizeof(large), &len) == 1)
			got += len;
		else
			rig_turn(1);
	}
	is_int(got, ANSWER + head, "all of it comes");
	rig_frame(STREAM_END, NULL, 0);
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 2), "and the connection goes on");
	rig_close(s);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	rig_start(argv[1]);
	test_keyd();
	test_bytes();
	test_ends();
	test_leaves();
	test_refused();
	test_large_request();
	test_large_answer();
	ok(rig_alive(), "mitmd survived it all%s%s",
	    rig.why[0] != '\0' ? ": " : "", rig.why);
	rig_stop();
	return tap_done();
}
