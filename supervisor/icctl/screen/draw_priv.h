/* SPDX-License-Identifier: ISC */
/*
 * Internals of the full screen: draw.c maintains the grid, draw_out.c shows it.
 */
#ifndef DRAW_PRIV_H
#define DRAW_PRIV_H

#include "icctl/screen/viewer.h"

/* Columns that have changed: `from` to `to` - 1. */
struct draw_row {
	unsigned from, to;
};
#define DRAW_ROW_CLEAN ((struct draw_row){.from = UINT16_MAX})

/* Rows of the agent that show our messages instead. */
enum draw_messages {
	MESSAGES_NONE,
	MESSAGES_START, /* until the agent draws something */
	MESSAGES_ASKED  /* until the person types a key */
};

struct edit;

struct draw {
	bool on;         /* the viewer owns the terminal */
	bool clear;      /* draw everything again */
	bool line_dirty; /* the bottom line has changed */
	bool prefix;
	enum draw_messages messages;
	unsigned term_rows, term_cols;
	unsigned main_rows; /* the agent's rows there, up to its last text */
	/* The agent's. */
	unsigned rows, cols;
	struct cell *grid; /* nchars 0: the right half of a wide character */
	struct draw_row *row;
	unsigned cursor_row, cursor_col;
	uint8_t shape;
	uint32_t modes;
	/* The terminal's, as the viewer set it. */
	uint32_t set_modes;
	uint8_t set_shape;
	struct paint paint;
	/* Calls that wait for the person. */
	unsigned npending;
	const struct edit *input; /* the input line, or NULL */
	const char *input_hint;	  /* says what keys do */
	unsigned message_col;	  /* its cursor */
	char pending[80];
	char meter[48]; /* how much of the budget is used */
};

extern struct draw draw_env;

/* Mark columns `from` to `to` - 1 of the row as changed. */
void draw_dirty(unsigned row, unsigned from, unsigned to);
/* Returns true for consoles that print unknown sequences. */
bool draw_is_console(void);
/* Set the modes that a viewer always sets, and draw the whole screen again. */
void draw_take_over(void);
/*
 * Erase the bottom line of the main screen and put the cursor behind the
 * agent's text, where the terminal returns to from its other screen.
 */
void draw_leave_main(void);
/* The agent has drawn something: its rows are its own. */
void draw_messages_over(void);
/* Draw the messages in the agent's rows. */
void draw_messages_show(void);
/* Draw the bottom line, exactly as wide as the terminal. */
void draw_bottom(void);
/* Returns the input line if it is shown there, or NULL. */
const struct edit *draw_bottom_input(void);
/* Draw the input line instead of the bottom line; `hint` says what keys do. */
void draw_message(const struct edit *, const char *hint);
/* Tell termd the size of the terminal. */
void draw_tell_size(void);

#endif
