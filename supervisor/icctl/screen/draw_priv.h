/* SPDX-License-Identifier: ISC */
/* Internals of the full screen: draw.c keeps the grid, draw_out.c shows it. */
#ifndef DRAW_PRIV_H
#define DRAW_PRIV_H

#include "icctl/screen/viewer.h"

/* Columns that have changed: from .. to - 1. */
struct draw_row {
	unsigned from, to;
};
#define DRAW_ROW_CLEAN ((struct draw_row){.from = UINT16_MAX})

struct draw {
	bool on;         /* the terminal is ours */
	bool clear;      /* all of it is drawn again */
	bool line_dirty; /* the bottom line */
	bool prefix;
	unsigned term_rows, term_cols;
	/* The agent's. */
	unsigned rows, cols;
	struct cell *grid; /* nchars 0: the right half of a wide one */
	struct draw_row *row;
	unsigned cursor_row, cursor_col;
	uint8_t shape;
	uint32_t modes;
	/* The terminal's, as we set it. */
	uint32_t set_modes;
	uint8_t set_shape;
	struct paint paint;
};

extern struct draw draw_env;

/* These columns of the row are to be drawn: from .. to - 1. */
void draw_dirty(unsigned row, unsigned from, unsigned to);
/* Tells termd how much room there is. */
void draw_tell_size(void);
/* Paints a cell in its place; on the left everything is known to be right. */
void draw_cell_at(unsigned row, unsigned col, const struct cell *);

#endif
