/* SPDX-License-Identifier: ISC */
/*
 * The parts of an HTTP/1.1 request that are addressed to the hop that reads it:
 * the host, and whether the connection stays open.  Everything else of that
 * kind is refused rather than dropped, so that no two readers can disagree.
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

/* The only values of Connection that a WebSocket request may have. */
static bool
hop_upgrades(struct span value)
{
	return span_ieq(value, SPAN("upgrade")) ||
	       span_ieq(value, SPAN("keep-alive, upgrade"));
}

/*
 * Check a header that concerns this hop.  Bits of `*seen`: 1 for Host, 2 for
 * Connection.
 */
static const char *
hop_header(const struct http1_header *x, struct span host, unsigned *seen,
    struct http1_hop *hop)
{
	if (named(x, SPAN("host"))) {
		if ((*seen & 1) != 0)
			return "Host given twice";
		*seen |= 1;
		if (!host_equal(x->value, host))
			return "Host is not the host of this connection";
	} else if (named(x, SPAN("connection"))) {
		if ((*seen & 2) != 0)
			return "Connection given twice";
		*seen |= 2;
		hop->close = span_ieq(x->value, SPAN("close"));
		if (hop->websocket ? !hop_upgrades(x->value)
				   : !hop->close && !span_ieq(x->value,
							SPAN("keep-alive")))
			return "Connection other than close or keep-alive";
	} else if (named(x, SPAN("te"))) {
		return "TE header";
	} else if (named(x, SPAN("keep-alive"))) {
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
	if (hop->websocket && (seen & 2) == 0)
		return "WebSocket without Connection: Upgrade";
	return (seen & 1) != 0 ? NULL : "no Host header";
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
