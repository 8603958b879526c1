/* SPDX-License-Identifier: ISC */
/*
 * Reads the time at which a quota returns, as agents write it for people. The
 * text is the agent's: every number has a limit, and a time that is not within
 * a year after now counts as none.
 */
#include "files/adapter/errors.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define DAY 86400
#define YEAR ((int64_t)366 * DAY)

/* Skip spaces and, if `s` begins with it in any case, the word. */
static bool
reset_word(struct span *s, const char *word)
{
	struct span t = *s;
	size_t n = strlen(word);

	while (t.len != 0 && *t.p == ' ')
		t = span_of(t.p + 1, t.len - 1);
	if (t.len < n || strncasecmp((const char *)t.p, word, n) != 0)
		return false;
	*s = span_of(t.p + n, t.len - n);
	return true;
}

/* Take a number of at most `max` digits. Returns false if there is none. */
static bool
reset_number(struct span *s, unsigned max, int64_t *out)
{
	unsigned n = 0;
	int64_t v = 0;

	while (n < s->len && isdigit(s->p[n])) {
		if (n == max)
			return false;
		v = 10 * v + (s->p[n++] - '0');
	}
	if (n == 0)
		return false;
	*s = span_of(s->p + n, s->len - n);
	*out = v;
	return true;
}

static bool
reset_char(struct span *s, uint8_t c)
{
	if (s->len == 0 || *s->p != c)
		return false;
	*s = span_of(s->p + 1, s->len - 1);
	return true;
}

/* Read "2026-11-23T10:00:00[.123]Z". */
static bool
reset_date(struct span s, int64_t *when)
{
	int64_t year, month, day, hour, minute, second;
	struct tm tm;

	if (!reset_number(&s, 4, &year) || !reset_char(&s, '-') ||
	    !reset_number(&s, 2, &month) || !reset_char(&s, '-') ||
	    !reset_number(&s, 2, &day) ||
	    (!reset_char(&s, 'T') && !reset_char(&s, ' ')) ||
	    !reset_number(&s, 2, &hour) || !reset_char(&s, ':') ||
	    !reset_number(&s, 2, &minute) || !reset_char(&s, ':') ||
	    !reset_number(&s, 2, &second))
		return false;
	if (reset_char(&s, '.'))
		while (s.len != 0 && isdigit(*s.p))
			s = span_of(s.p + 1, s.len - 1);
	if (!reset_char(&s, 'Z') && !reset_word(&s, "UTC"))
		return false;
	memset(&tm, 0, sizeof(tm));
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	tm.tm_hour = (int)hour;
	tm.tm_min = (int)minute;
	tm.tm_sec = (int)second;
	*when = timegm(&tm);
	return true;
}

/* Read "2 days 17 hours 14 minutes", "21h38m16s" or "1 hour, 5 minutes". */
static bool
reset_duration(struct span s, int64_t now, int64_t *when)
{
	/* Longer words come before those that they begin with. */
	static const struct {
		const char *word;
		int64_t seconds;
	} units[] = {{"days", DAY}, {"day", DAY}, {"d", DAY}, {"hours", 3600},
	    {"hour", 3600}, {"hr", 3600}, {"h", 3600}, {"minutes", 60},
	    {"minute", 60}, {"min", 60}, {"ms", 0}, {"m", 60}, {"seconds", 1},
	    {"second", 1}, {"sec", 1}, {"s", 1}};
	int64_t total = 0, n;
	bool any = false;
	size_t i;

	for (;;) {
		(void)reset_word(&s, ",");
		(void)reset_word(&s, "and ");
		(void)reset_word(&s, "");
		if (!reset_number(&s, 6, &n))
			break;
		if (reset_char(&s, '.'))
			while (s.len != 0 && isdigit(*s.p))
				s = span_of(s.p + 1, s.len - 1);
		for (i = 0; i < nitems(units); i++)
			if (reset_word(&s, units[i].word))
				break;
		if (i == nitems(units))
			break;
		total += n * units[i].seconds;
		any = true;
	}
	*when = now + total;
	return any;
}

/* Read "Oct 9," and the like into `tm`. Returns true if it was there. */
static bool
reset_month(struct span *s, struct tm *tm)
{
	static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May",
	    "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct span t = *s, u;
	int64_t day, year;

	for (int i = 0; i < 12; i++) {
		if (!reset_word(&t, months[i]))
			continue;
		while (t.len != 0 && isalpha(*t.p))
			t = span_of(t.p + 1, t.len - 1);
		(void)reset_word(&t, "");
		if (!reset_number(&t, 2, &day))
			return false;
		(void)(reset_word(&t, "st") || reset_word(&t, "nd") ||
		       reset_word(&t, "rd") || reset_word(&t, "th"));
		(void)reset_word(&t, ",");
		u = t;
		(void)reset_word(&u, "");
		if (reset_number(&u, 4, &year) && year > 2000) {
			tm->tm_year = (int)year - 1900;
			t = u;
		}
		(void)reset_word(&t, ",");
		(void)reset_word(&t, "at ");
		tm->tm_mon = i;
		tm->tm_mday = (int)day;
		*s = t;
		return true;
	}
	return false;
}

/*
 * Read a zone. Returns false if there is one that is unknown: no time is better
 * than a wrong one.
 */
static bool
reset_zone(struct span s, int64_t *offset)
{
	bool named = reset_word(&s, "("), etc = reset_word(&s, "Etc/");
	int64_t hours, minutes = 0;
	bool minus;

	*offset = 0;
	if (!reset_word(&s, "UTC") && !reset_word(&s, "GMT"))
		return !named && !etc;
	if (s.len == 0 || (*s.p != '+' && *s.p != '-'))
		return true;
	/* Zones below Etc/ count westwards. */
	if (etc)
		return false;
	minus = *s.p == '-';
	s = span_of(s.p + 1, s.len - 1);
	if (!reset_number(&s, 2, &hours) || hours > 14 ||
	    (reset_char(&s, ':') && !reset_number(&s, 2, &minutes)))
		return false;
	*offset = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
	return true;
}

/* Read "3pm", "3:05 PM" or "22:57", perhaps with a date before and a zone. */
static bool
reset_clock(struct span s, int64_t now, int64_t *when)
{
	int64_t hour, minute = 0, offset;
	bool dated, half = false, colon;
	time_t t = (time_t)now;
	struct tm tm;

	if (gmtime_r(&t, &tm) == NULL)
		return false;
	dated = reset_month(&s, &tm);
	(void)reset_word(&s, "");
	if (!reset_number(&s, 2, &hour))
		return false;
	if ((colon = reset_char(&s, ':')) && !reset_number(&s, 2, &minute))
		return false;
	if (reset_word(&s, "am") || reset_word(&s, "a.m.")) {
		hour = hour == 12 ? 0 : hour;
		half = true;
	} else if (reset_word(&s, "pm") || reset_word(&s, "p.m.")) {
		hour = hour == 12 ? 12 : hour + 12;
		half = true;
	}
	if ((!half && !colon) || hour > 23 || minute > 59 ||
	    !reset_zone(s, &offset))
		return false;
	tm.tm_hour = (int)hour;
	tm.tm_min = (int)minute;
	tm.tm_sec = 0;
	*when = timegm(&tm) - offset;
	if (*when > now)
		return true;
	/* Without a date it is the next such time; with one, next year's. */
	if (!dated) {
		*when += DAY;
	} else {
		tm.tm_year++;
		*when = timegm(&tm) - offset;
	}
	return true;
}

int
reset_time(struct span text, int64_t now, int64_t *when)
{
	struct span s = text;
	int64_t t;

	(void)reset_word(&s, "");
	if (reset_number(&s, 10, &t) && t > 1000000000) {
		if (t <= now || t - now > YEAR)
			return -1;
		*when = t;
		return 0;
	}
	s = text;
	(void)reset_word(&s, "");
	if (!reset_date(s, &t) && !reset_clock(s, now, &t) &&
	    !reset_duration(s, now, &t))
		return -1;
	if (t <= now || t - now > YEAR)
		return -1;
	*when = t;
	return 0;
}
