/* SPDX-License-Identifier: ISC */
/*
 * The HTTP/1.1 body parser against a table of chunked streams and their exact
 * results: given whole, cut at every place, and byte by byte.
 */
#include "common/http/http1.h"

#include <stdio.h>

#include "tap.h"
#include "unit/http/rows.h"

#include "unit/http/chunks.h"

/*
 * Feed one piece until it is used up, or the body ends; decoded bytes go to
 * `out`.
 */
static enum http1_result
feed(struct http1_body *b, const char *p, size_t len, char *out, size_t *n,
    size_t *total)
{
	uint8_t *copy = exact(p, len);
	enum http1_result r;
	struct span data;
	size_t at = 0, used;

	do {
		r = http1_body_next(
		    b, span_of(copy + at, len - at), &data, &used);
		memcpy(out + *n, data.p, data.len);
		*n += data.len;
		at += used;
	} while (r == HTTP1_OK && !b->done && used != 0);
	if (r == HTTP1_MORE && at != len)
		at = SIZE_MAX / 2;
	*total += at;
	free(copy);
	return r;
}

/* Feed pieces that end at `cut`, and then every `step` bytes. */
static void
run_chunks(
    const struct row *row, size_t cut, size_t step, char *out, size_t cap)
{
	struct http1_body b = {
	    .framing = HTTP1_CHUNKED, .response = row->kind == 'T'};
	enum http1_result r = HTTP1_MORE;
	size_t total = 0, n = 1;

	out[0] = '[';
	for (size_t at = 0, end = cut; at < row->len && r == HTTP1_MORE;
	     at = end, end += step) {
		if (end > row->len)
			end = row->len;
		r = feed(&b, row->text + at, end - at, out, &n, &total);
	}
	if (r == HTTP1_BAD && b.done)
		b.reason = "bad and done";
	snprintf(out + n, cap - n, "] %zu %s", total,
	    r == HTTP1_BAD ? b.reason
	    : b.done       ? "done"
			   : "more");
}

static void
test_chunks(void)
{
	char got[512];

	for (size_t i = 0; i < COUNT(chunks); i++) {
		const struct row *row = &chunks[i];

		run_chunks(row, row->len, 1, got, sizeof(got));
		is_str(got, row->want, "chunks %zu, %zu bytes", i, row->len);
		for (size_t cut = 0; cut <= row->len; cut++) {
			/* cut 0: byte by byte, else two pieces */
			run_chunks(row, cut, cut == 0 ? 1 : row->len, got,
			    sizeof(got));
			if (strcmp(got, row->want) != 0)
				is_str(got, row->want, "chunks %zu, cut at %zu",
				    i, cut);
		}
	}
}

static void
test_trailer_limit(void)
{
	struct http1_body b = {.framing = HTTP1_CHUNKED, .response = true};
	static char big[HTTP1_MAX_TRAILERS + 8];
	struct span data;
	size_t used;

	memset(big, 'a', sizeof(big));
	memcpy(big, "0\r\nA:", 5);
	is_int(http1_body_next(
		   &b, span_of(big, 3 + HTTP1_MAX_TRAILERS), &data, &used),
	    HTTP1_MORE, "8 KiB of trailers");
	is_int(http1_body_next(&b, span_of("a", 1), &data, &used), HTTP1_BAD,
	    "one byte more");
	is_str(b.reason, "trailers are larger than 8 KiB", "says so");
	is_int(http1_body_next(&b, span_of("\r", 1), &data, &used), HTTP1_BAD,
	    "stays bad");
}

static void
test_plain_bodies(void)
{
	struct http1_body b = {.framing = HTTP1_LENGTH, .length = 5};
	struct span data;
	size_t used;

	is_int(http1_body_next(&b, SPAN("abc"), &data, &used), HTTP1_MORE,
	    "three of five");
	is_int(used, 3, "all taken");
	is_int(http1_body_next(&b, SPAN(""), &data, &used), HTTP1_MORE,
	    "nothing of two");
	is_int(http1_body_next(&b, SPAN("defg"), &data, &used), HTTP1_OK,
	    "the rest");
	is_mem(data.p, data.len, "de", 2, "two bytes, not more");
	ok(b.done && used == 2, "done");
	is_int(http1_body_next(&b, SPAN("fg"), &data, &used), HTTP1_OK,
	    "afterwards");
	ok(used == 0 && data.len == 0, "takes nothing");
	is_int(http1_body_eof(&b), HTTP1_OK, "may end");

	b = (struct http1_body){.framing = HTTP1_LENGTH, .length = 1};
	is_int(http1_body_eof(&b), HTTP1_BAD, "a short body");
	is_str(b.reason, "connection closed inside a body", "says so");
	b = (struct http1_body){.framing = HTTP1_CHUNKED};
	(void)http1_body_next(&b, SPAN("0\r\n\r"), &data, &used);
	is_int(http1_body_eof(&b), HTTP1_BAD, "last LF missing");
	b = (struct http1_body){.framing = HTTP1_CLOSE};
	is_int(http1_body_next(&b, SPAN("abc"), &data, &used), HTTP1_MORE,
	    "until the end");
	is_int(data.len, 3, "is data");
	is_int(http1_body_eof(&b), HTTP1_OK, "the end completes it");
	ok(b.done, "and it is done");
}

int
main(void)
{
	test_chunks();
	test_trailer_limit();
	test_plain_bodies();
	return tap_done();
}
