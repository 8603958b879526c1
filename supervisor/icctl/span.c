/* SPDX-License-Identifier: ISC */
/* Durations, and times of the future, as people read them. */
#include "icctl/icctl.h"

#include <stdio.h>
#include <time.h>

const char *
icctl_span(int64_t ms, char *dst, size_t cap)
{
	int64_t s = ms / 1000;

	if (s < 120)
		snprintf(dst, cap, "%lld s", (long long)s);
	else if (s < 7200)
		snprintf(dst, cap, "%lld min", (long long)(s / 60));
	else if (s < 172800)
		snprintf(dst, cap, "%lld h", (long long)(s / 3600));
	else
		snprintf(dst, cap, "%lld days", (long long)(s / 86400));
	return dst;
}

const char *
icctl_until(const char *text, char dst[ICCTL_UNTIL])
{
	struct tm tm = {0};
	char left[32];
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	int64_t s = 0;

	dst[0] = '\0';
	if (end != NULL && *end == '\0')
		s = (int64_t)timegm(&tm) - (int64_t)time(NULL);
	if (s > 0)
		snprintf(dst, ICCTL_UNTIL, "%.24s (in %s)", text,
		    icctl_span(s * 1000, left, sizeof(left)));
	return dst;
}

const char *
icctl_local(const char *text, char dst[ICCTL_LOCAL])
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t at;

	snprintf(dst, ICCTL_LOCAL, "%.30s", text);
	if (end == NULL)
		return dst;
	at = timegm(&tm);
	if (localtime_r(&at, &tm) != NULL)
		strftime(dst, ICCTL_LOCAL, "%Y-%m-%d %H:%M:%S", &tm);
	return dst;
}
