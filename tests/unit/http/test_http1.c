/* SPDX-License-Identifier: ISC */
/*
 * The HTTP/1.1 head parsers against tables of inputs and exact results.  Every
 * input is given whole, cut at every place, and byte by byte; each piece is in
 * memory of its exact size, so that a sanitizer detects a read past its end.
 */
#include "common/http/http1.h"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

#include "unit/http/rows.h"

#include "unit/http/requests.h"
#include "unit/http/responses.h"

enum side {
	REQUEST,
	RESPONSE
};

static struct http1_head head;

static void
describe_body(const struct http1_body *b, char *out, size_t cap)
{
	static const char *const names[] = {
	    [HTTP1_NONE] = "none",
	    [HTTP1_LENGTH] = "length ",
	    [HTTP1_CHUNKED] = "chunked",
	    [HTTP1_CLOSE] = "close",
	};
	size_t n = strlen(out);

	if (b->framing == HTTP1_LENGTH)
		snprintf(out + n, cap - n, ", length %llu",
		    (unsigned long long)b->length);
	else
		snprintf(out + n, cap - n, ", %s", names[b->framing]);
}

static void
describe_request(char *out, size_t cap)
{
	struct http1_body body;
	struct http1_hop hop;
	size_t n;

	if (http1_request_body(&head, &body) != HTTP1_OK) {
		snprintf(out, cap, "body: %s", body.reason);
		return;
	}
	if (http1_request_hop(&head, &body, SPAN("h.co"), false, &hop) != HTTP1_OK) {
		snprintf(out, cap, "hop %u: %s", hop.error, hop.reason);
		return;
	}
	snprintf(out, cap, "%.*s %.*s %u headers", (int)head.method.len,
	    (const char *)head.method.p, (int)head.target.len,
	    (const char *)head.target.p, head.nheaders);
	describe_body(&body, out, cap);
	n = strlen(out);
	snprintf(out + n, cap - n, "%s%s", hop.close ? ", close" : "",
	    hop.expect ? ", expect" : "");
}

static void
describe_response(bool nobody, char *out, size_t cap)
{
	struct http1_body body;

	if (http1_response_body(&head, nobody, &body) != HTTP1_OK) {
		snprintf(out, cap, "body: %s", body.reason);
		return;
	}
	snprintf(out, cap, "%u %u headers", head.status, head.nheaders);
	describe_body(&body, out, cap);
}

/* Parse a head; if `seen` is NULL, with the plain parser. */
static enum http1_result
read_head(enum side side, struct span in, size_t *seen)
{
	if (side == REQUEST)
		return seen == NULL ? http1_request(in, &head)
				    : http1_request_more(in, seen, &head);
	return seen == NULL ? http1_response(in, &head)
			    : http1_response_more(in, seen, &head);
}

static void
describe(enum side side, const struct row *row, struct span in, size_t *seen,
    char *out, size_t cap)
{
	switch (read_head(side, in, seen)) {
	case HTTP1_MORE:
		snprintf(out, cap, "more");
		return;
	case HTTP1_BAD:
		snprintf(out, cap, "head: %s", head.reason);
		return;
	case HTTP1_OK:
		break;
	}
	if (head.size > in.len)
		snprintf(out, cap, "size beyond the input");
	else if (side == REQUEST)
		describe_request(out, cap);
	else
		describe_response(row->kind == 'N', out, cap);
}

/*
 * Returns true if every prefix gives "more" or the final result, and growing
 * input ends the same.
 */
static bool
prefixes_agree(enum side side, const struct row *row, char *got, size_t cap)
{
	size_t seen = 0;
	bool ended = false;
	uint8_t *copy;

	for (size_t n = 0; n <= row->len; n++) {
		copy = exact(row->text, n);
		describe(side, row, span_of(copy, n), NULL, got, cap);
		if (strcmp(got, "more") == 0 && ended)
			snprintf(got, cap, "more, after an end, at %zu", n);
		ended = strcmp(got, "more") != 0;
		if (ended && strcmp(got, row->want) != 0) {
			free(copy);
			return false;
		}
		describe(side, row, span_of(copy, n), &seen, got, cap);
		free(copy);
		if (strcmp(got, "more") != 0 && strcmp(got, row->want) != 0)
			return false;
	}
	/* Growing input may report an error only when its line is complete. */
	seen = 0;
	copy = exact(row->text, row->len);
	describe(side, row, span_of(copy, row->len), &seen, got, cap);
	free(copy);
	return strcmp(got, row->want) == 0;
}

static void
test_heads(enum side side, const struct row *rows, size_t n)
{
	char got[512];
	uint8_t *copy;

	for (size_t i = 0; i < n; i++) {
		copy = exact(rows[i].text, rows[i].len);
		describe(side, &rows[i], span_of(copy, rows[i].len), NULL, got,
		    sizeof(got));
		free(copy);
		is_str(got, rows[i].want, "%s %zu: %s",
		    side == REQUEST ? "request" : "response", i, rows[i].want);
		if (!prefixes_agree(side, &rows[i], got, sizeof(got)))
			is_str(got, rows[i].want, "row %zu, in pieces", i);
	}
}

/*
 * Returns true if the standard allows the byte there; independent of the
 * parser's table.
 */
static bool
may_stand(char where, unsigned c)
{
	bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
	bool digit = c >= '0' && c <= '9';

	switch (where) {
	case 'm':
		return (c >= 'A' && c <= 'Z') || c == '-';
	case 'n':
		return alpha || digit ||
		       (c != 0 && strchr("!#$%&'*+-.^_`|~", (int)c) != NULL);
	case 't':
		return c > 0x20 && c < 0x7f;
	default:
		return c == '\t' || (c >= 0x20 && c != 0x7f);
	}
}

static void
test_bytes(void)
{
	static const struct {
		char where;
		const char *format, *name;
		enum side side;
	} places[] = {
	    {'m', "A%cA / HTTP/1.1\r\n\r\n", "method", REQUEST},
	    {'t', "GET /%ca HTTP/1.1\r\n\r\n", "target", REQUEST},
	    {'n', "GET / HTTP/1.1\r\nA%cA: b\r\n\r\n", "name", REQUEST},
	    {'v', "GET / HTTP/1.1\r\nA: b%cc\r\n\r\n", "value", REQUEST},
	    {'v', "HTTP/1.1 200 a%cb\r\n\r\n", "reason phrase", RESPONSE},
	};
	char text[128], *hole;

	for (size_t i = 0; i < COUNT(places); i++) {
		unsigned wrong = 0;

		for (unsigned c = 0; c < 256; c++) {
			bool want = may_stand(places[i].where, c);
			size_t len = strlen(places[i].format) - 1;

			/* A space or a colon ends that part of the line. */
			if ((c == ' ' && places[i].where != 'v') ||
			    (c == ':' && places[i].where == 'n'))
				continue;
			hole = strchr(places[i].format, '%');
			memcpy(text, places[i].format,
			    (size_t)(hole - places[i].format));
			text[hole - places[i].format] = (char)c;
			memcpy(text + (hole - places[i].format) + 1, hole + 2,
			    strlen(hole + 2));
			if ((read_head(places[i].side, span_of(text, len),
				 NULL) == HTTP1_OK) != want)
				wrong++;
		}
		is_int(wrong, 0, "every byte in a %s", places[i].name);
	}
}

static void
test_limits(void)
{
	static char big[HTTP1_MAX_HEAD + 8];
	static const char line[] = "GET / HTTP/1.1\r\n";
	char *p;

	p = stpcpy(big, line);
	for (unsigned i = 0; i < HTTP1_MAX_HEADERS; i++)
		p = stpcpy(p, "a: b\r\n");
	strcpy(p, "\r\n");
	is_int(http1_request(span_str(big), &head), HTTP1_OK, "100 headers");
	is_int(head.nheaders, 100, "all are there");
	strcpy(p, "a: b\r\n\r\n");
	is_int(http1_request(span_str(big), &head), HTTP1_BAD, "101 headers");
	is_str(head.reason, "more than 100 headers", "says so");

	memset(big, 'a', sizeof(big));
	memcpy(big, "GET /", 5);
	memcpy(big + 4 + HTTP1_MAX_TARGET, " HTTP/1.1\r\n\r\n", 13);
	is_int(http1_request(span_of(big, 4 + HTTP1_MAX_TARGET + 13), &head),
	    HTTP1_OK, "a target of 8192 bytes");
	big[4 + HTTP1_MAX_TARGET] = 'a';
	is_int(http1_request(span_of(big, 4 + HTTP1_MAX_TARGET), &head),
	    HTTP1_MORE, "8192 bytes, no end yet");
	is_int(http1_request(span_of(big, 4 + HTTP1_MAX_TARGET + 1), &head),
	    HTTP1_BAD, "a target of 8193 bytes");
	is_str(head.reason, "target is too long", "says so");

	memset(big, 'a', sizeof(big));
	memcpy(big, line, sizeof(line) - 1);
	big[sizeof(line)] = ':';
	memcpy(big + HTTP1_MAX_HEAD - 4, "\r\n\r\n", 4);
	is_int(http1_request(span_of(big, sizeof(big)), &head), HTTP1_OK,
	    "a head of 64 KiB");
	is_int(head.size, HTTP1_MAX_HEAD, "has that size");
	is_int(http1_request(span_of(big, HTTP1_MAX_HEAD - 1), &head),
	    HTTP1_MORE, "64 KiB less one");
	memcpy(big + HTTP1_MAX_HEAD - 4, "a\r\n\r\n", 5);
	is_int(http1_request(span_of(big, sizeof(big)), &head), HTTP1_BAD,
	    "a head of 64 KiB and one");
	is_str(head.reason, "head is larger than 64 KiB", "says so");
	is_int(http1_request(span_of(big, HTTP1_MAX_HEAD), &head), HTTP1_BAD,
	    "64 KiB without an end");
}

static void
test_growing(void)
{
	static const char text[] = "GET / HTTP/1.1\r\nA: \x01 \r\n";
	size_t seen = 0;

	is_int(http1_request_more(span_of(text, 17), &seen, &head), HTTP1_MORE,
	    "inside a line");
	is_int(http1_request_more(span_of(text, 21), &seen, &head), HTTP1_MORE,
	    "does not look again inside the line");
	is_int(http1_request_more(span_of(text, 23), &seen, &head), HTTP1_BAD,
	    "looks when the line is complete");
	is_str(head.reason, "control character in header value", "says why");
	seen = 0;
	is_int(http1_request_more(span_of(text, 21), &seen, &head), HTTP1_BAD,
	    "the first look sees all there is");
}

static void
test_header(void)
{
	struct span value = SPAN("unchanged");

	(void)http1_request(SPAN("GET / HTTP/1.1\r\nAb: 1\r\nCd: 2\r\n"
				 "aB: 3\r\n\r\n"),
	    &head);
	is_int(http1_header(&head, "cD", &value), 1, "one");
	is_mem(value.p, value.len, "2", 1, "its value");
	is_int(http1_header(&head, "ef", &value), 0, "none");
	is_mem(value.p, value.len, "2", 1, "output unchanged");
	is_int(http1_header(&head, "AB", &value), -1, "two");
	is_int(http1_header(&head, "", &value), 0, "no name");
}

int
main(void)
{
	test_heads(REQUEST, requests, COUNT(requests));
	test_heads(RESPONSE, responses, COUNT(responses));
	test_bytes();
	test_limits();
	test_growing();
	test_header();
	return tap_done();
}
