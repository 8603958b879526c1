/* SPDX-License-Identifier: ISC */
/*
 * The output of an agent without a terminal: lines of text with colours. The
 * cursor moves only within the line, as progress bars require.
 */
#ifndef TERMD_LINES_H
#define TERMD_LINES_H

#include "common/term/cells.h"
#include "workers/termd/termd_pen.h"
#include "workers/termd/termd_token.h"

#define LINES_MAX 1024U /* cells; a longer line is cut into several */

struct lines;
/*
 * Receives a line. `more`: it is incomplete and will be sent again. `joined`:
 * it continues the previous line, which was too long.
 */
typedef void lines_fn(struct lines *, bool more, bool joined);

struct lines {
	struct tokenizer z;
	struct pen pen;
	lines_fn *fn;
	void *arg;
	unsigned n, at; /* number of cells; position of the next one */
	uint32_t wait;  /* joins the last cell with the next character, or 0 */
	bool joined;    /* continues the previous line */
	bool fresh;     /* changed since it was last sent */
	struct cell cells[LINES_MAX];
};

void termd_lines_init(struct lines *, lines_fn *, void *arg);
void lines_feed(struct lines *, struct span);
/* Send an unfinished line if it has changed. */
void lines_flush(struct lines *);
/* The output has ended: the rest is a line. */
void lines_end(struct lines *);
/* Encode the line's cells. Returns the number of bytes. */
size_t lines_encode(const struct lines *, void *dst, size_t cap);

#endif
