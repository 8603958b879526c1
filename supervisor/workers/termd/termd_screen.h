/* SPDX-License-Identifier: ISC */
/*
 * The agent's screen: a grid of cells in libvterm, which receives only what
 * this module composes from tokens. A function that is not in the table has no
 * effect; queries are answered here from a table.
 */
#ifndef TERMD_SCREEN_H
#define TERMD_SCREEN_H

#include "workers/termd/termd_pen.h"
#include "workers/termd/termd_token.h"

#define SCREEN_MIN_ROWS 2U
#define SCREEN_MIN_COLS 20U
#define SCREEN_MAX_TITLE 80U /* characters */

struct screen;

/* Events, reported while the screen is fed. */
struct screen_ops {
	/* Text for the agent, as if typed. */
	void (*reply)(void *, struct span);
	/* A row scrolled off the top: its encoded cells. */
	void (*line)(void *, struct span cells);
	void (*bell)(void *);
	/* UTF-8 without control characters. */
	void (*title)(void *, struct span);
	/* termd_offer.h */
	void (*offer)(void *, enum proto_offer, struct span);
};

/* Clamps the size to the limits of SIZE. Returns NULL if memory ran out. */
struct screen *screen_new(
    unsigned rows, unsigned cols, const struct screen_ops *, void *arg);
void screen_free(struct screen *);
void screen_feed(struct screen *, struct span);
void screen_resize(struct screen *, unsigned rows, unsigned cols);

unsigned screen_rows(const struct screen *);
unsigned screen_cols(const struct screen *);
/* Write rows and columns in the form of BOX_SIZE: four bytes. */
void screen_size_put(const struct screen *, uint8_t *dst);
void screen_cursor(const struct screen *, unsigned *row, unsigned *col);
/* The cursor (enum proto_cursor) and the modes (enum proto_term bits). */
unsigned screen_shape(const struct screen *);
uint32_t screen_modes(const struct screen *);
/* Returns true if the mouse is reported in the form of mode 1006. */
bool screen_mouse_sgr(const struct screen *);
/*
 * The number of the last change, of the screen and of a row; it always rises.
 */
uint64_t screen_change(const struct screen *);
uint64_t screen_row_change(const struct screen *, unsigned row);
/* Encode a row's cells without trailing blanks. Returns the number of bytes. */
size_t screen_row(const struct screen *, unsigned row, void *dst, size_t cap);

#endif
