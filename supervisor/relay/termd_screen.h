/* SPDX-License-Identifier: ISC */
/*
 * The agent's screen: a grid of cells behind libvterm, which sees only what
 * this module composes for it out of tokens.  A function that is not in the
 * table has no effect; queries are answered from a table of our own.
 */
#ifndef TERMD_SCREEN_H
#define TERMD_SCREEN_H

#include "relay/termd_pen.h"
#include "relay/termd_token.h"

#define SCREEN_MIN_ROWS 2U
#define SCREEN_MIN_COLS 20U
#define SCREEN_MAX_TITLE 80U /* characters */

struct screen;

/* What happens on it, told while it is fed. */
struct screen_ops {
	/* Text for the agent, as if it were typed. */
	void (*reply)(void *, struct span);
	/* A row left at the top: its cells, encoded. */
	void (*line)(void *, struct span cells);
	void (*bell)(void *);
	/* UTF-8 without control characters. */
	void (*title)(void *, struct span);
};

/* Sizes are clamped to what SIZE allows.  NULL: out of memory. */
struct screen *screen_new(
    unsigned rows, unsigned cols, const struct screen_ops *, void *arg);
void screen_free(struct screen *);
void screen_feed(struct screen *, struct span);
void screen_resize(struct screen *, unsigned rows, unsigned cols);

unsigned screen_rows(const struct screen *);
unsigned screen_cols(const struct screen *);
/* Its rows and columns as BOX_SIZE has them: four bytes. */
void screen_size_put(const struct screen *, uint8_t *dst);
void screen_cursor(const struct screen *, unsigned *row, unsigned *col);
/* enum proto_cursor, and enum proto_term bits. */
unsigned screen_shape(const struct screen *);
uint32_t screen_modes(const struct screen *);
/* Reports of the mouse in the form of mode 1006. */
bool screen_mouse_sgr(const struct screen *);
/* Rises with every change; a row's is that of its last one. */
uint64_t screen_change(const struct screen *);
uint64_t screen_row_change(const struct screen *, unsigned row);
/* A row's cells without blanks at its end; how many bytes. */
size_t screen_row(const struct screen *, unsigned row, void *dst, size_t cap);

#endif
