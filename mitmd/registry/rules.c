/* SPDX-License-Identifier: ISC */
/*
 * The lists and the quarantine. Keeps no state; names and times come from the
 * agent and the registry, patterns from the user.
 */
#include "registry/rules.h"

#include <stdio.h>

#include "common/json/text.h"

#define DAY 86400

bool
registry_glob_ok(struct span s)
{
	if (s.len == 0 || s.len > 256)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e)
			return false;
	}
	return true;
}

/*
 * Returns the byte at `*i`, normalised as by this registry, and advances `*i`.
 */
static uint8_t
glob_byte(enum registry r, struct span s, size_t *i)
{
	uint8_t c = s.p[(*i)++];

	if (c >= 'A' && c <= 'Z')
		return (uint8_t)(c | 0x20);
	if (r == REGISTRY_CRATES && c == '_')
		return '-';
	if (r != REGISTRY_PYPI || (c != '-' && c != '_' && c != '.'))
		return c;
	while (
	    *i < s.len && (s.p[*i] == '-' || s.p[*i] == '_' || s.p[*i] == '.'))
		(*i)++;
	return '-';
}

bool
registry_glob(enum registry r, struct span pattern, struct span name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, from = 0, pn, nn;

	/* Going back to the latest star is enough. */
	while (n < name.len) {
		pn = p;
		nn = n;
		if (p < pattern.len && pattern.p[p] == '*') {
			star = ++p;
			from = n;
		} else if (p < pattern.len &&
			   (pattern.p[p] == '?'
				   ? (pn++, (void)glob_byte(r, name, &nn), true)
				   : glob_byte(r, pattern, &pn) ==
					 glob_byte(r, name, &nn))) {
			p = pn;
			n = nn;
		} else if (star != SIZE_MAX) {
			p = star;
			n = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.p[p] == '*')
		p++;
	return p == pattern.len;
}

/* Take exactly `n` digits off the front, then `after` unless it is 0. */
static int
time_field(struct span *s, size_t n, uint8_t after, int lo, int hi)
{
	int v = 0;

	if (s->len < n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!text_is_digit(s->p[i]))
			return -1;
		v = v * 10 + (s->p[i] - '0');
	}
	*s = span_of(s->p + n, s->len - n);
	if (v < lo || v > hi)
		return -1;
	if (after == 0)
		return v;
	if (s->len == 0 || s->p[0] != after)
		return -1;
	*s = span_of(s->p + 1, s->len - 1);
	return v;
}

/* Returns the days since 1970 of a Gregorian date. */
static int64_t
time_days(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of = y % 400;
	int64_t m = month > 2 ? month - 3 : month + 9;

	return era * 146097 + of * 365 + of / 4 - of / 100 + (153 * m + 2) / 5 +
	       day - 1 - 719468;
}

static int
time_month_days(int year, int month)
{
	static const int days[] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && leap ? 29 : days[month - 1];
}

/* Read a final Z or +hh:mm into seconds to subtract. */
static int
time_zone(struct span s, int64_t *out)
{
	int h, m, sign;

	*out = 0;
	if (span_is(s, "Z") || span_is(s, "z"))
		return 0;
	if (s.len != 6 || (s.p[0] != '+' && s.p[0] != '-'))
		return -1;
	sign = s.p[0] == '-' ? -1 : 1;
	s = span_of(s.p + 1, s.len - 1);
	if ((h = time_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = time_field(&s, 2, 0, 0, 59)) == -1)
		return -1;
	*out = (int64_t)sign * (h * 3600 + m * 60);
	return 0;
}

int
registry_time(struct span s, int64_t *out)
{
	int year, month, day, h, m, sec;
	int64_t zone;
	size_t n = 0;

	if ((year = time_field(&s, 4, '-', 1970, 9999)) == -1 ||
	    (month = time_field(&s, 2, '-', 1, 12)) == -1 ||
	    (day = time_field(&s, 2, 'T', 1, time_month_days(year, month))) ==
		-1 ||
	    (h = time_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = time_field(&s, 2, ':', 0, 59)) == -1 ||
	    (sec = time_field(&s, 2, 0, 0, 60)) == -1)
		return -1;
	if (s.len != 0 && s.p[0] == '.') {
		while (n + 1 < s.len && text_is_digit(s.p[n + 1]))
			n++;
		if (n == 0 || n > 9)
			return -1;
		s = span_of(s.p + n + 1, s.len - n - 1);
	}
	if (time_zone(s, &zone) == -1)
		return -1;
	*out =
	    time_days(year, month, day) * DAY + h * 3600 + m * 60 + sec - zone;
	return 0;
}

int
registry_http_time(struct span s, int64_t *out)
{
	static const char days[] = "SunMonTueWedThuFriSat",
			  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int year, month = 0, day, h, m, sec;
	struct span wday = s, mon;
	int64_t date;

	if (s.len != 29)
		return -1;
	wday.len = 3;
	mon = span_of(s.p + 8, 3);
	while (month < 12 && !span_eq(mon, span_of(months + 3 * month, 3)))
		month++;
	s = span_of(s.p + 5, s.len - 5);
	if (month == 12 || wday.p[3] != ',' || wday.p[4] != ' ' ||
	    mon.p[3] != ' ' || (day = time_field(&s, 2, ' ', 1, 31)) == -1)
		return -1;
	s = span_of(s.p + 4, s.len - 4);
	if ((year = time_field(&s, 4, ' ', 2015, 9999)) == -1 ||
	    day > time_month_days(year, month + 1) ||
	    (h = time_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = time_field(&s, 2, ':', 0, 59)) == -1 ||
	    (sec = time_field(&s, 2, ' ', 0, 60)) == -1 || !span_is(s, "GMT"))
		return -1;
	date = time_days(year, month + 1, day);
	/* 1 January 1970 was a Thursday. */
	if (!span_eq(wday, span_of(days + 3 * ((date + 4) % 7), 3)))
		return -1;
	*out = date * DAY + h * 3600 + m * 60 + sec;
	return 0;
}

static bool
rules_hit(const struct registry_rules *r, const struct span *globs, unsigned n,
    struct span package)
{
	for (unsigned i = 0; i < n; i++) {
		if (registry_glob(r->registry, globs[i], package))
			return true;
	}
	return false;
}

struct registry_verdict
registry_judge_name(const struct registry_rules *r, struct span package)
{
	struct registry_verdict v = {.reason = REGISTRY_GOOD};

	if (rules_hit(r, r->deny, r->ndeny, package))
		v.reason = REGISTRY_DENIED;
	else if (rules_hit(r, r->allow, r->nallow, package))
		v.reason = REGISTRY_ON_LIST;
	return v;
}

struct registry_verdict
registry_judge(const struct registry_rules *r, struct span package,
    int64_t published, int64_t now)
{
	struct registry_verdict v = registry_judge_name(r, package);
	int64_t age;

	if (v.reason != REGISTRY_GOOD || r->days == 0 ||
	    r->registry == REGISTRY_DEBIAN)
		return v;
	if (published == REGISTRY_NEVER) {
		v.reason = REGISTRY_UNTIMED;
		return v;
	}
	age = published < now ? (now - published) / DAY : 0;
	if (age < (int64_t)r->days) {
		v.reason = REGISTRY_YOUNG;
		v.days = (unsigned)age;
	}
	return v;
}

void
registry_reason(const struct registry_rules *r, struct registry_verdict v,
    const char *package, const char *version, char *dst, size_t cap)
{
	switch (v.reason) {
	case REGISTRY_GOOD:
		snprintf(dst, cap, "Old enough");
		return;
	case REGISTRY_ON_LIST:
		snprintf(
		    dst, cap, "Package \"%s\" is on the allow list", package);
		return;
	case REGISTRY_DENIED:
		snprintf(
		    dst, cap, "Package \"%s\" is on the deny list", package);
		return;
	case REGISTRY_UNTIMED:
		snprintf(dst, cap,
		    "No publish timestamp for \"%s\" (fail-closed)", package);
		return;
	case REGISTRY_YOUNG:
		snprintf(dst, cap,
		    "Version \"%s\" of \"%s\" is only %u day(s) old "
		    "(quarantine: %u days)",
		    version, package, v.days, r->days);
		return;
	case REGISTRY_UNLISTED:
		snprintf(dst, cap,
		    "Version \"%s\" of \"%s\" is not listed by the registry",
		    version, package);
		return;
	case REGISTRY_NO_INDEX:
		break;
	}
	snprintf(dst, cap,
	    "The registry's metadata of \"%s\" cannot be read (fail-closed)",
	    package);
}
