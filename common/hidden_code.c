/* SPDX-License-Identifier: ISC */
/*
 * Code points that nobody sees. The ranges are the property
 * Default_Ignorable_Code_Point of Unicode 15, controls, line and paragraph
 * separators, interlinear annotation and noncharacters.
 */
#include "common/hidden.h"

bool
hidden_ranges(const struct hidden_range *r, size_t n, uint32_t cp)
{
	for (size_t i = 0; i < n; i++)
		if (cp >= r[i].from && cp <= r[i].to)
			return true;
	return false;
}

bool
hidden_code(uint32_t cp)
{
	static const struct hidden_range ranges[] = {{0x80, 0x9f}, {0xad, 0xad},
	    {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160},
	    {0x16fe4, 0x16fe4}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
	    {0x200b, 0x200c}, {0x200e, 0x200f}, {0x2028, 0x202e},
	    {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfdd0, 0xfdef},
	    {0xfe00, 0xfe0d}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
	    {0xfff0, 0xfffb}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
	    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

	return (cp & 0xfffe) == 0xfffe || hidden_ranges(ranges, nitems(ranges), cp);
}

bool
hidden_alone(uint32_t cp)
{
	return cp < 0x20 || cp == 0x7f || hidden_code(cp) || cp == HIDDEN_ZWJ ||
	       cp == HIDDEN_VS15 || cp == HIDDEN_VS16 || (cp >= 0xe000 && cp <= 0xf8ff) ||
	       cp > 0xeffff;
}
