/* SPDX-License-Identifier: ISC */
/*
 * Draws the copy of the agent's grid on the terminal. Uses addresses, erasing
 * to the end of a line, colours, and the modes that this viewer sets.
 */
#include "icctl/screen/draw_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUSE (PROTO_TERM_CLICKS | PROTO_TERM_DRAGS | PROTO_TERM_MOVES)

struct draw draw_env;

/* Returns true for consoles that print unknown sequences. */
bool
draw_is_console(void)
{
	const char *term = getenv("TERM");

	return term == NULL || strncmp(term, "linux", 5) == 0 ||
	       strncmp(term, "vt", 2) == 0;
}

void
draw_dirty(unsigned row, unsigned from, unsigned to)
{
	struct draw_row *r = &draw_env.row[row];

	if (from < r->from)
		r->from = from;
	if (to > r->to)
		r->to = to;
}

static void
all_dirty(void)
{
	for (unsigned i = 0; i < draw_env.rows; i++)
		draw_dirty(i, 0, draw_env.cols);
	draw_env.line_dirty = true;
	draw_env.paint.known = false;
}

static bool
is_blank(const struct cell *c)
{
	return c->nchars == 1 && c->chars[0] == ' ' && c->attr == 0 &&
	       c->bg == CELL_DEFAULT;
}

/* Returns the column from which the rest of the row is blank. */
static unsigned
blank_from(const struct cell *cells)
{
	unsigned n = draw_env.cols;

	while (n != 0 && is_blank(&cells[n - 1]))
		n--;
	return n;
}

static void
show_row(unsigned row)
{
	const struct cell *cells = draw_env.grid + (size_t)row * draw_env.cols;
	struct draw_row *r = &draw_env.row[row];
	unsigned col = r->from, to = r->to, blank, shown = draw_env.cols;
	struct paint *p = &draw_env.paint;

	*r = DRAW_ROW_CLEAN;
	if (shown > draw_env.term_cols)
		shown = draw_env.term_cols;
	if (to > shown)
		to = shown;
	if (col >= to)
		return;
	/* Begin at the left half of a wide character. */
	if (cells[col].nchars == 0 && col != 0)
		col--;
	blank = blank_from(cells);
	paint_printf(p, "\033[%u;%uH", row + 1, col + 1);
	while (col < to && col < blank) {
		if (cells[col].width > shown - col)
			break;
		paint_cell_at(p, row, col, &cells[col]);
		col += cells[col].width;
	}
	if (col < to) {
		paint_plain(p);
		paint_text(p, "\033[K");
	}
}

/* Have the real terminal send extended keys, or no longer. */
static void
show_keys(bool on)
{
	if (on == viewer.state->keys || draw_is_console())
		return;
	viewer.state->keys = on;
	paint_text(&draw_env.paint, on ? TTY_KEYS_ON : TTY_KEYS_OFF);
}

/* Set and clear the agent's modes on the real terminal. */
static void
show_modes(void)
{
	static const struct {
		uint32_t bit;
		const char *on, *off;
	} modes[] = {
	    {PROTO_TERM_CURSOR_KEYS, "\033[?1h", "\033[?1l"},
	    {PROTO_TERM_KEYPAD, "\033=", "\033>"},
	    {PROTO_TERM_FOCUS, "\033[?1004h", "\033[?1004l"},
	    {PROTO_TERM_CLICKS, "\033[?1000h", "\033[?1000l"},
	    {PROTO_TERM_DRAGS, "\033[?1002h", "\033[?1002l"},
	    {PROTO_TERM_MOVES, "\033[?1003h", "\033[?1003l"},
	};
	uint32_t changed = draw_env.modes ^ draw_env.set_modes;

	for (size_t i = 0; i < nitems(modes); i++)
		if ((changed & modes[i].bit) != 0)
			paint_text(&draw_env.paint,
			    (draw_env.modes & modes[i].bit) != 0
				? modes[i].on
				: modes[i].off);
	if ((changed & MOUSE) != 0)
		paint_text(&draw_env.paint, (draw_env.modes & MOUSE) != 0
						? "\033[?1006h"
						: "\033[?1006l");
	draw_env.set_modes = draw_env.modes;
	show_keys(
	    (draw_env.modes & (PROTO_TERM_KITTY | PROTO_TERM_OTHER_KEYS)) != 0);
}

static void
show_cursor(void)
{
	static const unsigned shapes[] = {
	    [PROTO_CURSOR_BLOCK] = 2,
	    [PROTO_CURSOR_LINE] = 4,
	    [PROTO_CURSOR_BAR] = 6,
	};
	struct paint *p = &draw_env.paint;
	uint8_t want = (uint8_t)(shapes[draw_env.shape] -
				 ((draw_env.modes & PROTO_TERM_BLINK) != 0));

	if (draw_bottom_input() != NULL) {
		paint_printf(p, "\033[%u;%uH\033[?25h", draw_env.term_rows,
		    draw_env.message_col + 1);
		return;
	}
	/* For the default shape, use this terminal's own. */
	if (want == 1)
		want = 0;
	if ((draw_env.modes & PROTO_TERM_CURSOR) == 0 ||
	    draw_env.cursor_row + 1 >= draw_env.term_rows)
		return;
	if (draw_env.messages != MESSAGES_NONE) {
		paint_printf(p, "\033[%u;%uH", draw_env.cursor_row + 1,
		    draw_env.cursor_col + 1);
		return;
	}
	if (draw_env.set_shape != want && !draw_is_console())
		paint_printf(p, "\033[%u q", (unsigned)want);
	draw_env.set_shape = want;
	paint_printf(p, "\033[%u;%uH\033[?25h", draw_env.cursor_row + 1,
	    draw_env.cursor_col + 1);
}

/*
 * Clear the screen row by row: some terminals keep a screen that is cleared at
 * once in their scroll-back, with our bottom line in it.
 */
static void
show_nothing(void)
{
	struct paint *p = &draw_env.paint;

	p->known = false;
	paint_plain(p);
	for (unsigned i = 1; i <= draw_env.term_rows; i++)
		paint_printf(p, "\033[%u;1H\033[K", i);
	draw_env.clear = false;
	all_dirty();
}

/* Returns the row after the last one that is not blank. */
static unsigned
row_behind(void)
{
	unsigned row = draw_env.rows;

	while (row != 0 && blank_from(draw_env.grid +
				      (size_t)(row - 1) * draw_env.cols) == 0)
		row--;
	return row;
}

void
draw_leave_main(void)
{
	struct paint *p = &draw_env.paint;

	if (viewer.state->alternate)
		return;
	paint_plain(p);
	paint_printf(p, "\033[%u;1H\033[K\033[%u;1H", draw_env.term_rows,
	    (draw_env.main_rows < draw_env.term_rows ? draw_env.main_rows
						     : draw_env.term_rows - 1) +
		1);
}

/* The agent switched to its other screen, or back. */
static void
show_alternate(void)
{
	bool want = (draw_env.modes & PROTO_TERM_ALTERNATE) != 0;

	if (want == viewer.state->alternate)
		return;
	/* The messages at the start are not what the screen goes back to. */
	if (want && draw_env.messages == MESSAGES_START) {
		show_nothing();
		draw_env.main_rows = 0;
	}
	show_keys(false);
	if (want)
		draw_leave_main();
	viewer.state->alternate = want;
	paint_plain(&draw_env.paint);
	paint_text(&draw_env.paint, want ? "\033[?1049h" : "\033[?1049l");
	draw_env.clear = true;
}

void
draw_frame(void)
{
	struct paint *p = &draw_env.paint;

	if (!draw_env.on || draw_env.term_rows < 2 ||
	    viewer_put_off(VIEWER_LATER_DRAW))
		return;
	paint_text(p, "\033[?25l");
	show_alternate();
	if (draw_env.clear) {
		show_nothing();
	}
	if (draw_env.messages != MESSAGES_NONE)
		draw_messages_show();
	for (unsigned i = 0; i < draw_env.rows && i + 1 < draw_env.term_rows &&
			     draw_env.messages == MESSAGES_NONE;
	     i++) {
		show_row(i);
		if (paint_some(p, STDOUT_FILENO) == -1)
			viewer.lost();
	}
	if (!viewer.state->alternate && draw_env.messages == MESSAGES_NONE)
		draw_env.main_rows = row_behind();
	if (draw_env.line_dirty)
		draw_bottom();
	show_modes();
	show_cursor();
	if (paint_flush(p, STDOUT_FILENO) == -1)
		viewer.lost();
}

void
draw_line(void)
{
	draw_env.line_dirty = true;
	draw_frame();
}

void
draw_line_later(void)
{
	draw_env.line_dirty = true;
	viewer.later |= VIEWER_LATER_DRAW;
}

void
draw_tell_size(void)
{
	unsigned rows = draw_env.term_rows, cols = draw_env.term_cols;
	struct msg_SIZE m;

	rows -= rows > 1;
	m.rows = (uint16_t)(rows < PROTO_MAX_ROWS ? rows : PROTO_MAX_ROWS);
	m.cols = (uint16_t)(cols < PROTO_MAX_COLS ? cols : PROTO_MAX_COLS);
	viewer_send(MSG_SIZE, &m);
}

void
draw_resize(void)
{
	if (viewer_put_off(VIEWER_LATER_RESIZE) ||
	    !tty_size(&draw_env.term_rows, &draw_env.term_cols))
		return;
	draw_env.clear = true;
	draw_tell_size();
	draw_frame();
}

void
draw_take_over(void)
{
	struct paint *p = &draw_env.paint;

	draw_env.set_modes = 0;
	draw_env.set_shape = 0;
	draw_env.on = true;
	draw_env.main_rows = 0;
	viewer.state->drawn = true;
	viewer.state->alternate = false;
	if (!tty_size(&draw_env.term_rows, &draw_env.term_cols)) {
		draw_env.term_rows = 24;
		draw_env.term_cols = 80;
	}
	if (!draw_is_console())
		paint_text(p, "\033[22;0t");
	paint_text(p, "\033[?7l\033[?2004h");
	draw_env.clear = true;
}

void
draw_start(void)
{
	struct paint *p = &draw_env.paint;

	paint_init(p);
	/* An attached viewer sees an agent that started long ago. */
	if (!viewer.how.attached && draw_env.rows == 0)
		draw_env.messages = MESSAGES_START;
	draw_take_over();
	/* Scroll the person's previous output up, so that it is kept. */
	for (unsigned i = 0; i < draw_env.term_rows; i++)
		paint_text(p, "\n");
	draw_tell_size();
	draw_frame();
}

void
draw_stop(void)
{
	struct paint *p = &draw_env.paint;

	if (!draw_env.on)
		return;
	draw_env.on = false;
	buf_reset(&p->out, 0);
	show_keys(false);
	paint_text(p, tty_reset);
	if (viewer.state->alternate)
		paint_text(p, "\033[?1049l");
	else
		paint_printf(p, "\033[%u;1H\033[J",
		    (row_behind() < draw_env.term_rows
			    ? row_behind()
			    : draw_env.term_rows - 1) +
			1);
	(void)paint_flush(p, STDOUT_FILENO);
	viewer.state->drawn = viewer.state->alternate = false;
}
