/* SPDX-License-Identifier: ISC */
/*
 * Text from outside as a person may see it, in one notation.  Letters and
 * digits of every language are shown as they are.  Everything that could move
 * the cursor, hide, reorder or imitate something is escaped: control, bidi and
 * zero-width characters, blanks other than a space, look-alikes of ASCII
 * punctuation, symbols, unassigned code points, and the letters of a word that
 * mixes scripts.
 *
 * The notation: \n, \t, \\, \" (in quotes), \x1b for other ASCII controls and
 * for bytes that are no UTF-8, \u{202e} for other code points.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#include "common/buf.h"

#define VISIBLE_ASCII 1U  /* escape every code point beyond ASCII */
#define VISIBLE_QUOTED 2U /* for a place between quotes: escape them */
#define VISIBLE_AGAIN 4U  /* it may be escaped already: \ stays itself */

/* Append `text` as it may be seen.  Returns 0, or -1 with errno set. */
int visible_add(struct buf *, struct span text, unsigned flags);
/*
 * The length of the longest beginning of `text` that is at most `max` bytes
 * and does not end within a character.
 */
size_t visible_cut(struct span text, size_t max);

#endif
