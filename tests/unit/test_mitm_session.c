/* SPDX-License-Identifier: ISC */
/*
 * mitmd as a whole: the real program under its real confinement, an agent
 * that speaks to it over its socket, and this test as all its other peers.
 * Rows are those of security.md 1.5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "confine.h"
#include "mitm_rig.h"
#include "mitm_rows.h"
#include "provider.h"
#include "tap.h"

#define KEY "x-api-key: " RIG_KEY "\r\n"
#define HOST "host: " RIG_HOST "\r\n"
#define JSON "content-type: application/json\r\n"
#define POST "POST /v1/messages?beta=true HTTP/1.1\r\n" HOST KEY JSON

#define SAY(ssl, text) rig_write((ssl), (text), sizeof(text) - 1)

static bool
alive(void)
{
	rig_turn(0);
	return !rig.ended;
}

static void
test_connect(void)
{
	const char *text;
	char request[600];
	int fd;

	for (size_t i = 0; i < sizeof(connect_rows) / sizeof(*connect_rows);
	     i++) {
		const struct connect_row *row = &connect_rows[i];

		fd = rig_dial();
		snprintf(request, sizeof(request), "%s", row->text);
		rig_send(fd, request);
		/* Refused, told, and closed by us after what it read. */
		text = rig_read_until(fd, "\n(none)");
		ok(strncmp(text, "HTTP/1.1 ", 9) == 0 &&
		    atoi(text + 9) == row->status, "CONNECT %s is %d",
		    row->name, row->status);
		ok(strstr(text, "evil") == NULL && strstr(text, "(request ") !=
		    NULL, "... and says nothing of the request");
		close(fd);
	}
	/* More in one read than the head: whatever it is. */
	fd = rig_dial();
	rig_send(fd, "CONNECT " RIG_HOST ":443 HTTP/1.1\r\n\r\n\x16\x03\x01");
	text = rig_read_until(fd, "(none)");
	ok(strstr(text, " 400 ") != NULL && rig_closed,
	    "bytes after CONNECT and before 200 end it (row 7)");
	close(fd);
	fd = rig_dial();
	rig_send(fd, "CONNECT API.Example.COM:443 HTTP/1.0\r\n"
	    "Proxy-Authorization: Basic eDp5\r\n\r\n");
	ok(strstr(rig_read_until(fd, "\r\n\r\n"), "HTTP/1.1 200 ") != NULL,
	    "upper case and HTTP/1.0 connect");
	rig_send(fd, "CONNECT " RIG_HOST ":443 HTTP/1.1\r\n\r\n");
	rig_read_until(fd, "(none)");
	ok(rig_closed, "a second CONNECT in the tunnel ends it");
	close(fd);
}

static void
test_tls(void)
{
	const unsigned char *proto;
	unsigned len;
	SSL *s;

	ok((s = rig_tls(NULL, NULL)) == NULL, "no server name: refused (row 6)");
	ok((s = rig_tls("other.example.com", NULL)) == NULL,
	    "another server name: refused");
	ok((s = rig_tls(RIG_HOST ".", NULL)) == NULL, "a trailing dot: refused");
	ok((s = rig_tls(RIG_HOST, "h2")) == NULL, "only h2 offered: refused");
	s = rig_tls("API.EXAMPLE.com", "http/1.1");
	ok(s != NULL, "upper case server name, http/1.1: verified, connected");
	if (s != NULL) {
		SSL_get0_alpn_selected(s, &proto, &len);
		is_mem(proto, len, "http/1.1", 8, "http/1.1 is selected");
		is_int(SSL_version(s), TLS1_3_VERSION, "TLS 1.3");
	}
	rig_close(s);
	SSL_CTX_set_max_proto_version(rig.client, TLS1_2_VERSION);
	s = rig_tls(RIG_HOST, NULL);
	ok(s != NULL && SSL_version(s) == TLS1_2_VERSION, "TLS 1.2 too");
	if (s != NULL && SSL_renegotiate(s) == 1) {
		SSL_do_handshake(s);
		rig_read(s, "(none)");
		ok(rig_closed, "negotiating again is refused (row 24)");
	}
	rig_close(s);
	SSL_CTX_set_max_proto_version(rig.client, TLS1_1_VERSION);
	SSL_CTX_set_min_proto_version(rig.client, TLS1_1_VERSION);
	SSL_CTX_set_security_level(rig.client, 0);
	ok((s = rig_tls(RIG_HOST, NULL)) == NULL, "TLS 1.1: refused");
	SSL_CTX_set_min_proto_version(rig.client, 0);
	SSL_CTX_set_max_proto_version(rig.client, 0);
	ok(alive(), "still there");
}

static void
test_request(void)
{
	static const char body[] = "{\"model\":\"m\"}";
	struct span rest, name, value;
	unsigned n = rig.req.count;
	uint8_t got[64];
	const char *text;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "Accept: */*\r\nX-Rig-A: 1\r\nCookie: a=b\r\n"
	    "X-Other: 2\r\nVia: 3\r\nContent-Length: 13\r\n\r\n"
	    "{\"model\":\"m\"}");
	ok(rig_requested(n + 1), "a good request reaches auditd");
	is_str(rig.req.path, "/v1/messages", "its path");
	is_str(rig.req.query, "beta=true", "its query");
	is_int(rig.req.length, 13, "its length");
	is_int(rig.req.route, 0, "its route");
	rest = span_of(rig.req.headers, rig.req.nheaders);
	ok(provider_unpack(&rest, &name, &value) == 1 &&
	    span_is(name, ":credential") && span_is(value, "0"),
	    "first the kind of key");
	ok(provider_unpack(&rest, &name, &value) == 1 &&
	    span_is(name, "content-type") && span_is(value, "application/json"),
	    "headers in their order");
	ok(provider_unpack(&rest, &name, &value) == 1 &&
	    span_is(name, "accept"), "lower case");
	ok(provider_unpack(&rest, &name, &value) == 1 &&
	    span_is(name, "x-rig-a") && provider_unpack(&rest, &name, &value) ==
	    0, "and nothing that is not listed (rows 12, 28)");
	ok(memmem(rig.req.headers, rig.req.nheaders, RIG_KEY,
	    strlen(RIG_KEY)) == NULL, "no key among them");
	is_int(rig_body(got, 13), 13, "the body on the stream");
	is_mem(got, 13, body, 13, "as it was");
	rig_head(200, 1, 5);
	rig_frame(STREAM_BODY, "hello", 5);
	rig_frame(STREAM_END, NULL, 0);
	text = rig_read(s, "hello");
	is_str(text, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
	    "content-length: 5\r\n\r\nhello", "the answer, composed");
	SAY(s, "GET /v1/models/m-1 HTTP/1.1\r\n" HOST
	    "authorization: Bearer " RIG_KEY "\r\n\r\n");
	ok(rig_requested(n + 2) && rig.req.exchange == 2 && rig.req.route == 1,
	    "the next one: same stream, next exchange");
	rest = span_of(rig.req.headers, rig.req.nheaders);
	ok(provider_unpack(&rest, &name, &value) == 1 && span_is(value, "1"),
	    "the other kind of key");
	rig_head(200, 2, 0);
	for (int i = 0; i < 3; i++) {
		rig_frame(STREAM_BODY, "data: x\n\n", 9);
		text = rig_read(s, "9\r\ndata: x\n\n\r\n");
		ok(strstr(text, "9\r\ndata: x\n\n\r\n") != NULL,
		    "event %d comes at once", i);
	}
	rig_frame(STREAM_END, NULL, 0);
	is_str(rig_read(s, "0\r\n\r\n"), "0\r\n\r\n", "the end of the chunks");
	rig_close(s);
}

static void
test_chunked(void)
{
	unsigned n = rig.req.count;
	uint8_t got[16];
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
	rig_turn(50);
	is_int(rig.req.count, n, "a chunked body is held");
	SAY(s, "6\r\n world\r\n0\r\n\r\n");
	ok(rig_requested(n + 1) && rig.req.length == 11,
	    "then its length is known");
	is_int(rig_body(got, 11), 11, "and it follows");
	is_mem(got, 11, "hello world", 11, "decoded");
	rig_head(204, 0, 0);
	rig_frame(STREAM_END, NULL, 0);
	is_str(rig_read(s, "\r\n\r\n"), "HTTP/1.1 204 No Content\r\n"
	    "content-type: text/event-stream\r\n\r\n", "204 has no framing");
	rig_close(s);
}

static void
test_expect(void)
{
	unsigned n = rig.req.count;
	uint8_t got[4];
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "expect: 100-continue\r\ncontent-length: 2\r\n\r\n");
	is_str(rig_read(s, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n",
	    "100 is answered here (row 14)");
	SAY(s, "{}");
	ok(rig_requested(n + 1) && rig_body(got, 2) == 2, "then the body");
	rig_frame(STREAM_FAIL, "no \"route\" to host", 18);
	ok(strstr(rig_read(s, "}}\n"), "HTTP/1.1 502 ") != NULL,
	    "keyd fails before the head: 502");
	rig_close(s);
}

static void
test_pipeline(void)
{
	static const char two[] = POST "content-length: 2\r\n\r\n{}"
	    POST "content-length: 4\r\n\r\n{ }\n";
	unsigned n = rig.req.count;
	const char *text;
	uint8_t got[8];
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, two);
	ok(rig_requested(n + 1) && rig.req.length == 2, "two at once: the first");
	rig_turn(50);
	is_int(rig.req.count, n + 1, "the second waits (row 9)");
	is_int(rig_body(got, 2), 2, "its body is its own");
	rig_head(200, 1, 0);
	rig_frame(STREAM_END, NULL, 0);
	ok(rig_requested(n + 2) && rig.req.length == 4, "then the second");
	is_int(rig_body(got, 4), 4, "with its body");
	rig_head(200, 1, 10);
	rig_frame(STREAM_BODY, "half", 4);
	rig_frame(STREAM_FAIL, "gone", 4);
	text = rig_read(s, "(none)");
	ok(strstr(text, "half") != NULL && rig_closed,
	    "keyd fails after the head: cut");
	rig_close(s);
}

/* Each kind of misbehaviour of a keyd that its provider broke (row 20). */
static void
test_keyd(void)
{
	unsigned n, opens;
	SSL *s;

	for (size_t i = 0; i < sizeof(keyd_rows) / sizeof(*keyd_rows); i++) {
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
		while (rig.alarms < i && alive())
			rig_turn(20);
	}
	ok(rig.opens == opens + 2, "bytes outside of an exchange: an alarm, and "
	    "a new stream for the next request");
	rig_close(s);
}

/* Neither side's cuts are seen by the other. */
static void
test_bytes(void)
{
	static const char request[] = POST "content-length: 2\r\n\r\n{}";
	unsigned n = rig.req.count;
	uint8_t frames[256], got[2];
	struct stream_frame f = {1, STREAM_HEAD, 11};
	size_t len = 0;
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
	ok(strstr(rig_read(s, "0\r\n\r\n"), "transfer-encoding: chunked\r\n"
	    "\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n") != NULL,
	    "an answer byte by byte");
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 2) && rig.req.exchange == 2, "on the same stream");
	rig_close(s);
}

static void
test_ends(void)
{
	unsigned n = rig.req.count;
	uint8_t byte;
	ssize_t k = -1;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "an agent that leaves");
	rig_close(s);
	for (int i = 0; i < 100 && k != 0; i++) {
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

static void
test_rows(void)
{
	unsigned n = rig.req.count;
	const char *text, *code;
	SSL *s = NULL;

	for (size_t i = 0; i < sizeof(request_rows) / sizeof(*request_rows);
	     i++) {
		const struct request_row *row = &request_rows[i];

		rig_close(s);
		s = rig_tls(RIG_HOST, NULL);
		rig_write(s, row->text, strlen(row->text));
		text = rig_read(s, "}}\n");
		code = strstr(text, "\"code\":\"");
		ok(strncmp(text, "HTTP/1.1 ", 9) == 0 &&
		    atoi(text + 9) == row->status && code != NULL &&
		    strncmp(code + 8, row->code, strlen(row->code)) == 0 &&
		    strstr(text, "evil") == NULL, "%s: %d %s", row->name,
		    row->status, row->code);
		if (row->closes) {
			rig_read(s, "(none)");
			ok(rig_closed, "... and the end of the connection");
		}
	}
	rig_close(s);
	is_int(rig.req.count, n, "none of them reached auditd");
}

static void
test_keys(void)
{
	static const char wrong[] = "POST /v1/messages HTTP/1.1\r\n" HOST JSON
	    "x-api-key: sk-rig-wrong\r\ncontent-length: 2\r\n\r\n{}";
	unsigned alarms = rig.alarms;
	SSL *s = rig_tls(RIG_HOST, NULL);

	for (int i = 0; i < 4; i++) {
		SAY(s, wrong);
		ok(strstr(rig_read(s, "}}\n"), " 403 ") != NULL,
		    "a wrong key: 403, the connection stays");
	}
	SAY(s, wrong);
	while (rig.alarms == alarms && alive())
		rig_turn(20);
	is_int(rig.alarms, alarms + 1, "the fifth is an alarm (row 17)");
	rig_close(s);
}

#define LARGE 1000000U

static uint8_t large[LARGE + 1024], raw[2 * LARGE];

/* Writes what TLS takes now; true when it took some. */
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
	uint64_t end = clock_mono_us() + 5000000;
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
	uint64_t end = clock_mono_us() + 5000000;
	size_t sent = 0, all = 20 * 50008, got = 0, len;
	const size_t head = strlen("HTTP/1.1 200 OK\r\ncontent-type: "
	    "text/event-stream\r\ncontent-length: 1000000\r\n\r\n");
	uint8_t *p = raw;
	ssize_t k;
	SSL *s = rig_tls(RIG_HOST, NULL);

	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 1), "a request with a large answer");
	rig_head(200, 1, LARGE);
	for (unsigned i = 0; i < 20; i++, p += STREAM_HEADER + f.len) {
		stream_pack(p, &f);
		memset(p + STREAM_HEADER, (int)('a' + i), f.len);
	}
	for (int idle = 0; idle < 20; idle++) {
		k = write(rig.stream, raw + sent, all - sent);
		if (k > 0) {
			sent += (size_t)k;
			idle = 0;
		} else {
			rig_turn(5);
		}
	}
	ok(sent < all, "the agent reads nothing: keyd is not read on");
	while (got < LARGE + head && clock_mono_us() < end) {
		k = sent < all ? write(rig.stream, raw + sent, all - sent) : 0;
		if (k > 0)
			sent += (size_t)k;
		if (SSL_read_ex(s, large, sizeof(large), &len) == 1)
			got += len;
		else
			rig_turn(1);
	}
	is_int(got, LARGE + head, "all of it comes");
	rig_frame(STREAM_END, NULL, 0);
	SAY(s, POST "content-length: 0\r\n\r\n");
	ok(rig_requested(n + 2), "and the connection goes on");
	rig_close(s);
}

static void
test_crowd(void)
{
	int fds[140], n = 0;
	const char *text = "";

	rig_turn(0);
	for (; n < 140; n++) {
		fds[n] = rig_dial();
		rig_turn(1);
	}
	text = rig_read_until(fds[139], "\n(none)");
	ok(strstr(text, "HTTP/1.1 503 ") != NULL && rig_closed,
	    "beyond 128 connections: 503 and closed");
	while (n > 0)
		close(fds[--n]);
	ok(alive(), "and it lives on");
}

int
main(int argc, char **argv)
{
	const uint32_t want = CONFINE_DUMPABLE0 | CONFINE_NNP |
	    CONFINE_LANDLOCK | CONFINE_CAPS0;

	if (argc != 2)
		return 2;
	rig_start(argv[1]);
	is_int(rig.flags & want, want, "confined before it says HELLO");
	test_connect();
	test_tls();
	test_request();
	test_chunked();
	test_expect();
	test_pipeline();
	test_keyd();
	test_bytes();
	test_ends();
	test_refused();
	test_rows();
	test_keys();
	test_large_request();
	test_large_answer();
	test_crowd();
	ok(alive(), "mitmd survived it all%s%s", rig.why[0] != '\0' ? ": " : "",
	    rig.why);
	rig_stop();
	return tap_done();
}
