/* SPDX-License-Identifier: ISC */
/*
 * Shows text from outside to a person, in one notation.  Letters and digits of
 * every language are shown as they are.  Everything that could move the cursor,
 * or hide, reorder or imitate something, is escaped: control, bidi and
 * zero-width characters, blanks other than a space, look-alikes of ASCII
 * punctuation, symbols, unassigned code points, and the letters of a word that
 * mixes scripts.
 *
 * Prose is what an agent says to a person, which decides nothing: there, only
 * what could act on a terminal, reorder or hide is escaped.
 *
 * The notation: \n, \t, \\, \" (in quotes), \x1b for other ASCII controls and
 * for bytes that are not valid UTF-8, \u{202e} for other code points.
 */
#ifndef VISIBLE_H
#define VISIBLE_H

#include "common/buf.h"

#define VISIBLE_ASCII 1U  /* escape every code point beyond ASCII */
#define VISIBLE_QUOTED 2U /* for use between quotes: escape quotes */
#define VISIBLE_AGAIN 4U  /* may be escaped already: \ stays as it is */
#define VISIBLE_PROSE 8U  /* symbols, tabs and \ stay as they are */

/* Append `text` in its visible form.  Returns 0, or -1 with errno set. */
int visible_add(struct buf *, struct span text, unsigned flags);
/*
 * Returns the length of the longest prefix of `text` that is at most `max`
 * bytes and does not end within a character.
 */
size_t visible_cut(struct span text, size_t max);

#endif
