/* SPDX-License-Identifier: ISC */
/* Tells valid UTF-8 from other bytes, eight at a time while they are ASCII. */
#include "common/json/value.h"

#include "common/json/text.h"

bool
utf8_valid(struct span s)
{
	const uint8_t *p, *end;
	uint64_t high;
	size_t n;

	if (s.len == 0)
		return true;
	p = s.p;
	end = s.p + s.len;
	if (s.len >= sizeof(high) / 2 && s.len <= TEXT_SHORT &&
	    text_short_ascii(p, s.len))
		return true;
	while (p < end) {
		if ((size_t)(end - p) >= sizeof(high)) {
			high = text_word(p) & TEXT_HIGHS;
			if (high == 0) {
				p += sizeof(high);
				continue;
			}
			p += __builtin_ctzll(high) >> 3;
		}
		do {
			if ((n = text_utf8_len(p, end)) == 0)
				return false;
			p += n;
		} while (p < end && *p >= 0x80);
	}
	return true;
}
