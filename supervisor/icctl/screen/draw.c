/* SPDX-License-Identifier: ISC */
/*
 * The full screen. A copy of the agent's grid is drawn cell by cell into the
 * rows above the last one; the last row belongs to the viewer, and no row of
 * the grid reaches it. Lines never wrap: every row, and every character that a
 * terminal may consider wider, is positioned by an address of its own.
 */
#include "icctl/screen/viewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/screen/draw_priv.h"

static bool
cell_same(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct cell *
cell_at(unsigned row, unsigned col)
{
	return &draw_env.grid[(size_t)row * draw_env.cols + col];
}

static int
grid_resize(unsigned rows, unsigned cols)
{
	const struct cell blank = cell_of(' ');
	struct cell *grid;
	struct draw_row *row;

	if (rows == 0 || cols == 0)
		return -1;
	/*
	 * Free the old grid first: two of the largest size would be too much
	 * memory.
	 */
	free(draw_env.grid);
	free(draw_env.row);
	draw_env.grid = NULL;
	draw_env.row = NULL;
	draw_env.rows = draw_env.cols = 0;
	if ((grid = reallocarray(NULL, (size_t)rows * cols, sizeof(*grid))) ==
	    NULL)
		return -1;
	if ((row = calloc(rows, sizeof(*row))) == NULL) {
		free(grid);
		return -1;
	}
	for (size_t i = 0; i < (size_t)rows * cols; i++)
		grid[i] = blank;
	draw_env.grid = grid;
	draw_env.row = row;
	draw_env.rows = rows;
	draw_env.cols = cols;
	draw_env.clear = true;
	return 0;
}

int
draw_screen(const struct msg_SCREEN *m)
{
	if ((m->rows != draw_env.rows || m->cols != draw_env.cols) &&
	    grid_resize(m->rows, m->cols) == -1)
		return -1;
	if (m->row >= m->rows)
		return -1;
	draw_env.cursor_row = m->row;
	draw_env.cursor_col = m->col < m->cols ? m->col : m->cols - 1U;
	draw_env.shape = m->shape;
	draw_env.modes = m->modes;
	return 0;
}

static void
put_cell(unsigned row, unsigned col, const struct cell *c)
{
	struct cell *at = cell_at(row, col);

	if (cell_same(at, c))
		return;
	if (draw_env.messages == MESSAGES_START)
		draw_messages_over();
	*at = *c;
	draw_dirty(row, col, col + 1);
}

/* Replace half of a character whose other half was overwritten. */
static void
mend(unsigned row, unsigned col)
{
	const struct cell blank = cell_of(' ');
	struct cell *c = cell_at(row, col);
	bool whole = c->width == 1 && c->nchars != 0;

	if (c->width == 2 && col + 1 < draw_env.cols &&
	    cell_at(row, col + 1)->nchars == 0)
		whole = true;
	if (c->nchars == 0 && col != 0 && cell_at(row, col - 1)->width == 2)
		whole = true;
	if (!whole)
		put_cell(row, col, &blank);
}

int
draw_row(const struct msg_ROW *m)
{
	const struct cell right = {.width = 1}, blank = cell_of(' ');
	unsigned col = m->from;
	struct cells_in in;
	struct cell c;
	int rv;

	if (m->row >= draw_env.rows || m->from >= draw_env.cols)
		return -1;
	cells_open(&in, m->cells);
	while ((rv = cells_next(&in, &c)) == 1) {
		if (c.width > draw_env.cols - col)
			return -1;
		put_cell(m->row, col++, &c);
		if (c.width == 2)
			put_cell(m->row, col++, &right);
	}
	/* The rest of the row is blank. */
	while (col < draw_env.cols)
		put_cell(m->row, col++, &blank);
	if (m->from != 0)
		mend(m->row, m->from - 1U);
	return rv;
}

/*
 * A row left the agent's screen at the top: scroll it out of ours too, so that
 * the person can scroll back to it.
 */
int
draw_scrolled(const struct msg_LINE *m)
{
	struct paint *p = &draw_env.paint;
	const struct cell blank = cell_of(' ');
	struct cells_in in;
	unsigned col = 0;
	struct cell c;
	int rv;

	if (draw_env.rows == 0 || m->more)
		return 0;
	if (!draw_env.on || viewer.state->alternate ||
	    draw_env.rows + 1 != draw_env.term_rows)
		return 0;
	if (draw_env.messages != MESSAGES_NONE) {
		draw_messages_over();
		draw_frame();
	}
	paint_text(p, "\033[?25l\033[H");
	cells_open(&in, m->cells);
	while ((rv = cells_next(&in, &c)) == 1) {
		if (col + c.width > draw_env.term_cols)
			continue;
		paint_cell_at(&draw_env.paint, 0, col, &c);
		col += c.width;
	}
	paint_plain(p);
	if (col < draw_env.term_cols)
		paint_text(p, "\033[K");
	paint_printf(
	    p, "\033[1;%ur\033[%u;1H\n\033[r", draw_env.rows, draw_env.rows);
	memmove(draw_env.grid, draw_env.grid + draw_env.cols,
	    (size_t)(draw_env.rows - 1) * draw_env.cols *
		sizeof(*draw_env.grid));
	memmove(draw_env.row, draw_env.row + 1,
	    (draw_env.rows - 1) * sizeof(*draw_env.row));
	for (unsigned i = 0; i < draw_env.cols; i++)
		*cell_at(draw_env.rows - 1, i) = blank;
	draw_env.row[draw_env.rows - 1] = DRAW_ROW_CLEAN;
	if (paint_some(p, STDOUT_FILENO) == -1)
		viewer.lost();
	return rv;
}

unsigned
draw_rows(void)
{
	return draw_env.rows;
}

unsigned
draw_cols(void)
{
	return draw_env.cols;
}

uint32_t
draw_modes(void)
{
	return draw_env.modes;
}

void
draw_prefix(bool on)
{
	draw_env.prefix = on;
	draw_line();
}

void
draw_again(void)
{
	draw_env.rows = draw_env.cols = 0;
	draw_tell_size();
}
