/* SPDX-License-Identifier: ISC */
/*
 * Reads dates by arithmetic alone: no locale and no file of time zones, which a
 * confined worker could not open. The text is a peer's.
 */
#include "common/http/date.h"

#include "common/json/text.h"

#define DAY 86400

/* Take exactly `n` digits off the front, then `after` unless it is 0. */
static int
date_field(struct span *s, size_t n, uint8_t after, int lo, int hi)
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
date_days(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of = y % 400;
	int64_t m = month > 2 ? month - 3 : month + 9;

	return era * 146097 + of * 365 + of / 4 - of / 100 + (153 * m + 2) / 5 +
	       day - 1 - 719468;
}

static int
date_month_days(int year, int month)
{
	static const int days[] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && leap ? 29 : days[month - 1];
}

/* Read a final Z or +hh:mm into seconds to subtract. */
static int
date_zone(struct span s, int64_t *out)
{
	int h, m, sign;

	*out = 0;
	if (span_is(s, "Z") || span_is(s, "z"))
		return 0;
	if (s.len != 6 || (s.p[0] != '+' && s.p[0] != '-'))
		return -1;
	sign = s.p[0] == '-' ? -1 : 1;
	s = span_of(s.p + 1, s.len - 1);
	if ((h = date_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = date_field(&s, 2, 0, 0, 59)) == -1)
		return -1;
	*out = (int64_t)sign * (h * 3600 + m * 60);
	return 0;
}

int
date_rfc3339(struct span s, int64_t *out)
{
	int year, month, day, h, m, sec;
	int64_t zone;
	size_t n = 0;

	if ((year = date_field(&s, 4, '-', 1970, 9999)) == -1 ||
	    (month = date_field(&s, 2, '-', 1, 12)) == -1 ||
	    (day = date_field(&s, 2, 'T', 1, date_month_days(year, month))) ==
		-1 ||
	    (h = date_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = date_field(&s, 2, ':', 0, 59)) == -1 ||
	    (sec = date_field(&s, 2, 0, 0, 60)) == -1)
		return -1;
	if (s.len != 0 && s.p[0] == '.') {
		while (n + 1 < s.len && text_is_digit(s.p[n + 1]))
			n++;
		if (n == 0 || n > 9)
			return -1;
		s = span_of(s.p + n + 1, s.len - n - 1);
	}
	if (date_zone(s, &zone) == -1)
		return -1;
	*out =
	    date_days(year, month, day) * DAY + h * 3600 + m * 60 + sec - zone;
	return 0;
}

int
date_http(struct span s, int64_t *out)
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
	    mon.p[3] != ' ' || (day = date_field(&s, 2, ' ', 1, 31)) == -1)
		return -1;
	s = span_of(s.p + 4, s.len - 4);
	if ((year = date_field(&s, 4, ' ', 2015, 9999)) == -1 ||
	    day > date_month_days(year, month + 1) ||
	    (h = date_field(&s, 2, ':', 0, 23)) == -1 ||
	    (m = date_field(&s, 2, ':', 0, 59)) == -1 ||
	    (sec = date_field(&s, 2, ' ', 0, 60)) == -1 || !span_is(s, "GMT"))
		return -1;
	date = date_days(year, month + 1, day);
	/* 1 January 1970 was a Thursday. */
	if (!span_eq(wday, span_of(days + 3 * ((date + 4) % 7), 3)))
		return -1;
	*out = date * DAY + h * 3600 + m * 60 + sec;
	return 0;
}
