/* SPDX-License-Identifier: ISC */
/*
 * A provider's answers: the frames for good ones, byte for byte and at every
 * split; the failures for bad ones; and when a connection may be reused.
 */
#include <stdlib.h>

#include "common/ipc/stream.h"
#include "mitmd/keyd/answer.h"
#include "tap.h"

#define KEY "sk-0123456789abcdef-KEY"
#define OK200 "HTTP/1.1 200 OK\r\n"

static const char file[] =
    "{\"name\":\"t\",\"host\":\"t.example\",\"credential\":{\"env\":\"T_KEY\","
    "\"sentinel\":\"sk-t-ironcurtain-\",\"headers\":"
    "[{\"name\":\"x-api-key\"}]},"
    "\"requestHeaders\":[],\"responseHeaders\":[\"content-type\",\"x-a-*\"],"
    "\"routes\":[{\"method\":\"GET\",\"path\":\"/v1/x\"}]}";

static struct provider *provider;
static struct scrub scrub;
static _Alignas(uint16_t) uint8_t mem[1 << 16];
static struct reply reply;

/* Feed the text split in two at `cut`, then the end of the connection. */
static enum reply_result
feed(const char *text, size_t cut, bool nobody, bool clean, struct buf *out)
{
	size_t n = strlen(text);
	enum reply_result r;

	buf_reset(out, 0);
	reply_free(&reply);
	reply_init(&reply, 3, nobody);
	r = reply_feed(&reply, provider, &scrub, span_of(text, cut), out);
	if (r == REPLY_MORE)
		r = reply_feed(&reply, provider, &scrub,
		    span_of(text + cut, n - cut), out);
	else if (r == REPLY_DONE && cut < n)
		(void)reply_feed(&reply, provider, &scrub,
		    span_of(text + cut, n - cut), out);
	if (r == REPLY_MORE)
		r = reply_eof(&reply, clean, out);
	return r;
}

static void
test_frames(void)
{
	static const char answer[] = "HTTP/1.1 100 Continue\r\n\r\n" OK200
	    "Content-Type: text/event-stream\r\nSet-Cookie: a=b\r\n"
	    "X-A-One: 1\r\nALT-SVC: h3\r\nTransfer-Encoding: chunked\r\n"
	    "Content-Encoding: identity\r\nConnection: keep-alive\r\n\r\n"
	    "5\r\nhello\r\n0\r\nX-A-Trailer: no\r\n\r\n";
	static const char head[] = "\3\0\0\0\2\x38\0\0"
	    "\xc8\0\2\0\0\0\0\0\0\0\0"
	    "\x0c\0content-type\x11\0text/event-stream" "\7\0x-a-one\1\0" "1";
	static const char tail[] = "\3\0\0\0\1\5\0\0hello" "\3\0\0\0\3\0\0\0";
	struct buf out, want;
	size_t same = 0;

	buf_init(&out, 1 << 16);
	buf_init(&want, 1 << 16);
	buf_add(&want, head, sizeof(head) - 1);
	buf_add(&want, tail, sizeof(tail) - 1);
	is_int(feed(answer, 0, false, true, &out), REPLY_DONE, "an answer");
	is_mem(buf_span(&out).p, out.len, buf_span(&want).p, want.len,
	    "its frames: listed headers alone, no framing, no trailer");
	/* If cut within the body's five bytes, there are two frames. */
	for (size_t i = 0; i <= sizeof(answer) - 1; i++) {
		if (feed(answer, i, false, true, &out) != REPLY_DONE)
			break;
		same += span_eq(buf_span(&out), buf_span(&want));
	}
	is_int(same, sizeof(answer) - 4, "the same at every split");
	is_int(reply.received, 5, "bytes of body are counted");
	is_int(feed(OK200 "content-length: 70000\r\n\r\n", 0, true, true, &out),
	    REPLY_DONE, "the answer to a HEAD has no body");
	is_mem(buf_span(&out).p, out.len,
	    "\3\0\0\0\2\x0b\0\0\xc8\0\0\0\0\0\0\0\0\0\0\3\0\0\0\3\0\0\0", 27,
	    "and its frames");
	is_int(feed("HTTP/1.1 304 Not Modified\r\n\r\n", 0, false, true, &out),
	    REPLY_DONE, "304 passes");
	is_int(feed(OK200 "content-length: 3\r\n\r\nabcd", 41, false, true,
	    &out), REPLY_DONE, "one byte more than announced");
	ok(reply.trailing, "is noticed, and not passed");
	buf_free(&out);
	buf_free(&want);
}

#define DENIED "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n"
#define TYPE "x-amzn-ErrorType: "

/* Answers that mean that the credential has expired, if it can be renewed. */
/* Append the frames as they are written: with the pieces between them. */
static void
gather(struct buf *all, const struct buf *out, const struct reply_parts *parts)
{
	struct span b = buf_span(out);
	size_t at = 0;

	for (unsigned i = 0; i < parts->n; i++) {
		buf_add(all, b.p + at, parts->part[i].at - at);
		buf_addspan(all, parts->part[i].s);
		at = parts->part[i].at;
	}
	buf_add(all, b.p + at, b.len - at);
}

/* Long pieces of a body are not copied, and the frames are the same. */
static void
test_parts(void)
{
	static char text[300000];
	static const size_t chunks[] = {20, 4095, 4096, 9, 70000, 131072, 5000};
	struct reply_parts parts = {.n = 0};
	struct buf out, all, copied;
	size_t n, longest = 0;

	buf_init(&out, 1 << 20);
	buf_init(&all, 1 << 20);
	buf_init(&copied, 1 << 20);
	n = (size_t)snprintf(text, sizeof(text),
	    OK200 "transfer-encoding: chunked\r\n\r\n");
	for (size_t i = 0; i < nitems(chunks); i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%zx\r\n",
		    chunks[i]);
		memset(text + n, (int)('a' + i), chunks[i]);
		n += chunks[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\r\n");
	}
	n += (size_t)snprintf(text + n, sizeof(text) - n, "0\r\n\r\n");
	for (int refer = 0; refer < 2; refer++) {
		reply_free(&reply);
		reply_init(&reply, 3, false);
		reply.parts = refer ? &parts : NULL;
		buf_reset(&out, 0);
		is_int(reply_feed(&reply, provider, &scrub, span_of(text, n),
			   &out),
		    REPLY_DONE, "an answer");
		gather(refer ? &all : &copied, &out, &parts);
	}
	for (unsigned i = 0; i < parts.n; i++)
		if (parts.part[i].s.len > longest)
			longest = parts.part[i].s.len;
	is_int(parts.n, 6, "its long pieces stay where they are");
	ok(longest == 65536 && out.len < 4096 * 2, "each in a frame");
	ok(span_eq(buf_span(&all), buf_span(&copied)), "the same frames");
	buf_free(&out);
	buf_free(&all);
	buf_free(&copied);
}

static void
test_unauthorized(void)
{
	static const struct {
		const char *name, *text;
		bool aws, over;
	} rows[] = {
	    {"401", "HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", false,
		true},
	    {"401 of AWS", "HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n",
		true, true},
	    {"403", DENIED "\r\n", false, false},
	    {"403 of AWS", DENIED "\r\n", true, false},
	    {"expired", DENIED TYPE "ExpiredTokenException:http://x/\r\n\r\n",
		true, true},
	    {"expired, said shortly", DENIED TYPE "ExpiredToken\r\n\r\n", true,
		true},
	    {"denied", DENIED TYPE "AccessDeniedException\r\n\r\n", true,
		false},
	    {"another header", DENIED "x-y: ExpiredToken\r\n\r\n", true,
		false},
	    {"another provider's", DENIED TYPE "ExpiredToken\r\n\r\n", false,
		false},
	    {"400", "HTTP/1.1 400 Bad\r\ncontent-length: 0\r\n" TYPE
		"ExpiredToken\r\n\r\n", true, false}};
	struct span service = provider->sigv4.service;
	enum reply_result r;
	struct buf out;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < nitems(rows); i++) {
		provider->sigv4.service =
		    rows[i].aws ? SPAN("bedrock") : span_of(NULL, 0);
		for (int may = 0; may < 2; may++) {
			reply_free(&reply);
			reply_init(&reply, 3, false);
			if (may)
				reply.unauthorized = KEYD_FAIL_EXPIRED;
			buf_reset(&out, 0);
			r = reply_feed(&reply, provider, &scrub,
			    span_str(rows[i].text), &out);
			if (may && rows[i].over)
				ok(r == REPLY_FAIL &&
					reply.fail == KEYD_FAIL_EXPIRED &&
					out.len == 0,
				    "%s: is over, nothing passes",
				    rows[i].name);
			else
				ok(r == REPLY_DONE && out.len != 0,
				    "%s: an answer%s", rows[i].name,
				    may ? "" : ", where none is to be had");
		}
	}
	provider->sigv4.service = service;
	buf_free(&out);
}

static const struct {
	const char *name, *text;
	enum keyd_fail fail;
	bool dirty;
} bad[] = {
    {"nothing", "", KEYD_FAIL_SILENT},
    {"half a head", OK200 "content-", KEYD_FAIL_CUT},
    {"half a body", OK200 "content-length: 3\r\n\r\nab", KEYD_FAIL_CUT},
    {"half a chunk", OK200 "transfer-encoding: chunked\r\n\r\n3\r\nab",
	KEYD_FAIL_CUT},
    {"no last chunk", OK200 "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
	KEYD_FAIL_CUT},
    {"until close, but no close_notify", OK200 "\r\nab", KEYD_FAIL_CUT, true},
    {"301", "HTTP/1.1 301 Moved\r\nlocation: /\r\n\r\n", KEYD_FAIL_REDIRECT},
    {"302", "HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n", KEYD_FAIL_REDIRECT},
    {"307", "HTTP/1.1 307 Temporary\r\n\r\n", KEYD_FAIL_REDIRECT},
    {"399", "HTTP/1.1 399 What\r\n\r\n", KEYD_FAIL_REDIRECT},
    {"gzip", OK200 "content-encoding: gzip\r\ncontent-length: 0\r\n\r\n",
	KEYD_FAIL_CODED},
    {"a list of codings",
	OK200 "content-encoding: identity, br\r\ncontent-length: 0\r\n\r\n",
	KEYD_FAIL_CODED},
    {"101", "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n",
	KEYD_FAIL_MALFORMED},
    {"nine 1xx", "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\n"
	"HTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\n"
	"HTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 103 E\r\n\r\n"
	"HTTP/1.1 103 E\r\n\r\n", KEYD_FAIL_INTERIM},
    {"length and chunked",
	OK200 "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"
	"0\r\n\r\n",
	KEYD_FAIL_MALFORMED},
    {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", KEYD_FAIL_MALFORMED},
    {"bare LF", "HTTP/1.1 200 OK\n\n", KEYD_FAIL_MALFORMED},
    {"bad chunk", OK200 "transfer-encoding: chunked\r\n\r\nx\r\n",
	KEYD_FAIL_MALFORMED},
    {"key in the reason", "HTTP/1.1 200 " KEY "\r\n\r\n",
	KEYD_FAIL_REFLECTED},
    {"key in a dropped header", OK200 "set-cookie: k=" KEY "\r\n\r\n",
	KEYD_FAIL_REFLECTED},
    {"key in a 1xx", "HTTP/1.1 103 Early\r\nlink: <" KEY ">\r\n\r\n" OK200
	"content-length: 0\r\n\r\n", KEYD_FAIL_REFLECTED},
    {"key in a redirect", "HTTP/1.1 302 F\r\nlocation: /" KEY "\r\n\r\n",
	KEYD_FAIL_REFLECTED},
    {"key in the body", OK200 "content-length: 27\r\n\r\n[[" KEY "]]",
	KEYD_FAIL_REFLECTED},
    {"key over two chunks", OK200 "transfer-encoding: chunked\r\n\r\n"
	"a\r\nsk-0123456\r\nd\r\n789abcdef-KEY\r\n0\r\n\r\n",
	KEYD_FAIL_REFLECTED},
    {"key in base64", OK200 "\r\nc2stMDEyMzQ1Njc4OWFiY2RlZi1LRVk=",
	KEYD_FAIL_REFLECTED},
};

static void
test_bad(void)
{
	struct buf out;
	size_t n, right;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < nitems(bad); i++) {
		n = strlen(bad[i].text);
		right = 0;
		for (size_t cut = 0; cut <= n; cut++)
			right += feed(bad[i].text, cut, false, !bad[i].dirty,
			    &out) == REPLY_FAIL && reply.fail == bad[i].fail &&
			    (out.len == 0 || memmem(buf_span(&out).p, out.len,
			    KEY, 8) == NULL);
		is_int(right, n + 1, "%s, at every split: %s", bad[i].name,
		    keyd_fail_text(bad[i].fail));
	}
	buf_free(&out);
}

static void
test_endless_head(void)
{
	static char line[1 << 17];
	struct buf out;

	buf_init(&out, 1 << 16);
	memset(line, 'a', sizeof(line) - 1);
	memcpy(line, OK200, strlen(OK200));
	is_int(feed(line, 1000, false, true, &out), REPLY_FAIL,
	    "a head without end");
	is_int(reply.fail, KEYD_FAIL_MALFORMED, "is malformed");
	buf_free(&out);
}

/* A buffer that takes no more is named: the head's, and the body's. */
static void
test_full(void)
{
	static const char *const texts[] = {
	    OK200 "content-length: 0\r\ncontent-type: a/b\r\n\r\n",
	    OK200 "content-length: 99\r\n\r\n0123456789012345678901234567890",
	};
	struct buf out;

	for (size_t i = 0; i < nitems(texts); i++) {
		buf_init(&out, 30);
		reply_free(&reply);
		reply_init(&reply, 3, false);
		is_int(reply_feed(
			   &reply, provider, &scrub, span_str(texts[i]), &out),
		    REPLY_FAIL, "30 bytes are not enough");
		is_int(reply.fail, KEYD_FAIL_INTERNAL, "which is our fault");
		is_str(reply.detail,
		    "the queue of the answer is full (30 "
		    "bytes)",
		    "the log says what is full");
		buf_free(&out);
	}
	ok(strstr(keyd_fail_text(KEYD_FAIL_INTERNAL), "memory") == NULL,
	    "and the agent is told nothing of memory");
}

static void
test_reuse(void)
{
	static const struct keyd_reuse good = {.allowed = true,
	    .sent_whole = true, .reads = true, .status = 200, .done = true,
	    .framing = HTTP1_CHUNKED};
	struct keyd_reuse u = good;

	ok(keyd_reuse_ok(&u), "all is well: used again");
	u.framing = HTTP1_LENGTH;
	ok(keyd_reuse_ok(&u), "by length too");
	u.framing = HTTP1_NONE;
	ok(keyd_reuse_ok(&u), "and without a body (204)");
	u.status = 299;
	ok(keyd_reuse_ok(&u), "any 2xx");
#define NOT(field, value, text)						\
	u = good;							\
	u.field = value;						\
	ok(!keyd_reuse_ok(&u), "not again: " text)
	NOT(allowed, false, "upstream.reuse says never");
	NOT(sent_whole, false, "answered before the request was whole");
	NOT(reads, false, "the route need not have read its body");
	NOT(status, 199, "1xx");
	NOT(status, 304, "304");
	NOT(status, 400, "400");
	NOT(status, 413, "413");
	NOT(status, 500, "500");
	NOT(status, 0, "no answer");
	NOT(done, false, "the answer is not over");
	NOT(framing, HTTP1_CLOSE, "it ends with the connection");
	NOT(http10, true, "HTTP/1.0");
	NOT(close, true, "the provider says close");
	NOT(trailing, true, "bytes after the answer");
#undef NOT
}

int
main(void)
{
	struct span key = span_str(KEY);
	char err[256];

	if ((provider = provider_parse(span_str(file), err, sizeof(err))) ==
	    NULL || scrub_build(&scrub, &key, 1, mem, sizeof(mem)) == -1)
		abort();
	test_frames();
	test_parts();
	test_unauthorized();
	test_bad();
	test_endless_head();
	test_full();
	test_reuse();
	reply_free(&reply);
	provider_free(provider);
	return tap_done();
}
