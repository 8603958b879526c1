/* SPDX-License-Identifier: ISC */
/*
 * The width of a character in terminal columns.  termd and the viewer of its
 * cells use the same table, so that neither can be made to draw beyond the end
 * of a row.
 */
#ifndef TERM_WIDTH_H
#define TERM_WIDTH_H

#include <stdint.h>

/*
 * Returns 1 or 2 columns; 0 if the character combines with the one before it;
 * -1 if it is never drawn (control and format characters, everything that is
 * invisible or reorders text, private use, and unassigned code points).
 */
int term_width(uint32_t c);

#endif
