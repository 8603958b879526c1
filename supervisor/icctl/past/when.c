/* SPDX-License-Identifier: ISC */
/* Reads times that a person types. */
#include "icctl/past/past.h"

#include <err.h>
#include <string.h>
#include <time.h>

/* Read how long ago: a number and a letter. */
static bool
when_ago(const char *text, int64_t *at)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t n = strspn(text, "0123456789");
	uint64_t count;

	if (n == 0 || text[n] == '\0' || text[n + 1] != '\0' ||
	    span_u64(span_of(text, n), 100000, &count) == -1)
		return false;
	for (size_t i = 0; i < nitems(units); i++)
		if (units[i].letter == text[n]) {
			*at = (int64_t)time(NULL) -
			      (int64_t)count * units[i].seconds;
			return true;
		}
	return false;
}

/* Read a day: its beginning, or with `whole` its end, which is the next one's.
 */
static bool
when_day(const char *text, bool whole, int64_t *at)
{
	struct tm tm = {.tm_isdst = -1};
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	const int day = tm.tm_mday;
	time_t t;

	/* The 30th of February would become a day of March. */
	if (end == NULL || *end != '\0' || strlen(text) != 10 ||
	    mktime(&tm) == -1 || tm.tm_mday != day)
		return false;
	tm = (struct tm){.tm_year = tm.tm_year,
	    .tm_mon = tm.tm_mon,
	    .tm_mday = day + (whole ? 1 : 0),
	    .tm_isdst = -1};
	if ((t = mktime(&tm)) <= 0)
		return false;
	*at = (int64_t)t;
	return true;
}

int
past_when(const char *option, const char *text, int64_t *at)
{
	if (text == NULL || when_ago(text, at))
		return 0;
	if ((*at = report_time(span_str(text))) != 0)
		return 0;
	if (when_day(text, strcmp(option, "--until") == 0, at))
		return 0;
	warnx("%s: a day (2026-11-28), a time in UTC (2026-11-28T09:00:00Z), "
	      "or how long ago (12h, 7d, 4w)",
	    option);
	return -1;
}
