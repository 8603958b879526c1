/* SPDX-License-Identifier: ISC */
/* A sorted table of ranges, with binary search. */
#include "common/term/width.h"

#include <stdlib.h>

#include "common/span.h"

/* clang-format off */
static const struct range {
	uint32_t first, last;
	int width;
} ranges[] = {
#include "width_table.h"
};
/* clang-format on */

static int
range_compare(const void *key, const void *entry)
{
	const uint32_t *c = key;
	const struct range *r = entry;

	return (*c > r->last) - (*c < r->first);
}

int
term_width(uint32_t c)
{
	const struct range *r;

	if (c >= 0x20 && c < 0x7f)
		return 1;
	r = bsearch(
	    &c, ranges, nitems(ranges), sizeof(ranges[0]), range_compare);
	return r != NULL ? r->width : -1;
}
