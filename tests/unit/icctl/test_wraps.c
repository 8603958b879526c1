/* SPDX-License-Identifier: ISC */
/*
 * The rows of a line that wraps: the mark of our own lines is found where a row
 * may begin with it, and nowhere else in a line of ASCII. Without a terminal a
 * row has 80 columns.
 */
#include "icctl/screen/wraps.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

/* Returns the place of the first character that may begin a row, or -1. */
static int
first_row(const uint32_t *line, size_t n, unsigned nchars)
{
	struct wraps w;

	wraps_begin(&w, -1);
	for (size_t i = 0; i < n; i++)
		if (wraps_take(&w, line[i], nchars))
			return (int)i;
	return -1;
}

static int
after(uint32_t fill, size_t n, size_t blanks)
{
	uint32_t line[512];

	for (size_t i = 0; i < n; i++)
		line[i] = fill;
	for (size_t i = n; i < n + blanks; i++)
		line[i] = ' ';
	for (size_t i = n + blanks; i < n + blanks + 3; i++)
		line[i] = '>';
	return first_row(line, n + blanks + 3, 1);
}

int
main(void)
{
	is_int(after('a', 79, 0), 80, "the second mark begins the row");
	is_int(after('a', 80, 0), 80, "the mark begins the row");
	is_int(after('a', 70, 15), 85, "behind blanks of two rows");
	is_int(after('a', 80, 5), 85, "behind blanks");
	is_int(after('a', 75, 2), -1, "at the end of a row");
	is_int(after('a', 40, 0), -1, "within a row");
	is_int(after('a', 0, 0), -1, "the line's own beginning is not meant");
	is_int(after('a', 81, 0), 80, "a letter begins the row");
	is_int(after(' ', 80, 0), 80, "a row of blanks, and the mark");
	ok(after(0x4e16, 40, 0) != -1, "wide letters that fill a row");
	ok(after(0x4e16, 39, 1) != -1, "a wide letter at the edge");
	ok(after(0xe9, 60, 0) != -1,
	    "letters that some terminals draw with two columns");
	ok(after('\t', 10, 0) != -1, "tabs");
	is_int(after(0x4e16, 3, 0), -1, "a few wide letters are no row");
	return tap_done();
}
