/* SPDX-License-Identifier: ISC */
/*
 * Finds characters that nobody sees. The text comes from an MCP server; it is
 * valid UTF-8, and one pass over it decides.
 */
#include "common/hidden.h"

#include "common/json/text.h"

#define ZWNJ 0x200cU
#define KEYCAP 0x20e3U

/* Returns true for what an emoji begins with, or goes on with after a joiner.
 */
static bool
is_emoji(uint32_t cp)
{
	static const struct hidden_range ranges[] = {{0xa9, 0xa9}, {0xae, 0xae},
	    {0x203c, 0x203c}, {0x2049, 0x2049}, {0x2122, 0x2122},
	    {0x2139, 0x2139}, {0x2194, 0x21aa}, {0x231a, 0x23ff},
	    {0x24c2, 0x24c2}, {0x25aa, 0x27bf}, {0x2934, 0x2935},
	    {0x2b05, 0x2b55}, {0x3030, 0x3030}, {0x303d, 0x303d},
	    {0x3297, 0x3299}, {0x1f000, 0x1faff}};

	return hidden_ranges(ranges, nitems(ranges), cp);
}

/* Returns true for a letter or mark of a script whose letters join. */
static bool
is_joining(uint32_t cp)
{
	/* Arabic to Mandaic, the Indic scripts, and scripts derived from them */
	static const struct hidden_range ranges[] = {{0x620, 0x8ff},
	    {0x900, 0xdff}, {0xf00, 0x109f}, {0x1700, 0x17b3}, {0x17b6, 0x180a},
	    {0x1820, 0x18af}, {0x1a20, 0x1aad}, {0x1b00, 0x1c4f},
	    {0xa800, 0xa8ff}, {0xa930, 0xa9df}, {0xaa00, 0xaaff},
	    {0xabc0, 0xabff}, {0xfb50, 0xfdcf}, {0xfdf0, 0xfdff},
	    {0xfe70, 0xfefc}, {0x10a00, 0x10a5f}, {0x11000, 0x11fff},
	    {0x1e900, 0x1e95f}};

	return hidden_ranges(ranges, nitems(ranges), cp);
}

/* Returns the code point at `at` and its length, or 0 at the end. */
static uint32_t
code_at(struct span s, size_t at, size_t *len)
{
	*len = 0;
	if (at >= s.len)
		return 0;
	*len = text_utf8_len(s.p + at, s.p + s.len);
	if (*len == 0)
		*len = 1;
	return text_utf8_code(s.p + at, *len);
}

/* Returns true if the character is hidden, between its neighbours. */
static bool
is_hidden(uint32_t before, uint32_t cp, uint32_t after)
{
	switch (cp) {
	case '\n':
	case '\t':
		return false;
	case '\r':
		return after != '\n';
	case ZWNJ:
		return !is_joining(before) || !is_joining(after);
	case HIDDEN_ZWJ:
		if (is_joining(before))
			return after == HIDDEN_ZWJ;
		return !(is_emoji(before) || before == HIDDEN_VS16) ||
		       !is_emoji(after);
	case HIDDEN_VS15:
	case HIDDEN_VS16:
		if (before == '#' || before == '*' ||
		    (before >= '0' && before <= '9'))
			return after != KEYCAP;
		return !is_emoji(before);
	default:
		return cp < 0x20 || cp == 0x7f || hidden_code(cp);
	}
}

/*
 * Returns true if there is a hidden character from `*at` on; then it is at
 * `*at`, and has `*len` bytes.
 */
static bool
hidden_next(struct span s, size_t *at, uint32_t *cp, size_t *len)
{
	uint32_t before = 0, after;
	size_t next;

	for (; *at < s.len; *at += *len) {
		/* Most of a text is plain ASCII. */
		if (s.p[*at] >= 0x20 && s.p[*at] < 0x7f) {
			before = s.p[*at];
			*len = 1;
			continue;
		}
		*cp = code_at(s, *at, len);
		after = code_at(s, *at + *len, &next);
		if (is_hidden(before, *cp, after))
			return true;
		before = *cp;
	}
	return false;
}

bool
hidden_in(struct span s)
{
	size_t at = 0, len;
	uint32_t cp;

	return hidden_next(s, &at, &cp, &len);
}

int
hidden_escape(struct buf *b, struct span s)
{
	size_t at = 0, from = 0, len;
	uint32_t cp;

	while (hidden_next(s, &at, &cp, &len)) {
		buf_add(b, s.p + from, at - from);
		buf_printf(b, cp < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)cp);
		from = at += len;
	}
	buf_add(b, s.p + from, s.len - from);
	return b->failed ? -1 : 0;
}
