/* SPDX-License-Identifier: ISC */
/*
 * The parts of an HTTP/1.1 request that are addressed to the hop that reads it:
 * the host, and whether the connection stays open.  What else clients say to a
 * hop by habit (Keep-Alive, TE, and Connection: TE) is read strictly and ends
 * here; everything else of that kind is refused, so that no two readers can
 * disagree.
 */
#include "common/http/http1.h"

static const char *
hop_fail(struct http1_hop *hop, unsigned error, const char *reason)
{
	hop->error = error;
	return reason;
}

static bool
host_equal(struct span value, struct span host)
{
	if (value.len == host.len + 4 &&
	    memcmp(value.p + host.len, ":443", 4) == 0)
		value.len = host.len;
	return span_ieq(value, host);
}

static const char *
hop_expect(const struct http1_header *x, const struct http1_body *b,
    struct http1_hop *hop)
{
	if (!span_ieq(x->value, SPAN("100-continue")))
		return hop_fail(hop, 417, "Expect other than 100-continue");
	if (hop->expect)
		return hop_fail(hop, 417, "Expect given twice");
	if (b->done)
		return hop_fail(hop, 417, "Expect without a body");
	hop->expect = true;
	return NULL;
}

/* Compare lengths first: they differ most of the time. */
static bool
named(const struct http1_header *x, struct span name)
{
	return x->name.len == name.len && span_ieq(x->name, name);
}

/* Bits of `seen`: headers, and what the value of Connection has listed. */
enum {
	SEEN_HOST = 1,
	SEEN_CONNECTION = 2,
	SEEN_TE = 4,
	SEEN_KEEP_ALIVE = 8,
	LISTS_CLOSE = 16,
	LISTS_KEEP_ALIVE = 32,
	LISTS_TE = 64,
	LISTS_UPGRADE = 128
};

static bool
blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/*
 * Take the next item of a list with commas, without the white space around it.
 * Returns false at the end; an empty list has one empty item.
 */
static bool
list_next(struct span *rest, struct span *item)
{
	const uint8_t *comma;

	if (rest->p == NULL)
		return false;
	*item = *rest;
	comma = rest->len == 0 ? NULL : memchr(rest->p, ',', rest->len);
	if (comma != NULL) {
		item->len = (size_t)(comma - rest->p);
		*rest = span_of(comma + 1, rest->len - item->len - 1);
	} else {
		*rest = span_of(NULL, 0);
	}
	while (item->len != 0 && blank(item->p[0]))
		*item = span_of(item->p + 1, item->len - 1);
	while (item->len != 0 && blank(item->p[item->len - 1]))
		item->len--;
	return true;
}

/* Read Connection: each of the words that it may have, at most once. */
static bool
hop_connection(struct span value, bool websocket, unsigned *seen)
{
	unsigned bit;
	struct span item;

	if (value.len == 0)
		return false;
	while (list_next(&value, &item)) {
		if (!websocket && span_ieq(item, SPAN("close")))
			bit = LISTS_CLOSE;
		else if (span_ieq(item, SPAN("keep-alive")))
			bit = LISTS_KEEP_ALIVE;
		else if (!websocket && span_ieq(item, SPAN("te")))
			bit = LISTS_TE;
		else if (websocket && span_ieq(item, SPAN("upgrade")))
			bit = LISTS_UPGRADE;
		else
			return false;
		if ((*seen & bit) != 0)
			return false;
		*seen |= bit;
	}
	return (*seen & (LISTS_CLOSE | LISTS_KEEP_ALIVE)) !=
	       (LISTS_CLOSE | LISTS_KEEP_ALIVE);
}

/*
 * Returns true if TE asks for what a client may ask for (RFC 9110 10.1.4).  No
 * answer of ours has a coding of its transfer other than chunked, or trailers,
 * so that nothing depends on it.
 */
static bool
hop_te(struct span value)
{
	static const char *const codings[] = {
	    "trailers", "gzip", "x-gzip", "deflate", "compress", "x-compress"};
	const uint8_t *weight;
	struct span item;
	bool known;

	if (value.len == 0)
		return true;
	while (list_next(&value, &item)) {
		weight = item.len == 0 ? NULL : memchr(item.p, ';', item.len);
		if (weight != NULL)
			item.len = (size_t)(weight - item.p);
		while (item.len != 0 && blank(item.p[item.len - 1]))
			item.len--;
		known = false;
		for (unsigned i = 0; i < sizeof(codings) / sizeof(codings[0]);
		     i++)
			known |= span_ieq(item, span_str(codings[i]));
		if (!known)
			return false;
	}
	return true;
}

/* Returns true for parameters, such as "30" or "timeout=5, max=100". */
static bool
hop_keep_alive(struct span value)
{
	struct span item;

	if (value.len == 0)
		return false;
	while (list_next(&value, &item)) {
		if (item.len == 0)
			return false;
		for (size_t i = 0; i < item.len; i++) {
			uint8_t c = item.p[i];

			if ((c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
			    (c < 'a' || c > 'z') && c != '=' && c != '-')
				return false;
		}
	}
	return true;
}

/* Check a header that concerns this hop. */
static const char *
hop_header(const struct http1_header *x, struct span host, unsigned *seen,
    struct http1_hop *hop)
{
	unsigned before = *seen;

	if (named(x, SPAN("host"))) {
		if ((before & SEEN_HOST) != 0)
			return "Host given twice";
		*seen |= SEEN_HOST;
		if (!host_equal(x->value, host))
			return "Host is not the host of this connection";
	} else if (named(x, SPAN("connection"))) {
		if ((before & SEEN_CONNECTION) != 0)
			return "Connection given twice";
		*seen |= SEEN_CONNECTION;
		if (!hop_connection(x->value, hop->websocket, seen))
			return "Connection other than close or keep-alive";
	} else if (named(x, SPAN("te"))) {
		*seen |= SEEN_TE;
		if ((before & SEEN_TE) != 0 || !hop_te(x->value))
			return "TE header";
	} else if (named(x, SPAN("keep-alive"))) {
		*seen |= SEEN_KEEP_ALIVE;
		if ((before & SEEN_KEEP_ALIVE) != 0 ||
		    !hop_keep_alive(x->value))
			return "Keep-Alive header";
	} else if (named(x, SPAN("http2-settings"))) {
		return "HTTP2-Settings header";
	}
	return NULL;
}

static const char *
hop_check(const struct http1_head *h, const struct http1_body *b,
    struct span host, struct http1_hop *hop)
{
	const char *reason;
	struct span value;
	unsigned seen = 0;

	if (span_is(h->method, "CONNECT") || span_is(h->method, "TRACE") ||
	    span_is(h->method, "TRACK"))
		return hop_fail(hop, 405, "method is never served");
	if (h->target.len == 0 || h->target.p[0] != '/')
		return "target is not in origin form";
	if (!hop->websocket && http1_header(h, "upgrade", &value) != 0)
		return hop_fail(hop, 426, "Upgrade header");
	for (unsigned i = 0; i < h->nheaders; i++) {
		const struct http1_header *x = &h->headers[i];

		if (named(x, SPAN("expect")))
			reason = hop_expect(x, b, hop);
		else
			reason = hop_header(x, host, &seen, hop);
		if (reason != NULL)
			return reason;
	}
	if (hop->websocket && (seen & LISTS_UPGRADE) == 0)
		return "WebSocket without Connection: Upgrade";
	if ((seen & LISTS_TE) != 0 && (seen & SEEN_TE) == 0)
		return "Connection other than close or keep-alive";
	hop->close = (seen & LISTS_CLOSE) != 0;
	return (seen & SEEN_HOST) != 0 ? NULL : "no Host header";
}

bool
http1_is_websocket(const struct http1_head *h)
{
	struct span value;

	return span_is(h->method, "GET") &&
	       http1_header(h, "upgrade", &value) == 1 &&
	       span_ieq(value, SPAN("websocket"));
}

enum http1_result
http1_request_hop(const struct http1_head *h, const struct http1_body *b,
    struct span host, bool websocket, struct http1_hop *hop)
{
	memset(hop, 0, sizeof(*hop));
	hop->websocket = websocket;
	hop->error = 400;
	hop->reason = hop_check(h, b, host, hop);
	if (hop->reason != NULL)
		return HTTP1_BAD;
	hop->error = 0;
	return HTTP1_OK;
}
