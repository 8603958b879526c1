/* SPDX-License-Identifier: ISC */
/* Times as text: known ones, and those that no text of the format has. */
#include "common/time_text.h"

#include <stdlib.h>
#include <time.h>

#include "tap.h"

int
main(void)
{
	char text[TIME_TEXT];

	is_str(time_text(1795788300, text), "2026-11-27T14:05:00Z", "a time");
	is_str(time_text(-1, text), "1969-12-31T23:59:59Z",
	    "one before the epoch");
	is_str(time_text(0, text), "", "an unknown one");
	is_str(time_text(INT64_MAX, text), "", "one beyond all calendars");
	is_str(time_text_fine(0, ".000", text), "1970-01-01T00:00:00.000Z",
	    "with a fraction, the epoch is a time");
	is_str(time_text_fine(253402300799, ".000000", text),
	    "9999-12-31T23:59:59.000000Z", "the last of four digits");
	is_str(time_text_fine(67767976233532799, ".000000", text), "",
	    "a year that leaves no room for the fraction");
	is_str(time_text_fine(INT64_MAX, ".000", text), "",
	    "beyond all calendars, with a fraction");
	if (setenv("TZ", "XYZ-01:30", 1) == -1)
		return 1;
	tzset();
	is_str(time_text_local(1795788300, text), "2026-11-27 15:35",
	    "local time");
	is_str(time_text_local(INT64_MAX, text), "",
	    "beyond all calendars, local");
	return tap_done();
}
