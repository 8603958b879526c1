/* SPDX-License-Identifier: ISC */
/*
 * Characters that nobody sees in a text, and that a model reads all the same:
 * controls, tag characters, zero-width and bidi characters, variation selectors
 * without a base.  Lines, tabs, and the joiners that an emoji or a script needs
 * are no such characters.
 */
#ifndef HIDDEN_H
#define HIDDEN_H

#include "common/buf.h"

#define HIDDEN_ZWJ 0x200dU
#define HIDDEN_VS15 0xfe0eU
#define HIDDEN_VS16 0xfe0fU

struct hidden_range {
	uint32_t from, to;
};

/* Returns true if one of the ranges has the code point. */
bool hidden_ranges(const struct hidden_range *, size_t n, uint32_t cp);
/*
 * Returns true for a code point that reorders text or has no glyph, wherever it
 * stands.  U+200D, U+FE0E and U+FE0F are none, because emoji consist of them.
 */
bool hidden_code(uint32_t cp);
/*
 * Returns true for every character that may have no glyph: controls, line ends
 * included, hidden_code(), the joiners of emoji, and private use.  It is for
 * texts in which nobody needs them, such as names, paths and rules.
 */
bool hidden_alone(uint32_t cp);
/* Returns true if a text in UTF-8 has a hidden character. */
bool hidden_in(struct span);
/*
 * Append the text with each hidden character in the notation of visible.h.
 * Returns 0, or -1 with errno set.
 */
int hidden_escape(struct buf *, struct span);

#endif
