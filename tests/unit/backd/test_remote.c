/* SPDX-License-Identifier: ISC */
/*
 * mcp-backd and the streams with the answers of a remote server, in pieces of
 * any size, whole and cut; keyd is played here.
 */
#include "mcp-proxyd/backd/remote.h"
#include "unit/backd/rig.h"

#define V "\"jsonrpc\":\"2.0\""

/* Append a frame of the stream that keyd writes. */
static size_t
put_frame(uint8_t *p, enum stream_type type, const void *data, size_t len)
{
	const struct stream_frame f = {1, type, (uint32_t)len};

	stream_pack(p, &f);
	memcpy(p + STREAM_HEADER, data, len);
	return STREAM_HEADER + len;
}

/* Append HEAD with this status and type. */
static size_t
put_head(uint8_t *p, unsigned status, const char *type)
{
	uint8_t head[STREAM_HEAD_LEN + 64] = {
	    (uint8_t)status, (uint8_t)(status >> 8), 2};
	size_t n = STREAM_HEAD_LEN, len = strlen(type);

	head[n++] = 12;
	head[n++] = 0;
	memcpy(head + n, "content-type", 12);
	n += 12;
	head[n++] = (uint8_t)len;
	head[n++] = 0;
	memcpy(head + n, type, len);
	return put_frame(p, STREAM_HEAD, head, n + len);
}

static const char *request = "5";
static bool events;

/* Returns the messages after these bytes came on a stream for the request. */
static const char *
streams(const uint8_t *p, size_t len, size_t step)
{
	static char copy[sizeof(seen)];
	const struct msg_SERVER_AFAR afar = {.name = SPAN("far")};
	const struct msg_POST post = {
	    .stream = 1, .id = span_str(request), .events = events};
	struct chan *c;
	int fd[2];

	set_up();
	c = b->w.peers[ROLE_AUDIT][0];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == -1)
		err(1, "socketpair");
	is_int(remote_on_afar(c, &afar) | remote_on_post(c, &post, fd[0]), 0,
	    "a message to a remote server");
	for (size_t n; len != 0; p += n, len -= n) {
		n = len < step ? len : step;
		if (send(fd[1], p, n, MSG_NOSIGNAL) == -1)
			break;
		turns();
	}
	close(fd[1]);
	turns();
	is_int(b->nremotes, 0, "its stream is closed");
	is_int((long long)b->held, 0, "and nothing of it is held");
	memcpy(copy, seen, sizeof(seen));
	tear_down();
	return copy;
}

static void
test_remote(void)
{
	static const char json[] = "{" V ",\"id\":5,\"result\":{}}";
	static const char stream[] =
	    ": hi\r\n\r\ndata: {" V ",\"id\":6,\"result\":{}}\n\ndata: {" V
	    ",\ndata: \"id\":5,"
	    "\"result\":{}}\n\n";
	static const char good[] = "RESULT 5 0 {}\nDONE 5 0\n";
	static uint8_t p[4096];
	size_t n, m;

	for (size_t step = 1; step <= 64; step *= 4) {
		n = put_head(p, 200, "Application/JSON; charset=utf-8");
		n += put_frame(p + n, STREAM_BODY, json, 9);
		n += put_frame(p + n, STREAM_BODY, json + 9, sizeof(json) - 10);
		m = n + put_frame(p + n, STREAM_END, "", 0);
		is_str(streams(p, m, step), good, "JSON, by %zu", step);
		is_str(streams(p, n, step),
		    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server "
		    "gave no answer: the connection was given up\"}\nDONE 5 "
		    "1\n",
		    "JSON without an end, by %zu", step);
		n = put_head(p, 200, "text/event-stream");
		n += put_frame(p + n, STREAM_BODY, stream, sizeof(stream) - 1);
		is_str(streams(p, n, step), good, "events, by %zu", step);
		n = put_frame(p, STREAM_FAIL,
		    "\1"
		    "502 the provider left",
		    22);
		is_str(streams(p, n, step),
		    "RESULT 5 1 {\"code\":-32603,\"message\":\"the MCP server "
		    "gave no answer: the server left. It had the whole "
		    "request, which may or may not have taken effect\"}\n"
		    "DONE 5 1\n",
		    "a failure, by %zu", step);
	}
	n = put_frame(p, STREAM_BODY, json, 9);
	ok(strstr(streams(p, n, 64), "no answer that makes sense") != NULL,
	    "a body without a head");
	memset(p, 0xff, 64);
	ok(strstr(streams(p, 64, 64), "no answer that makes sense") != NULL,
	    "what is no frame");
}

/* A server that does not begin: it is over, unless that may pass. */
static void
test_begin(void)
{
	static uint8_t p[4096];
	const char *s;
	size_t n;

	request = "\"i\"";
	n = put_head(p, 503, "text/plain");
	n += put_frame(p + n, STREAM_END, "", 0);
	s = streams(p, n, 64);
	ok(strstr(s, "INIT 0 1 ") != NULL && strstr(s, "GONE") == NULL,
	    "one that is out of order can be asked again: %s", s);
	n = put_frame(p, STREAM_FAIL, "\0" "000 no network", 15);
	s = streams(p, n, 64);
	ok(strstr(s, "INIT 0 1 ") != NULL && strstr(s, "GONE") == NULL,
	    "and one that was not reached: %s", s);
	n = put_head(p, 404, "text/plain");
	n += put_frame(p + n, STREAM_END, "", 0);
	s = streams(p, n, 64);
	ok(strstr(s, "INIT 0 0 ") != NULL &&
		strstr(s, "GONE to policyd") != NULL,
	    "one that is not there is over: %s", s);
}

/* The log names a failed message, or the server's own stream. */
static void
test_named(void)
{
	static char said[4096];
	uint8_t bad[64];
	FILE *to = tmpfile();
	int was = dup(STDERR_FILENO);

	memset(bad, 0xff, sizeof(bad));
	if (to == NULL || was == -1 || dup2(fileno(to), STDERR_FILENO) == -1)
		err(1, "a file for the log");
	request = "";
	for (int i = 0; i < 2; i++) {
		events = i != 0;
		(void)streams(bad, sizeof(bad), sizeof(bad));
	}
	events = false;
	(void)dup2(was, STDERR_FILENO);
	(void)close(was);
	rewind(to);
	if (fread(said, 1, sizeof(said) - 1, to) == 0)
		said[0] = '\0';
	(void)fclose(to);
	ok(strstr(said, "a message to the server: it gave no answer") != NULL,
	    "a message that fails: %s", said);
	ok(strstr(said, "own stream of events, gave no answer") != NULL,
	    "the server's own stream fails: %s", said);
}

int
main(void)
{
	if ((pool = value_pool_new(32U << 20)) == NULL)
		err(1, "value_pool_new");
	test_remote();
	test_begin();
	test_named();
	is_str(closed_why, "", "no channel was broken");
	return tap_done();
}
