/* SPDX-License-Identifier: ISC */
#include "workers/termd/termd_offer.h"

#include <string.h>

#include "common/hidden.h"
#include "common/http/base64.h"
#include "common/json/text.h"
#include "common/net/link.h"

#define OFFER_COPY SPAN("52;")
#define OFFER_LINK SPAN("7770;")

bool
offer_begins(struct span s)
{
	return span_starts(s, OFFER_COPY) || span_starts(s, OFFER_LINK);
}

/*
 * Add the text without what a person would not see, and, unless `joiners`,
 * without what only emoji and some scripts need. Returns false if it is no text.
 */
static bool
offer_add(struct buf *to, struct span s, bool joiners)
{
	const uint8_t *end = s.p + s.len;
	size_t len;
	uint32_t c;

	for (const uint8_t *p = s.p; p < end; p += len) {
		if ((len = text_utf8_len(p, end)) == 0)
			return false;
		c = text_utf8_code(p, len);
		if (c == '\n' || c == '\t' ||
		    (c >= 0x20 && c != 0x7f && !hidden_code(c) &&
			(joiners || !hidden_alone(c))))
			buf_add(to, p, len);
	}
	return buf_check(to) == 0;
}

/* A viewer refuses a text with a joiner where it joins nothing. */
static bool
offer_text(struct buf *to, struct span s)
{
	if (!offer_add(to, s, true))
		return false;
	if (!hidden_in(buf_span(to)))
		return true;
	buf_reset(to, 0);
	return offer_add(to, s, false);
}

static bool
offer_copy(struct span s, struct buf *to)
{
	const uint8_t *semi = s.len == 0 ? NULL : memchr(s.p, ';', s.len);
	static uint8_t bytes[OFFER_MAX_STRING];
	ssize_t n;

	if (semi == NULL)
		return false;
	s = span_of(semi + 1, (size_t)(s.p + s.len - (semi + 1)));
	if (s.len > sizeof(bytes) || (n = base64_take(bytes, s)) <= 0 ||
	    n > (ssize_t)PROTO_MAX_OFFER)
		return false;
	return offer_text(to, span_of(bytes, (size_t)n));
}

bool
offer_take(struct span osc, enum proto_offer *kind, struct buf *text)
{
	struct span rest;

	if (span_starts(osc, OFFER_COPY)) {
		*kind = PROTO_OFFER_COPY;
		rest = OFFER_COPY;
		rest = span_of(osc.p + rest.len, osc.len - rest.len);
		return offer_copy(rest, text) && text->len != 0;
	}
	if (!span_starts(osc, OFFER_LINK))
		return false;
	*kind = PROTO_OFFER_LINK;
	rest = OFFER_LINK;
	rest = span_of(osc.p + rest.len, osc.len - rest.len);
	if (!link_ok(rest))
		return false;
	buf_addspan(text, rest);
	return buf_check(text) == 0;
}
