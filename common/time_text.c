/* SPDX-License-Identifier: ISC */
#include "common/time_text.h"

#include <stdio.h>
#include <time.h>

const char *
time_text_fine(int64_t when, const char *fraction, char dst[TIME_TEXT])
{
	time_t t = (time_t)when;
	size_t len = 0;
	struct tm tm;
	int n;

	if (gmtime_r(&t, &tm) != NULL)
		len = strftime(dst, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
	n = snprintf(dst + len, TIME_TEXT - len, "%sZ", fraction);
	if (len == 0 || n < 0 || (size_t)n >= TIME_TEXT - len)
		dst[0] = '\0';
	return dst;
}

const char *
time_text(int64_t when, char dst[TIME_TEXT])
{
	dst[0] = '\0';
	return when == 0 ? dst : time_text_fine(when, "", dst);
}

const char *
time_text_local(int64_t when, char dst[TIME_TEXT])
{
	time_t t = (time_t)when;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(dst, TIME_TEXT, "%Y-%m-%d %H:%M", &tm) == 0)
		dst[0] = '\0';
	return dst;
}
