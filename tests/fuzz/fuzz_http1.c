/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 heads and bodies. The first byte selects the reader, the second
 * where the input is cut. A prefix must give MORE or the final answer; every
 * cut of a chunked stream gives the same bytes and the same end; nothing
 * outside the input is consumed or pointed at; an accepted head contains only
 * what a simple check of its bytes allows, and reads the same when composed
 * again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "common/http/http1.h"

typedef enum http1_result reader(struct span, struct http1_head *);
typedef enum http1_result grower(struct span, size_t *, struct http1_head *);

static struct http1_head head, other;

static bool
inside(struct span in, struct span s)
{
	return s.p >= in.p && s.p <= in.p + in.len &&
	       s.len <= (size_t)(in.p + in.len - s.p);
}

static void
check_head(struct span in, bool request)
{
	const struct http1_head *h = &head;

	CHECK(h->size >= 4 && h->size <= in.len && h->size <= HTTP1_MAX_HEAD);
	CHECK(memcmp(in.p + h->size - 2, "\r\n", 2) == 0);
	CHECK(memchr(in.p, '\0', h->size) == NULL);
	CHECK(h->nheaders <= HTTP1_MAX_HEADERS);
	for (size_t i = 0; i < h->size; i++) {
		if (in.p[i] == '\r')
			CHECK(in.p[i + 1] == '\n');
		if (in.p[i] == '\n')
			CHECK(i > 0 && in.p[i - 1] == '\r');
	}
	if (request) {
		CHECK(inside(in, h->method) && h->method.len > 0);
		CHECK(inside(in, h->target) && h->target.len > 0);
		CHECK(memchr(h->target.p, ' ', h->target.len) == NULL);
	} else {
		CHECK(h->status >= 100 && h->status <= 599);
	}
	for (unsigned i = 0; i < h->nheaders; i++) {
		const struct http1_header *f = &h->headers[i];

		CHECK(inside(in, f->name) && inside(in, f->value));
		CHECK(f->name.len > 0 && f->name.p[f->name.len] == ':');
		for (size_t j = 0; j < f->name.len; j++)
			CHECK(f->name.p[j] > ' ' && f->name.p[j] < 0x7f);
		for (size_t j = 0; j < f->value.len; j++)
			CHECK(f->value.p[j] == '\t' ||
			      (f->value.p[j] >= ' ' && f->value.p[j] != 0x7f));
		if (f->value.len > 0)
			CHECK(f->value.p[0] > ' ' &&
			      f->value.p[f->value.len - 1] > ' ');
	}
}

/* Compose the head again and parse it: the meaning must be the same. */
static void
check_again(bool request)
{
	static char text[HTTP1_MAX_HEAD + 2 * HTTP1_MAX_HEADERS];
	struct http1_body a, b;
	size_t n;

	n = (size_t)(request ? sprintf(text, "%.*s %.*s HTTP/1.%c\r\n",
				   (int)head.method.len, head.method.p,
				   (int)head.target.len, head.target.p,
				   head.http10 ? '0' : '1')
			     : sprintf(text, "HTTP/1.%c %u \r\n",
				   head.http10 ? '0' : '1', head.status));
	for (unsigned i = 0; i < head.nheaders; i++)
		n += (size_t)sprintf(text + n, "%.*s: %.*s\r\n",
		    (int)head.headers[i].name.len, head.headers[i].name.p,
		    (int)head.headers[i].value.len, head.headers[i].value.p);
	n += (size_t)sprintf(text + n, "\r\n");
	if (n > HTTP1_MAX_HEAD)
		return;
	CHECK((request ? http1_request : http1_response)(
		  span_of(text, n), &other) == HTTP1_OK);
	CHECK(other.size == n && other.nheaders == head.nheaders);
	CHECK(other.status == head.status && other.http10 == head.http10);
	if (request) {
		CHECK(http1_request_body(&head, &a) ==
		      http1_request_body(&other, &b));
	} else {
		CHECK(http1_response_body(&head, false, &a) ==
		      http1_response_body(&other, false, &b));
	}
	CHECK(a.reason == b.reason);
	CHECK(a.reason != NULL ||
	      (a.framing == b.framing && a.length == b.length));
}

static void
check_prefix(struct span in, size_t n, reader *read, enum http1_result whole)
{
	const char *reason = head.reason;
	uint8_t *copy;
	enum http1_result r;

	if ((copy = malloc(n + 1)) == NULL)
		abort();
	memcpy(copy, in.p, n);
	r = read(span_of(copy, n), &other);
	free(copy);
	CHECK(r == HTTP1_MORE || r == whole);
	CHECK(r != HTTP1_BAD || other.reason == reason);
	CHECK(r != HTTP1_OK || other.size == head.size);
}

static void
fuzz_head(struct span in, size_t cut, bool request)
{
	reader *read = request ? http1_request : http1_response;
	grower *more = request ? http1_request_more : http1_response_more;
	enum http1_result whole, r = HTTP1_MORE;
	struct http1_body body;
	struct http1_hop hop;
	size_t seen = 0, step = in.len / 64 + 1;

	whole = read(in, &head);
	CHECK((head.reason != NULL) == (whole == HTTP1_BAD));
	if (whole == HTTP1_OK) {
		check_head(in, request);
		check_again(request);
		if (request && http1_request_body(&head, &body) == HTTP1_OK &&
		    http1_request_hop(&head, &body, SPAN("h.co"), false, &hop) ==
			HTTP1_OK)
			CHECK(head.target.p[0] == '/');
	}
	check_prefix(in, cut % (in.len + 1), read, whole);
	for (size_t n = 0; n < in.len; n += step)
		check_prefix(in, n, read, whole);
	for (size_t n = 0; n < in.len && r == HTTP1_MORE; n += step)
		r = more(span_of(in.p, n), &seen, &other);
	if (r == HTTP1_MORE)
		r = more(in, &seen, &other);
	CHECK(r == whole || r == HTTP1_MORE);
	/* Only an error in an unfinished line may be reported later. */
	if (r != whole)
		CHECK(whole == HTTP1_BAD && in.p[in.len - 1] != '\n');
}

/* Decode in pieces: the first `cut` bytes, then `step` at a time. */
static size_t
decode(struct http1_body *b, struct span in, size_t cut, size_t step,
    uint8_t *out, size_t *nout)
{
	enum http1_result r = HTTP1_MORE;
	size_t at = 0, end = cut, used;
	struct span piece, data;

	*nout = 0;
	while (r == HTTP1_MORE && at < in.len) {
		if (end > in.len)
			end = in.len;
		do {
			piece = span_of(in.p + at, end - at);
			r = http1_body_next(b, piece, &data, &used);
			CHECK(used <= piece.len && inside(piece, data));
			CHECK(data.len <= used);
			CHECK(r != HTTP1_MORE || used == piece.len);
			CHECK((b->reason != NULL) == (r == HTTP1_BAD));
			memcpy(out + *nout, data.p, data.len);
			*nout += data.len;
			at += used;
		} while (r == HTTP1_OK && !b->done);
		CHECK(r != HTTP1_OK || b->done);
		end = at + step;
	}
	return at;
}

static void
fuzz_body(struct span in, size_t cut, bool response)
{
	const struct http1_body start = {
	    .framing = HTTP1_CHUNKED, .response = response};
	struct http1_body a = start, b;
	size_t na, nb, used;
	uint8_t *out, *out2;

	out = malloc(in.len + 1);
	out2 = malloc(in.len + 1);
	if (out == NULL || out2 == NULL)
		abort();
	used = decode(&a, in, in.len, 1, out, &na);
	for (int way = 0; way < 3; way++) {
		b = start;
		/* Byte by byte; in two parts; in pieces of that size. */
		CHECK(decode(&b, in, way == 0 ? 1 : cut % (in.len + 1),
			  way == 0   ? 1
			  : way == 1 ? in.len
				     : cut % 16 + 1,
			  out2, &nb) == used);
		CHECK(nb == na && memcmp(out, out2, na) == 0);
		CHECK(a.done == b.done && a.reason == b.reason);
	}
	CHECK((http1_body_eof(&a) == HTTP1_OK) == a.done);
	free(out);
	free(out2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct span in;

	if (len < 3 || len > HTTP1_MAX_HEAD + 64)
		return 0;
	in = span_of(p + 2, len - 2);
	switch (p[0] % 4) {
	case 0:
		fuzz_head(in, p[1], true);
		break;
	case 1:
		fuzz_head(in, p[1], false);
		break;
	case 2:
		fuzz_body(in, p[1], false);
		break;
	default:
		fuzz_body(in, p[1], true);
		break;
	}
	return 0;
}
