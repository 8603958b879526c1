/* SPDX-License-Identifier: ISC */
/*
 * The output of an agent that has no terminal: lines of text with colours.
 * The cursor moves within the line only, as progress bars need it.
 */
#ifndef TERMD_LINES_H
#define TERMD_LINES_H

#include "common/term/cells.h"
#include "relay/termd_pen.h"
#include "relay/termd_token.h"

#define LINES_MAX 1024U /* cells; a longer line is cut into several */

struct lines;
/*
 * A line.  more: it is not complete, and comes again.  joined: it continues
 * the one before, which was too long.
 */
typedef void lines_fn(struct lines *, bool more, bool joined);

struct lines {
	struct tokenizer z;
	struct pen pen;
	lines_fn *fn;
	void *arg;
	unsigned n, at; /* cells in the line; where the next one goes */
	bool joined;    /* this line continues one */
	bool fresh;     /* changed since it was last told */
	struct cell cells[LINES_MAX];
};

void lines_init(struct lines *, lines_fn *, void *arg);
void lines_feed(struct lines *, struct span);
/* Tells a line that has no end yet, if there is something new in it. */
void lines_flush(struct lines *);
/* There is no more: what is left is a line. */
void lines_end(struct lines *);
/* Its cells; how many bytes. */
size_t lines_encode(const struct lines *, void *dst, size_t cap);

#endif
