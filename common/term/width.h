/* SPDX-License-Identifier: ISC */
/*
 * How many columns of a terminal a character takes.  termd and the viewer of
 * its cells use the same table, so that neither can be led to draw beyond the
 * end of a row.
 */
#ifndef TERM_WIDTH_H
#define TERM_WIDTH_H

#include <stdint.h>

/*
 * 1 or 2 columns; 0: it combines with the character before it; -1: it is never
 * drawn (control and format characters, everything that is invisible or
 * reorders text, private use, and what Unicode has not assigned).
 */
int term_width(uint32_t c);

#endif
