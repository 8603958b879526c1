/* SPDX-License-Identifier: ISC */
/*
 * mitmd on the agent's side: the real program under its real confinement, an
 * agent that talks to it through its socket, and this test as its other peers.
 */
#include <sys/resource.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "mitmd/provider/provider.h"
#include "tap.h"
#include "unit/mitmd/rig.h"
#include "unit/mitmd/rows.h"

static void
test_connect(void)
{
	const char *text;
	char request[600];
	int fd;

	for (size_t i = 0; i < nitems(connect_rows);
	     i++) {
		const struct connect_row *row = &connect_rows[i];

		fd = rig_dial();
		snprintf(request, sizeof(request), "%s", row->text);
		rig_send(fd, request);
		/*
		 * Refused, answered, and closed once the client has read the
		 * answer.
		 */
		text = rig_read_until(fd, "\n(none)");
		ok(strncmp(text, "HTTP/1.1 ", 9) == 0 &&
		    atoi(text + 9) == row->status, "CONNECT %s is %d",
		    row->name, row->status);
		ok(strstr(text, "evil") == NULL && strstr(text, "(request ") !=
		    NULL, "... and repeats nothing but a host's name");
		close(fd);
	}
	fd = rig_dial();
	rig_send(fd, "CONNECT other.example.net:443 HTTP/1.1\r\n\r\n");
	text = rig_read_until(fd, "\n(none)");
	ok(strstr(text, "other.example.net") != NULL,
	    "a host that is not listed is named");
	close(fd);
	/* Any bytes after the head in the same read are refused. */
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
	ok((s = rig_tls(RIG_HOST, "h3")) == NULL, "only h3 offered: refused");
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
	ok(rig_alive(), "still there");
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
	rig_frame(STREAM_FAIL, "\0no \"route\" to host", 19);
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
	rig_frame(STREAM_FAIL, "\0gone", 5);
	text = rig_read(s, "(none)");
	ok(strstr(text, "half") != NULL && rig_closed,
	    "keyd fails after the head: cut");
	rig_close(s);
}

static void
test_rows(void)
{
	unsigned n = rig.req.count, denied = rig.denied;
	const char *text, *code;
	char number[32];
	SSL *s = NULL;

	for (size_t i = 0; i < nitems(request_rows);
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
		rig_counted(&rig.denied, denied + 1);
		denied = rig.denied;
		snprintf(number, sizeof(number), "(request %08x)", rig.id);
		ok(strcmp(rig.code, row->code) == 0 &&
		    strstr(text, number) != NULL,
		    "... in the audit log, with its number");
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
	while (rig.alarms == alarms && rig_alive())
		rig_turn(20);
	is_int(rig.alarms, alarms + 1, "the fifth is an alarm (row 17)");
	rig_close(s);
}

#define CROWD 1280 /* MITMD_MAX_AGENTS */

/* Raise the limit of descriptors for the test and mitmd. */
static void
crowd_prepare(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < 4096) {
		rl.rlim_cur = rl.rlim_max < 4096 ? rl.rlim_max : 4096;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static void
test_crowd(void)
{
	int fds[CROWD + 12], n = 0;
	const char *text = "";

	rig_turn(0);
	for (; n < CROWD + 12; n++) {
		fds[n] = rig_dial();
		rig_turn(1);
	}
	text = rig_read_until(fds[CROWD + 11], "\n(none)");
	ok(strstr(text, "HTTP/1.1 503 ") != NULL && rig_closed,
	    "beyond %d connections: 503 and closed", CROWD);
	while (n > 0)
		close(fds[--n]);
	ok(rig_alive(), "and it lives on");
}

int
main(int argc, char **argv)
{
	const uint32_t want = CONFINE_DUMPABLE0 | CONFINE_NNP |
	    CONFINE_LANDLOCK | CONFINE_CAPS0;

	if (argc != 2)
		return 2;
	crowd_prepare();
	rig_start(argv[1]);
	is_int(rig.flags & want, want, "confined before it says HELLO");
	test_connect();
	test_tls();
	test_request();
	test_chunked();
	test_expect();
	test_pipeline();
	test_rows();
	test_keys();
	test_crowd();
	ok(rig_alive(), "mitmd survived it all%s%s", rig.why[0] != '\0' ? ": " : "",
	    rig.why);
	rig_stop();
	return tap_done();
}
