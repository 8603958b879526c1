/* SPDX-License-Identifier: ISC */
/* Names and contents of files as valid UTF-8, whatever their bytes are. */
#include "icfs/icfs.h"

#include "common/json/text.h"

/*
 * Returns the number of bytes at `p` that begin a character but do not complete
 * it; they become one U+FFFD.
 */
static size_t
bad_len(const uint8_t *p, const uint8_t *end)
{
	uint8_t whole[4] = {p[0], 0x80, 0x80, 0x80};
	size_t n = 1, most;

	/*
	 * Find the length of a character with this lead byte, then the part of
	 * it present.
	 */
	if (p[0] == 0xe0)
		whole[1] = 0xa0;
	else if (p[0] == 0xf0)
		whole[1] = 0x90;
	if ((most = text_utf8_len(whole, whole + 4)) == 0)
		return 1;
	while (n < most && p + n < end) {
		whole[n] = p[n];
		if (text_utf8_len(whole, whole + 4) == 0)
			break;
		n++;
	}
	return n;
}

void
icfs_add_text(struct buf *b, struct span s)
{
	const uint8_t *p = s.p, *end, *from = s.p;
	size_t n;

	if (s.len == 0)
		return;
	end = p + s.len;
	while (p < end) {
		if ((n = text_utf8_len(p, end)) != 0) {
			p += n;
			continue;
		}
		buf_add(b, from, (size_t)(p - from));
		buf_addspan(b, SPAN("\xef\xbf\xbd"));
		p += bad_len(p, end);
		from = p;
	}
	buf_add(b, from, (size_t)(p - from));
}
