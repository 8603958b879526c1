/* SPDX-License-Identifier: ISC */
/*
 * Schedules in cron's five fields: minute, hour, day of the month, month, day
 * of the week, in local time. They are read strictly, become OnCalendar of
 * systemd.time(7), and can be asked for the next time.
 */
#ifndef ICCTL_CRON_H
#define ICCTL_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define CRON_WHY 300U
#define CRON_LINE 640U
#define CRON_LINES 2U  /* days of the month, and days of the week */
#define CRON_AHEAD 16U /* changes to summer time that are looked for */

struct cron {
	uint64_t minutes, hours, days, months, weekdays; /* bits */
	/* If neither is true, a day needs to be in one of the two lists only.
	 */
	bool any_day, any_weekday;
};

/*
 * Read a schedule, or one of @hourly, @daily, @midnight, @weekly, @monthly,
 * @yearly and @annually. Returns 0, or -1 with the reason in `why`.
 */
int cron_read(const char *text, struct cron *, char why[CRON_WHY]);
/*
 * Write the values of OnCalendar that together say the same. Returns their
 * number.
 */
unsigned cron_calendar(const struct cron *, char lines[CRON_LINES][CRON_LINE]);
/*
 * Write values of OnCalendar for times that the next changes to summer time
 * leave out, which systemd would leave out as well: when cron_next() has them
 * come. Returns their number, which is 0 for most schedules.
 */
unsigned cron_left_out(
    const struct cron *, time_t from, char lines[CRON_AHEAD][CRON_LINE]);
/*
 * Returns the first time after `after`. A time of day that the change to summer
 * time leaves out comes one hour later; one that occurs twice comes once, the
 * first time.
 */
time_t cron_next(const struct cron *, time_t after);

#endif
