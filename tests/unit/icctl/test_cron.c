/* SPDX-License-Identifier: ISC */
/*
 * Schedules of jobs: what is read and what is refused, the values of OnCalendar
 * that they become, which systemd-analyze(1) reads where it exists, and their
 * next times, also around both changes of summer time.
 */
#include "icctl/job/cron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "common/span.h"
#include "tap.h"

/* clang-format off */
static const struct {
	const char *text, *line, *more;
} good[] = {
	{"* * * * *", "*-*-* *:*:00", NULL},
	{"0 3 * * *", "*-*-* 03:00:00", NULL},
	{"  0\t3 * * *  ", "*-*-* 03:00:00", NULL},
	{"*/15 * * * *", "*-*-* *:00,15,30,45:00", NULL},
	{"0 9-17 * * 1-5", "Mon,Tue,Wed,Thu,Fri *-*-* 09..17:00:00", NULL},
	{"0 9-17/2 * * *", "*-*-* 09,11,13,15,17:00:00", NULL},
	{"5,10 1,2 * * *", "*-*-* 01,02:05,10:00", NULL},
	{"0 0 1 * *", "*-*-01 00:00:00", NULL},
	{"0 0 1-3 * *", "*-*-01..03 00:00:00", NULL},
	{"0 0 * jan,JUL *", "*-01,07-* 00:00:00", NULL},
	{"0 0 * * sun", "Sun *-*-* 00:00:00", NULL},
	{"0 0 * * 7", "Sun *-*-* 00:00:00", NULL},
	{"0 0 * * 5-7", "Sun,Fri,Sat *-*-* 00:00:00", NULL},
	{"0 0 * * 0-7", "*-*-* 00:00:00", NULL},
	{"0 0 * * mon-fri", "Mon,Tue,Wed,Thu,Fri *-*-* 00:00:00", NULL},
	{"0 0 13 * 5", "*-*-13 00:00:00", "Fri *-*-* 00:00:00"},
	{"0 0 */2 * 1", "Mon *-*-01,03,05,07,09,11,13,15,17,19,21,23,25,27,29,31 00:00:00", NULL},
	{"0 0 1,15 * */2", "Sun,Tue,Thu,Sat *-*-01,15 00:00:00", NULL},
	{"0 0 29 2 *", "*-02-29 00:00:00", NULL},
	{"0 0 31 2 1", "*-02-31 00:00:00", "Mon *-02-* 00:00:00"},
	{"@hourly", "*-*-* *:00:00", NULL},
	{"@daily", "*-*-* 00:00:00", NULL},
	{"@midnight", "*-*-* 00:00:00", NULL},
	{"@weekly", "Sun *-*-* 00:00:00", NULL},
	{"@monthly", "*-*-01 00:00:00", NULL},
	{"@yearly", "*-01-01 00:00:00", NULL},
	{"@annually", "*-01-01 00:00:00", NULL},
	{"59 23 31 12 *", "*-12-31 23:59:00", NULL},
};

static const struct {
	const char *text, *why;
} bad[] = {
	{"", "has 0 fields"}, {"   ", "has 0 fields"}, {"*", "has 1 fields"},
	{"* * * *", "has 4 fields"}, {"* * * * * *", "more than 5 fields"},
	{"* * * * * * * * *", "more than 5"}, {"@reboot", "@reboot"},
	{"@often", "has 1 fields"}, {"60 * * * *", "minute \"60\""},
	{"-1 * * * *", "minute"}, {"* 24 * * *", "hour"},
	{"* * 0 * *", "day of the month"}, {"* * 32 * *", "day of the month"},
	{"* * * 0 *", "month"}, {"* * * 13 *", "month"},
	{"* * * * 8", "day of the week"}, {"*/0 * * * *", "minute"},
	{"*/ * * * *", "minute"}, {"5/10 * * * *", "minute"},
	{"5-1 * * * *", "minute"}, {"5- * * * *", "minute"},
	{"1,,2 * * * *", "minute"}, {"1, * * * *", "minute"},
	{", * * * *", "minute"}, {"1;2 * * * *", "minute"},
	{"a * * * *", "minute"}, {"mon * * * *", "minute"},
	{"* * L * *", "day of the month"}, {"* * 15W * *", "day of the month"},
	{"* * ? * *", "day of the month"}, {"* * * * 5#2", "day of the week"},
	{"* * * * 5L", "day of the week"}, {"H * * * *", "minute"},
	{"* * * * monday", "day of the week"}, {"* * * jann *", "month"},
	{"~ * * * *", "minute"}, {"0~30 * * * *", "minute"},
	{"1.5 * * * *", "minute"}, {"+1 * * * *", "minute"},
	{"0x1 * * * *", "minute"}, {"** * * * *", "minute"},
	{"*,* */* * * *", "hour"}, {"0000 * * * *", "minute"},
	{"0 0 31 2 *", "none of these months"},
	{"0 0 30 2 *", "none of these months"},
	{"0 0 31 4,6,9,11 *", "none of these months"},
	{"0\n0 * * * *", "minute"}, {"\033 * * * *", "minute"},
	{"*/99 * * * *", "minute"}, {"0 0 1 1 1 # a comment", "more than 5"},
	{"TZ=UTC 0 0 * * *", "more than 5 fields"}, {"% * * * *", "minute"},
};

/* Times in Berlin, where clocks change on 29 March and 25 October 2026. */
static const struct {
	const char *text, *after, *next;
} times[] = {
	{"0 3 * * *", "2026-11-29 02:59:59", "2026-11-29 03:00:00"},
	{"0 3 * * *", "2026-11-29 03:00:00", "2026-11-30 03:00:00"},
	{"*/15 * * * *", "2026-11-29 23:45:00", "2026-11-30 00:00:00"},
	{"0 0 29 2 *", "2026-11-29 00:00:00", "2028-02-29 00:00:00"},
	{"0 0 13 * 5", "2026-11-10 00:00:00", "2026-11-13 00:00:00"},
	{"0 0 13 * 5", "2026-11-13 00:00:00", "2026-11-20 00:00:00"},
	{"0 0 */2 * 1", "2026-11-10 00:00:00", "2026-11-23 00:00:00"},
	{"0 0 31 * *", "2026-11-01 00:00:00", "2026-12-31 00:00:00"},
	{"59 23 31 12 *", "2026-12-31 23:59:00", "2027-12-31 23:59:00"},
	/* Spring: 02:00 to 02:59 do not exist. */
	{"30 2 * * *", "2026-03-28 12:00:00", "2026-03-29 03:30:00"},
	{"30 2 * * *", "2026-03-29 03:30:00", "2026-03-30 02:30:00"},
	{"0 3 * * *", "2026-03-28 12:00:00", "2026-03-29 03:00:00"},
	{"0 1 * * *", "2026-03-28 12:00:00", "2026-03-29 01:00:00"},
	/* Autumn: 02:00 to 02:59 occur twice. */
	{"0 3 * * *", "2026-10-24 12:00:00", "2026-10-25 03:00:00"},
	{"0 1 * * *", "2026-10-24 12:00:00", "2026-10-25 01:00:00"},
	{"30 2 * * *", "2026-10-24 12:00:00", "2026-10-25 02:30:00"},
	{"30 2 * * *", "2026-10-25 02:30:00", "2026-10-26 02:30:00"},
	{"*/20 2 * * *", "2026-03-28 12:00:00", "2026-03-29 03:00:00"},
	{"*/20 2 * * *", "2026-03-29 03:00:00", "2026-03-29 03:20:00"},
	{"*/20 2 * * *", "2026-03-29 03:40:00", "2026-03-30 02:00:00"},
};

/* Zones, times in them that do not exist or occur twice, and those in UTC. */
static const struct {
	const char *zone, *text, *after, *next;
} zones[] = {
	{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00:00", "2026-03-29 01:30"},
	{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00:00", "2026-10-25 00:30"},
	/* Summer time is what its rules call standard. */
	{"Europe/Dublin", "30 1 * * *", "2026-03-28 12:00:00", "2026-03-29 01:30"},
	{"Europe/Dublin", "30 1 * * *", "2026-10-24 12:00:00", "2026-10-25 00:30"},
	{"America/New_York", "30 2 * * *", "2026-03-07 12:00:00", "2026-03-08 07:30"},
	{"America/New_York", "30 1 * * *", "2026-10-31 12:00:00", "2026-11-01 05:30"},
	/* Midnight does not exist; half an hour. */
	{"America/Santiago", "30 0 * * *", "2026-09-05 12:00:00", "2026-09-06 04:30"},
	{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00:00", "2026-10-03 15:45"},
	{"Asia/Kathmandu", "30 2 * * *", "2026-03-28 12:00:00", "2026-03-28 20:45"},
};

/* Times that the changes to summer time in Berlin leave out. */
static const struct {
	const char *text, *first;
} left_out[] = {
	{"30 2 * * *", "2027-03-28 03:30:00"},
	{"*/20 2 * * *", "2027-03-28 03:00,20,40:00"},
	{"0,30 2,3 * * *", NULL}, {"*/20 * * * *", NULL},
	{"0,30 2 * * 0", "2027-03-28 03:00,30:00"}, {"30 2 * * 1", NULL},
	{"30 2 * 1-2 *", NULL}, {"0 3 * * *", NULL}, {"59 1 * * *", NULL},
	{"30 2 26 3 0", "2027-03-28 03:30:00"},
	{"30 2 25 3 *", "2029-03-25 03:30:00"},
	{"10-50 2 1-30 * *", "2027-03-28 03:10..50:00"},
};
/* clang-format on */

/* Returns true if systemd-analyze(1) reads the value, or is not here. */
static bool
analyzed(const char *line)
{
	char *argv[] = {(char *)(uintptr_t) "systemd-analyze",
	    (char *)(uintptr_t) "calendar", (char *)(uintptr_t)line, NULL};
	char out[4096], err[1024];
	struct spawn s = {.path = argv[0], .argv = argv, .nfds = 3};

	if (access("/usr/bin/systemd-analyze", X_OK) == -1)
		return true;
	return spawn_read(&s, (struct spawn_said){out, sizeof(out)},
		   (struct spawn_said){err, sizeof(err)}) == 0;
}

static void
test_good(void)
{
	char lines[CRON_LINES][CRON_LINE], why[CRON_WHY];
	struct cron c;
	unsigned n, more;

	for (size_t i = 0; i < nitems(good); i++) {
		more = good[i].more != NULL;
		if (cron_read(good[i].text, &c, why) == -1) {
			ok(0, "\"%s\": %s", good[i].text, why);
			continue;
		}
		n = cron_calendar(&c, lines);
		ok(n == 1 + more && strcmp(lines[0], good[i].line) == 0 &&
			(!more || strcmp(lines[1], good[i].more) == 0),
		    "\"%s\" is \"%s\"", good[i].text, lines[0]);
		for (unsigned k = 0; k < n; k++)
			ok(analyzed(lines[k]), "systemd reads \"%s\"",
			    lines[k]);
	}
}

static void
test_bad(void)
{
	char why[CRON_WHY];
	struct cron c;

	for (size_t i = 0; i < nitems(bad); i++) {
		why[0] = '\0';
		ok(cron_read(bad[i].text, &c, why) == -1 &&
			strstr(why, bad[i].why) != NULL &&
			strchr(why, '\033') == NULL,
		    "refused, case %zu: %s", i, why);
	}
}

static time_t
when(const char *text)
{
	struct tm tm = {.tm_isdst = -1};

	(void)strptime(text, "%Y-%m-%d %H:%M:%S", &tm);
	tm.tm_isdst = -1;
	return mktime(&tm);
}

static void
test_times(void)
{
	char why[CRON_WHY], text[64];
	struct cron c;
	struct tm tm;
	time_t at, first, hours = 0;

	(void)setenv("TZ", "Europe/Berlin", 1);
	tzset();
	for (size_t i = 0; i < nitems(times); i++) {
		(void)cron_read(times[i].text, &c, why);
		at = cron_next(&c, when(times[i].after));
		(void)localtime_r(&at, &tm);
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
		ok(strcmp(text, times[i].next) == 0, "\"%s\" after %s: %s",
		    times[i].text, times[i].after, text);
	}
	/* A time that occurs twice comes once, and time never stands still. */
	(void)cron_read("30 2 * * *", &c, why);
	first = cron_next(&c, when("2026-10-24 12:00:00"));
	at = cron_next(&c, first);
	ok(at - first > 20 * 3600 &&
		first == when("2026-10-24 12:00:00") + 14 * 3600 + 1800,
	    "02:30 of the last Sunday in October, once");
	(void)cron_read("*/20 * * * *", &c, why);
	for (at = when("2026-10-24 22:00:00"); hours < 48; hours++) {
		first = cron_next(&c, at);
		if (first <= at || first - at > 2 * 3600)
			break;
		at = first;
	}
	ok(hours == 48, "every 20 minutes through that night");
	(void)cron_read("0 0 29 2 *", &c, why);
	ok(cron_next(&c, when("2096-03-01 00:00:00")) > 0,
	    "2100 is no leap year");
}

static void
test_zones(void)
{
	char why[CRON_WHY], text[64];
	struct cron c;
	struct tm tm;
	time_t at;

	for (size_t i = 0; i < nitems(zones); i++) {
		(void)setenv("TZ", zones[i].zone, 1);
		tzset();
		(void)cron_read(zones[i].text, &c, why);
		at = cron_next(&c, when(zones[i].after));
		(void)gmtime_r(&at, &tm);
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
		ok(strcmp(text, zones[i].next) == 0, "%s: \"%s\" after %s: %s",
		    zones[i].zone, zones[i].text, zones[i].after, text);
	}
}

static void
test_left_out(void)
{
	char lines[CRON_AHEAD][CRON_LINE], why[CRON_WHY];
	struct cron c;
	unsigned n;

	(void)setenv("TZ", "Europe/Berlin", 1);
	tzset();
	for (size_t i = 0; i < nitems(left_out); i++) {
		(void)cron_read(left_out[i].text, &c, why);
		n = cron_left_out(&c, when("2026-11-29 00:00:00"), lines);
		ok(left_out[i].first == NULL
			? n == 0
			: n != 0 && strcmp(lines[0], left_out[i].first) == 0,
		    "\"%s\": %u left out, %s", left_out[i].text, n,
		    n != 0 ? lines[0] : "");
		if (n != 0)
			ok(analyzed(lines[0]), "systemd reads \"%s\"",
			    lines[0]);
	}
	(void)setenv("TZ", "UTC", 1);
	tzset();
	(void)cron_read("30 2 * * *", &c, why);
	ok(cron_left_out(&c, when("2026-11-29 00:00:00"), lines) == 0,
	    "without summer time nothing is left out");
}

int
main(void)
{
	test_good();
	test_bad();
	test_times();
	test_zones();
	test_left_out();
	return tap_done();
}
