/* SPDX-License-Identifier: ISC */
/*
 * Retry-After (RFC 9110 section 10.2.3) decides. Without one, the limits that
 * are used up do, by the headers of the providers:
 *
 * Anthropic (platform.claude.com/docs/en/api/rate-limits):
 * anthropic-ratelimit-KIND-remaining is a number and -reset a time of RFC 3339;
 * with a subscription, anthropic-ratelimit-unified-reset is in seconds since
 * 1970, and -status begins with "allowed" unless that limit is the reason.
 *
 * OpenAI (platform.openai.com/docs/guides/rate-limits): x-ratelimit-remaining-
 * KIND is a number and x-ratelimit-reset-KIND a duration like 6m0s or 250ms.
 *
 * If several limits are used up, the one that lasts longest counts. Values that
 * cannot be read, or that are given twice, count as absent.
 */
#include "keyd/retry.h"

#include "common/http/date.h"
#include "common/json/text.h"

enum retry_form {
	RETRY_RFC3339,
	RETRY_EPOCH,
	RETRY_DURATION,
};

/* clang-format off */
static const struct {
	const char *remaining, *reset;
	enum retry_form form;
} retry_limits[] = {
#define A "anthropic-ratelimit-"
	{A "requests-remaining",	A "requests-reset",	RETRY_RFC3339},
	{A "tokens-remaining",		A "tokens-reset",	RETRY_RFC3339},
	{A "input-tokens-remaining",	A "input-tokens-reset",	RETRY_RFC3339},
	{A "output-tokens-remaining",	A "output-tokens-reset", RETRY_RFC3339},
	/* It has no number of what remains. */
	{NULL,				A "unified-reset",	RETRY_EPOCH},
#undef A
#define X "x-ratelimit-"
	{X "remaining-requests",	X "reset-requests",	RETRY_DURATION},
	{X "remaining-tokens",		X "reset-tokens",	RETRY_DURATION},
#undef X
};
/* clang-format on */

/* Turn a time into seconds from `now`. Returns -1 if it is too far ahead. */
static int64_t
retry_until(int64_t when, int64_t now)
{
	if (when <= now)
		return 0;
	return when - now > (int64_t)RETRY_MAX ? -1 : when - now;
}

/* Take a number of at most 9 digits off the front. Returns false if none. */
static bool
retry_number(struct span *s, int64_t *out)
{
	size_t n = 0;

	*out = 0;
	while (n < s->len && n < 10 && text_is_digit(s->p[n]))
		*out = *out * 10 + (s->p[n++] - '0');
	*s = span_of(s->p + n, s->len - n);
	return n != 0 && n < 10;
}

/* Take a unit off the front. Returns its milliseconds, or 0 if none. */
static int64_t
retry_unit(struct span *s)
{
	/* "ms" comes before the "m" that it begins with. */
	static const struct {
		struct span name;
		int64_t ms;
	} units[] = {{{(const uint8_t *)"ms", 2}, 1},
	    {{(const uint8_t *)"s", 1}, 1000},
	    {{(const uint8_t *)"m", 1}, 60000},
	    {{(const uint8_t *)"h", 1}, 3600000},
	    {{(const uint8_t *)"d", 1}, 86400000}};

	for (size_t i = 0; i < nitems(units); i++) {
		if (!span_starts(*s, units[i].name))
			continue;
		*s = span_of(s->p + units[i].name.len,
		    s->len - units[i].name.len);
		return units[i].ms;
	}
	return 0;
}

/*
 * Read 6m0s, 1s, 7.66s or 250ms. Returns the seconds, rounded up, or -1: each
 * unit is smaller than the one before it.
 */
static int64_t
retry_duration(struct span s)
{
	int64_t ms = 0, n, unit, last = INT64_MAX, part;
	bool fraction;

	while (s.len != 0) {
		part = 0;
		if (!retry_number(&s, &n))
			return -1;
		fraction = s.len != 0 && s.p[0] == '.';
		if (fraction) {
			s = span_of(s.p + 1, s.len - 1);
			if (!retry_number(&s, &part))
				return -1;
		}
		if ((unit = retry_unit(&s)) == 0 || unit >= last)
			return -1;
		/* Whatever the fraction is, the next whole unit is later. */
		ms += (n + (part != 0)) * unit;
		last = unit;
		if (fraction && s.len != 0)
			return -1;
	}
	if (last == INT64_MAX || ms > (int64_t)RETRY_MAX * 1000)
		return -1;
	return (ms + 999) / 1000;
}

/* Read one value. Returns the seconds from `now`, or -1. */
static int64_t
retry_read(enum retry_form form, struct span s, int64_t now)
{
	uint64_t epoch;
	int64_t when;

	switch (form) {
	case RETRY_RFC3339:
		return date_rfc3339(s, &when) == 0 ? retry_until(when, now)
						   : -1;
	case RETRY_EPOCH:
		return span_u64(s, INT64_MAX, &epoch) == 0
			   ? retry_until((int64_t)epoch, now)
			   : -1;
	case RETRY_DURATION:
		return retry_duration(s);
	}
	return -1;
}

/* Returns the seconds that Retry-After names, or -1. */
static int64_t
retry_after(const struct http1_head *h, int64_t now)
{
	uint64_t seconds;
	struct span s;
	int64_t when;

	if (http1_header(h, "retry-after", &s) != 1)
		return -1;
	if (span_u64(s, RETRY_MAX, &seconds) == 0)
		return (int64_t)seconds;
	return date_http(s, &when) == 0 ? retry_until(when, now) : -1;
}

/* Returns true if the limit in that row of the table is used up. */
static bool
retry_is_spent(const struct http1_head *h, size_t row)
{
	struct span s;

	if (retry_limits[row].remaining != NULL)
		return http1_header(h, retry_limits[row].remaining, &s) == 1 &&
		       span_is(s, "0");
	return http1_header(
		   h, "anthropic-ratelimit-unified-status", &s) != 1 ||
	       !span_starts(s, SPAN("allowed"));
}

uint32_t
retry_seconds(const struct http1_head *h, int64_t now)
{
	int64_t when, longest = 0;
	struct span s;

	if (http1_header(h, "date", &s) == 1 && date_http(s, &when) == 0)
		now = when;
	if ((when = retry_after(h, now)) != -1)
		return (uint32_t)when;
	for (size_t i = 0; i < nitems(retry_limits); i++) {
		if (http1_header(h, retry_limits[i].reset, &s) != 1 ||
		    !retry_is_spent(h, i))
			continue;
		when = retry_read(retry_limits[i].form, s, now);
		if (when > longest)
			longest = when;
	}
	return (uint32_t)longest;
}
