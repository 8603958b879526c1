/* SPDX-License-Identifier: ISC */
/* Draws the input line in the bottom line, with the cursor always in view. */
#include "icctl/screen/draw_priv.h"

#include <string.h>

#include "common/term/width.h"
#include "icctl/screen/message.h"

#define HINT_COLS 60U /* a narrower terminal has no room for the hint */

static const char message_label[] = " say: ";

static void
message_ascii(unsigned *col, unsigned end, const char *text)
{
	struct cell c = cell_of(' ');

	c.attr = CELL_REVERSE;
	for (; *text != '\0' && *col < end; text++, (*col)++) {
		c.chars[0] = (uint8_t)*text;
		paint_cell(&draw_env.paint, &c);
	}
}

static unsigned
message_width(const struct edit *e, size_t from, size_t to)
{
	unsigned cols = 0;

	for (size_t i = from; i < to; i++)
		cols += (unsigned)term_width(e->c[i]);
	return cols;
}

/* Draw the characters that fit, each with those that combine with it. */
static void
message_text(const struct edit *e, size_t from, unsigned *col, unsigned end)
{
	unsigned row = draw_env.term_rows - 1;
	struct cell c;

	for (size_t i = from; i < e->n;) {
		c = cell_of(e->c[i]);
		c.attr = CELL_REVERSE;
		c.width = (uint8_t)term_width(e->c[i]);
		if (c.width == 0 || c.width > end - *col)
			break;
		for (i++; i < e->n && term_width(e->c[i]) == 0; i++)
			if (c.nchars < CELL_MARKED)
				c.chars[c.nchars++] = e->c[i];
		paint_cell_at(&draw_env.paint, row, *col, &c);
		*col += c.width;
	}
}

void
draw_message(const struct edit *e, const char *hint)
{
	unsigned cols = draw_env.term_cols, end = cols, col = 0, room;
	size_t from = 0;

	if (cols > HINT_COLS)
		end -= (unsigned)strlen(hint);
	paint_printf(&draw_env.paint, "\033[%u;1H", draw_env.term_rows);
	message_ascii(&col, end, message_label);
	room = end - col;
	while (from < e->at && message_width(e, from, e->at) + 2 > room)
		from++;
	while (from < e->at && term_width(e->c[from]) == 0)
		from++;
	draw_env.message_col = col + message_width(e, from, e->at);
	message_text(e, from, &col, end);
	while (col < end)
		message_ascii(&col, end, " ");
	message_ascii(&col, cols, hint);
	paint_plain(&draw_env.paint);
}
