/* SPDX-License-Identifier: ISC */
/* Reads cron's schedules; see the header. */
#include "icctl/job/cron.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/span.h"

#define CRON_FIELDS 5U
#define CRON_YEARS 9 /* two leap years may be eight years apart */

static const char *const cron_months[] = {"jan", "feb", "mar", "apr", "may",
    "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const cron_weekdays[] = {
    "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

/* clang-format off */
static const struct cron_field {
	const char *name;
	unsigned min, max;
	const char *const *names; /* names for the values from `min` on, or NULL */
} cron_fields[CRON_FIELDS] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of the month", 1, 31, NULL},
	{"month", 1, 12, cron_months},
	{"day of the week", 0, 7, cron_weekdays},
};

static const struct {
	const char *name, *text;
} cron_words[] = {
	{"@hourly", "0 * * * *"}, {"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
	{"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"},
};
/* clang-format on */

static int __attribute__((format(printf, 2, 3)))
cron_bad(char why[CRON_WHY], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, CRON_WHY, fmt, ap);
	va_end(ap);
	return -1;
}

/* Read a number or a name at *p. Returns it, or -1. */
static int
cron_value(const struct cron_field *f, const char **p)
{
	unsigned n = 0;
	size_t len = 0;

	for (; (*p)[len] >= '0' && (*p)[len] <= '9' && len < 3; len++)
		n = n * 10 + (unsigned)((*p)[len] - '0');
	if (len == 0 && f->names != NULL)
		for (unsigned i = 0; f->names[i] != NULL; i++)
			if (strncasecmp(*p, f->names[i], 3) == 0) {
				len = 3;
				n = f->min + i;
				break;
			}
	if (len == 0 || n < f->min || n > f->max)
		return -1;
	*p += len;
	return (int)n;
}

/* Read "*", "N", "N-M", each perhaps with "/S". Returns false if it is none. */
static bool
cron_part(const struct cron_field *f, const char **p, uint64_t *bits)
{
	int from = (int)f->min, to = (int)f->max, step = 1;
	bool all = **p == '*', range = all;
	struct cron_field steps = {.min = 1, .max = f->max};

	if (all) {
		(*p)++;
		/* 0 and 7 are the same day. */
		if (f->names == cron_weekdays)
			to = 6;
	} else {
		if ((from = to = cron_value(f, p)) == -1)
			return false;
		if (**p == '-') {
			(*p)++;
			range = true;
			if ((to = cron_value(f, p)) == -1 || to < from)
				return false;
		}
	}
	if (**p == '/') {
		(*p)++;
		/* Programs differ in what "5/10" means. */
		if (!range || (step = cron_value(&steps, p)) == -1)
			return false;
	}
	for (int i = from; i <= to; i += step)
		*bits |= (uint64_t)1 << i;
	return true;
}

static int
cron_field(const struct cron_field *f, const char *text, uint64_t *bits,
    char why[CRON_WHY])
{
	const char *p = text;
	char shown[128];

	*bits = 0;
	for (;; p++) {
		if (!cron_part(f, &p, bits))
			break;
		if (*p == '\0')
			return 0;
		if (*p != ',')
			break;
	}
	return cron_bad(why,
	    "%s \"%s\": must be *, a number from %u to %u%s, a range such as "
	    "%u-%u, any of these with a step (*/2), or a list of them",
	    f->name, log_vis(span_str(text), shown, sizeof(shown)), f->min,
	    f->max, f->names != NULL ? " or a name" : "", f->min, f->max);
}

/* Returns true if the day occurs in one of the months. */
static bool
cron_occurs(const struct cron *c)
{
	static const unsigned days[] = {
	    0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	/* A day of the week alone is enough where both are named. */
	if (!c->any_day && !c->any_weekday)
		return true;
	for (unsigned m = 1; m <= 12; m++)
		for (unsigned d = 1; d <= days[m]; d++)
			if ((c->months >> m & 1) != 0 &&
			    (c->days >> d & 1) != 0)
				return true;
	return false;
}

/* Split the text at white space. Returns the number of fields. */
static unsigned
cron_split(char *text, char *fields[CRON_FIELDS + 1])
{
	unsigned n = 0;

	for (char *p = text;;) {
		p += strspn(p, " \t");
		if (*p == '\0' || n > CRON_FIELDS)
			return n;
		fields[n++] = p;
		p += strcspn(p, " \t");
		if (*p != '\0')
			*p++ = '\0';
	}
}

int
cron_read(const char *text, struct cron *c, char why[CRON_WHY])
{
	uint64_t *const bits[] = {
	    &c->minutes, &c->hours, &c->days, &c->months, &c->weekdays};
	char copy[256], *fields[CRON_FIELDS + 1];
	unsigned n;

	if (strcmp(text, "@reboot") == 0)
		return cron_bad(why,
		    "@reboot: a job has times; for the start of the machine "
		    "write a unit of systemd that runs icctl job run");
	for (size_t i = 0; i < nitems(cron_words); i++)
		if (strcmp(text, cron_words[i].name) == 0)
			text = cron_words[i].text;
	if (strlen(text) >= sizeof(copy))
		return cron_bad(why, "is longer than 255 bytes");
	(void)strlcpy(copy, text, sizeof(copy));
	if ((n = cron_split(copy, fields)) != CRON_FIELDS)
		return cron_bad(why,
		    "has %s%u fields; a schedule has five: minute, hour, day "
		    "of the month, month, day of the week, as in \"0 3 * * "
		    "1-5\"",
		    n > CRON_FIELDS ? "more than " : "",
		    n > CRON_FIELDS ? CRON_FIELDS : n);
	for (unsigned i = 0; i < CRON_FIELDS; i++)
		if (cron_field(&cron_fields[i], fields[i], bits[i], why) == -1)
			return -1;
	if ((c->weekdays >> 7 & 1) != 0)
		c->weekdays = (c->weekdays | 1) & 0x7f;
	/* As cron has it, "*" with a step does not make a list either. */
	c->any_day = fields[2][0] == '*';
	c->any_weekday = fields[4][0] == '*';
	if (!cron_occurs(c))
		return cron_bad(why, "none of these months has such a day");
	return 0;
}

/* Append "01,05..09", the numbers whose bits are set; "*" for all of them. */
static void
cron_list(char *dst, uint64_t bits, unsigned min, unsigned max)
{
	size_t n = strlen(dst);
	const char *comma = "";
	unsigned end;
	bool all = true;

	for (unsigned i = min; i <= max; i++)
		all = all && (bits >> i & 1) != 0;
	if (all) {
		(void)snprintf(dst + n, CRON_LINE - n, "*");
		return;
	}
	for (unsigned i = min; i <= max; i = end + 1) {
		end = i;
		if ((bits >> i & 1) == 0)
			continue;
		while (end < max && (bits >> (end + 1) & 1) != 0)
			end++;
		/* Two that follow each other are no range worth the name. */
		if (end == i + 1)
			end = i;
		n += (size_t)snprintf(dst + n, CRON_LINE - n,
		    end == i ? "%s%02u" : "%s%02u..%02u", comma, i, end);
		comma = ",";
	}
}

static void
cron_add(char dst[CRON_LINE], const char *text)
{
	(void)strlcat(dst, text, CRON_LINE);
}

static void
cron_line(const struct cron *c, bool days, bool weekdays, char dst[CRON_LINE])
{
	static const char *const names[] = {
	    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	const char *comma = "";
	size_t n = 0;

	dst[0] = '\0';
	for (unsigned i = 0; weekdays && c->weekdays != 0x7f && i < 7; i++)
		if ((c->weekdays >> i & 1) != 0) {
			n += (size_t)snprintf(
			    dst + n, CRON_LINE - n, "%s%s", comma, names[i]);
			comma = ",";
		}
	cron_add(dst, n != 0 ? " *-" : "*-");
	cron_list(dst, c->months, 1, 12);
	cron_add(dst, "-");
	cron_list(dst, days ? c->days : ~(uint64_t)0, 1, 31);
	cron_add(dst, " ");
	cron_list(dst, c->hours, 0, 23);
	cron_add(dst, ":");
	cron_list(dst, c->minutes, 0, 59);
	cron_add(dst, ":00");
}

unsigned
cron_calendar(const struct cron *c, char lines[CRON_LINES][CRON_LINE])
{
	if (c->any_day || c->any_weekday) {
		cron_line(c, true, true, lines[0]);
		return 1;
	}
	cron_line(c, true, false, lines[0]);
	cron_line(c, false, true, lines[1]);
	return 2;
}

static bool
cron_is_day(const struct cron *c, const struct tm *tm)
{
	bool day = (c->days >> tm->tm_mday & 1) != 0,
	     weekday = (c->weekdays >> tm->tm_wday & 1) != 0;

	if ((c->months >> (tm->tm_mon + 1) & 1) == 0)
		return false;
	return c->any_day || c->any_weekday ? day && weekday : day || weekday;
}

/*
 * Returns a time of the day, or -1: the first one, if it occurs twice; if
 * clocks leave it out, as much later as they are put forward.
 */
static time_t
cron_at(const struct tm *day, int h, int m)
{
	const struct tm asked = {.tm_year = day->tm_year,
	    .tm_mon = day->tm_mon,
	    .tm_mday = day->tm_mday,
	    .tm_hour = h,
	    .tm_min = m,
	    .tm_isdst = -1};
	struct tm tm = asked, wanted = asked;
	time_t first = -1, at;

	for (int dst = 0; dst <= 1; dst++) {
		tm = asked;
		tm.tm_isdst = dst;
		at = mktime(&tm);
		if (at != -1 && tm.tm_hour == h && tm.tm_min == m &&
		    (first == -1 || at < first))
			first = at;
	}
	if (first != -1)
		return first;
	tm = asked;
	if ((at = mktime(&tm)) == -1)
		return -1;
	/* The C library may go back as well. */
	first = timegm(&wanted) - timegm(&tm);
	return first > 0 ? at + first : at;
}

/* Find the first time of the day that is after `after`. Returns -1 if none is.
 */
static time_t
cron_on(const struct cron *c, const struct tm *day, time_t after)
{
	time_t at, first = -1;

	for (int h = 0; h < 24; h++) {
		if ((c->hours >> h & 1) == 0)
			continue;
		for (int m = 0; m < 60; m++) {
			if ((c->minutes >> m & 1) == 0)
				continue;
			at = cron_at(day, h, m);
			if (at > after && (first == -1 || at < first))
				first = at;
		}
	}
	return first;
}

/*
 * Find noon of the day that is `days` after `start`. Returns false if the C
 * library cannot tell it.
 */
static bool
cron_noon(const struct tm *start, int days, struct tm *noon)
{
	*noon = (struct tm){.tm_year = start->tm_year,
	    .tm_mon = start->tm_mon,
	    .tm_mday = start->tm_mday + days,
	    .tm_hour = 12,
	    .tm_isdst = -1};
	return mktime(noon) != -1;
}

/*
 * Write when the times of the hour come that the day leaves out, except those
 * that the schedule has anyway. Returns false if there are none.
 */
static bool
cron_hour_left_out(
    const struct cron *c, const struct tm *day, int h, char line[CRON_LINE])
{
	uint64_t minutes = 0;
	struct tm tm;
	time_t at;
	int hour = h;

	for (int m = 0; m < 60; m++) {
		if ((c->minutes >> m & 1) == 0 ||
		    (at = cron_at(day, h, m)) == -1 ||
		    localtime_r(&at, &tm) == NULL ||
		    (tm.tm_hour == h && tm.tm_min == m) ||
		    ((c->hours >> tm.tm_hour & 1) != 0 &&
			(c->minutes >> tm.tm_min & 1) != 0))
			continue;
		minutes |= (uint64_t)1 << tm.tm_min;
		hour = tm.tm_hour;
	}
	if (minutes == 0)
		return false;
	(void)snprintf(line, CRON_LINE,
	    "%04d-%02d-%02d %02d:", day->tm_year + 1900, day->tm_mon + 1,
	    day->tm_mday, hour);
	cron_list(line, minutes, 0, 59);
	cron_add(line, ":00");
	return true;
}

unsigned
cron_left_out(
    const struct cron *c, time_t from, char lines[CRON_AHEAD][CRON_LINE])
{
	struct tm start, before, day;
	unsigned n = 0;

	if (localtime_r(&from, &start) == NULL)
		return 0;
	for (int i = 0; i < CRON_YEARS * 366 && n < CRON_AHEAD; i++) {
		if (!cron_noon(&start, i - 1, &before) ||
		    !cron_noon(&start, i, &day))
			break;
		if (before.tm_gmtoff >= day.tm_gmtoff || !cron_is_day(c, &day))
			continue;
		for (int h = 0; h < 24 && n < CRON_AHEAD; h++)
			if ((c->hours >> h & 1) != 0 &&
			    cron_hour_left_out(c, &day, h, lines[n]))
				n++;
	}
	return n;
}

time_t
cron_next(const struct cron *c, time_t after)
{
	struct tm start, day;
	time_t at;

	if (localtime_r(&after, &start) == NULL)
		return -1;
	for (int i = 0; i < CRON_YEARS * 366; i++) {
		if (!cron_noon(&start, i, &day))
			return -1;
		if (cron_is_day(c, &day) &&
		    (at = cron_on(c, &day, after)) != -1)
			return at;
	}
	return -1;
}
