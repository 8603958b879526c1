/* SPDX-License-Identifier: ISC */
/* Dates: the forms that are read, their limits, and what is no date. */
#include "common/http/date.h"
#include "tap.h"

#define NEVER INT64_MIN

static void
test_rfc3339(const char *text, int64_t want)
{
	int64_t got = NEVER;

	(void)date_rfc3339(span_str(text), &got);
	is_int(got, want, "time %s", text);
}

static void
test_times(void)
{
	static const char *const bad[] = {"", "2026", "2026-01-01",
	    "2026-01-01T00:00:00", "2026-01-01 00:00:00Z",
	    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
	    "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "1900-02-29T00:00:00Z",
	    "2100-02-29T00:00:00Z",
	    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
	    "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
	    "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00ZZ",
	    "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00",
	    "2026-01-01T00:00:00+01:60", "1969-12-31T23:59:59Z",
	    "-026-01-01T00:00:00Z", "99999-01-01T00:00:00Z",
	    "2026-1-01T00:00:00Z", " 2026-01-01T00:00:00Z"};

	test_rfc3339("1970-01-01T00:00:00Z", 0);
	test_rfc3339("2000-02-29T12:34:56.789Z", 951827696);
	test_rfc3339("2026-11-22T04:00:00.123456Z", 1795320000);
	test_rfc3339("2026-11-22T05:30:00+01:30", 1795320000);
	test_rfc3339("2026-11-21T23:00:00-05:00", 1795320000);
	test_rfc3339("2016-12-31T23:59:60Z", 1483228800);
	test_rfc3339("2400-02-29T00:00:00Z", 13574563200);
	test_rfc3339("9999-12-31T23:59:59Z", 253402300799);
	for (size_t i = 0; i < nitems(bad); i++)
		test_rfc3339(bad[i], NEVER);
}

static void
test_http(const char *text, int64_t want)
{
	int64_t got = NEVER;

	(void)date_http(span_str(text), &got);
	is_int(got, want, "HTTP's time %s", text);
}

static void
test_http_times(void)
{
	static const char *const bad[] = {"", "Thu, 01 Jan 1970 00:00:00 GMT",
	    "Wed, 31 Dec 2014 23:59:59 GMT", "Mon, 22 Nov 2026 04:00:00 GMT",
	    "Sun, 22 nov 2026 04:00:00 GMT", "Sun, 22 Nov 2026 04:00:00 UTC",
	    "Sun, 22 Nov 2026 04:00:00", "Sun, 22 Nov 2026 24:00:00 GMT",
	    "Sun, 22 Nov 2026 04:60:00 GMT", "Sun,  2 Nov 2026 04:00:00 GMT",
	    "Sun, 31 Nov 2026 04:00:00 GMT", "Sun, 29 Feb 2026 04:00:00 GMT",
	    "Sun, 22 Nov 2026 04:00:00 GMTx", "Sun  22 Nov 2026 04:00:00 GMT",
	    "Sun, 22-Nov-2026 04:00:00 GMT", "Sun, 22 Now 2026 04:00:00 GMT",
	    "Sunday, 22-Nov-26 04:00:00 GMT", "Sun Nov 22 04:00:00 2026",
	    "2026-11-22T04:00:00Z", "Mon, 29 Feb 2100 04:00:00 GMT",
	    "Sun, 22 Nov 10000 04:00 GMT",
	    "Sun, 22 Nov 2026 04:00:61 GMT", "Sun, 00 Nov 2026 04:00:00 GMT"};

	test_http("Thu, 01 Jan 2015 00:00:00 GMT", 1420070400);
	test_http("Sun, 22 Nov 2026 04:00:00 GMT", 1795320000);
	test_http("Thu, 29 Feb 2024 23:59:59 GMT", 1709251199);
	test_http("Fri, 31 Dec 9999 23:59:59 GMT", 253402300799);
	for (size_t i = 0; i < nitems(bad); i++)
		test_http(bad[i], NEVER);
}

int
main(void)
{
	test_times();
	test_http_times();
	return tap_done();
}
