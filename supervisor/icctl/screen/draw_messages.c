/* SPDX-License-Identifier: ISC */
/*
 * Draws the session's messages in the agent's rows: until the agent has drawn
 * something, and when the person asks for them.
 */
#include "icctl/screen/draw_priv.h"

#include <string.h>

/*
 * Draw a message from `row` on, broken between words. Returns the row after it.
 */
static unsigned
messages_one(unsigned row, const char *text)
{
	struct paint *p = &draw_env.paint;
	unsigned width = draw_env.term_cols > 20 ? draw_env.term_cols - 2 : 18;
	size_t n, left = strlen(text);

	while (left != 0 && row + 1 < draw_env.term_rows) {
		n = left;
		if (n > width) {
			for (n = width; n != 0 && text[n] != ' ';)
				n--;
			if (n == 0)
				n = width;
		}
		paint_printf(p, "\033[%u;1H ", row + 1);
		(void)buf_add(&p->out, text, n);
		paint_text(p, "\033[K");
		for (text += n, left -= n; left != 0 && *text == ' '; left--)
			text++;
		row++;
	}
	return row;
}

/* Returns the first message from which all others fit on the screen. */
static unsigned
messages_first(void)
{
	unsigned n = 0, rows = 0, width = draw_env.term_cols / 2 + 1;

	while (says_kept(n) != NULL)
		n++;
	while (n != 0 && rows + 2 < draw_env.term_rows) {
		rows += (unsigned)strlen(says_kept(n - 1)) / width + 1;
		n--;
	}
	return n;
}

void
draw_messages_show(void)
{
	struct paint *p = &draw_env.paint;
	const char *text;
	unsigned row = 0;

	paint_plain(p);
	for (unsigned i = messages_first(); (text = says_kept(i)) != NULL; i++)
		row = messages_one(row, text);
	if (row == 0 && draw_env.messages == MESSAGES_ASKED)
		row = messages_one(row, "There are no messages.");
	if (draw_env.messages == MESSAGES_START)
		row = messages_one(row, "The agent is starting ...");
	for (; row + 1 < draw_env.term_rows; row++)
		paint_printf(p, "\033[%u;1H\033[K", row + 1);
	says_seen();
}

void
draw_messages_over(void)
{
	draw_env.messages = MESSAGES_NONE;
	draw_env.clear = true;
}
