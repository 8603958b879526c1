/* SPDX-License-Identifier: ISC */
/*
 * Finds where the rows of a line begin on a terminal that wraps it, so that no
 * row of the agent's begins like a line of ours. Terminals do not agree on the
 * width of characters beyond ASCII: behind one of them, a row may begin at any
 * of several places, and each of these counts. Holds no text.
 */
#ifndef WRAPS_H
#define WRAPS_H

#include <stdbool.h>
#include <stdint.h>

struct wraps {
	unsigned cols;        /* the terminal has */
	uint64_t least, most; /* columns of the line so far */
	/* the least of those up to the latest that is no blank */
	uint64_t from_least;
};

/* A line begins. `fd` is that of a terminal; else 80 columns are assumed. */
void wraps_begin(struct wraps *, int fd);
/*
 * Take the next character, with those that are joined to it. Returns true if it
 * may be the first of a row behind blanks; that of the line's own first row is
 * not meant.
 */
bool wraps_take(struct wraps *, uint32_t c, unsigned nchars);

#endif
