/* SPDX-License-Identifier: ISC */
/*
 * Cells of a terminal as bytes: the `cells` of ROW and LINE.  termd encodes
 * them; a viewer decodes them and makes every check that is needed before a
 * cell may be drawn, because the agent may have taken over termd.
 *
 * A run of cells that look the same: u16 number of cells, u16 attributes, u32
 * foreground, u32 background, then the cells.  A cell: u8 number of characters
 * (and CELL_WIDE), then each character in 24 bits.  All are little-endian.
 */
#ifndef TERM_CELLS_H
#define TERM_CELLS_H

#include "common/span.h"

#define CELL_MARKED 5U     /* a character, and four that combine with it */
#define CELL_MAX_CHARS 10U /* an emoji, see cluster.h */
#define CELL_WIDE 0x80U

enum cell_attr {
	CELL_BOLD = 1 << 0,
	CELL_DIM = 1 << 1,
	CELL_ITALIC = 1 << 2,
	CELL_UNDERLINE = 1 << 3,
	CELL_UNDERLINE2 = 1 << 4, /* double underline */
	CELL_CURLY = 1 << 5,      /* wavy underline */
	CELL_BLINK = 1 << 6,
	CELL_REVERSE = 1 << 7,
	CELL_HIDDEN = 1 << 8,
	CELL_STRIKE = 1 << 9,
};
#define CELL_ATTRS 0x3ffU

/* A colour: the kind in the top byte, then its number or red, green, blue. */
#define CELL_DEFAULT 0U
#define CELL_PALETTE 0x01000000U
#define CELL_RGB 0x02000000U

struct cell {
	uint32_t fg, bg;
	uint16_t attr;  /* enum cell_attr bits */
	uint8_t width;  /* columns: 1 or 2 */
	uint8_t nchars; /* at least 1; more than CELL_MARKED: a cluster */
	uint32_t chars[CELL_MAX_CHARS];
};

/* An encoder that writes into the caller's memory. */
struct cells_out {
	uint8_t *p;
	size_t cap, len;
	size_t run; /* offset of the last run */
	uint32_t fg, bg;
	uint16_t attr, n; /* the last run's; n is 0 if there is none */
};

void cells_begin(struct cells_out *, void *dst, size_t cap);
/*
 * Append a cell.  Returns 0, or -1 if it does not fit; nothing is added then.
 */
int cells_add(struct cells_out *, const struct cell *);

/* A decoder. */
struct cells_in {
	struct span rest;
	uint16_t attr, n;
	uint32_t fg, bg;
};

void cells_open(struct cells_in *, struct span cells);
/*
 * Decode the next cell.  Returns 1, 0 at the end, or -1 if the cell is
 * malformed or contains a character that must not be drawn or that has the
 * wrong width for its position.
 */
int cells_next(struct cells_in *, struct cell *);

/* Returns a cell with this one character and no attributes. */
struct cell cell_of(uint32_t c);

#endif
