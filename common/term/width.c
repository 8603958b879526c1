/* SPDX-License-Identifier: ISC */
/* A sorted table of ranges, with binary search. */
#include "common/term/width.h"

#include <stddef.h>

/* clang-format off */
static const struct {
	uint32_t first, last;
	int width;
} ranges[] = {
#include "width_table.h"
};
/* clang-format on */

int
term_width(uint32_t c)
{
	size_t lo = 0, hi = sizeof(ranges) / sizeof(ranges[0]), mid;

	if (c >= 0x20 && c < 0x7f)
		return 1;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (c > ranges[mid].last)
			lo = mid + 1;
		else if (c < ranges[mid].first)
			hi = mid;
		else
			return ranges[mid].width;
	}
	return -1;
}
