/* SPDX-License-Identifier: ISC */
/*
 * News for a person who may be looking elsewhere: the window's title, the bell,
 * and the notifications that terminals show (OSC 9, OSC 777).  All texts are
 * ours; of the agent's only its title is shown, in printable ASCII and behind
 * our own word.  And the panel and our messages, for which the agent's screen
 * makes way.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "icctl/screen/draw_priv.h"
#include "common/plural.h"

#define NOTICE_TITLE 80U
/* Between two notifications: an agent can have calls held in a row. */
#define NOTICE_MS 3000U

static struct {
	char title[NOTICE_TITLE + 1]; /* the agent's */
	bool titled;                  /* it or we have set one */
	uint64_t rung;
} notice_env;

static void
title_again(void)
{
	struct paint *p = &draw_env.paint;

	if (!notice_env.titled)
		return;
	paint_text(p, "\033]2;ironcurtain: ");
	if (draw_env.npending != 0)
		paint_printf(p, "%u pending call%s", draw_env.npending,
		    plural(draw_env.npending));
	else
		paint_text(p, notice_env.title);
	paint_text(p, "\033\\");
}

void
draw_title(struct span text)
{
	size_t n = text.len < NOTICE_TITLE ? text.len : NOTICE_TITLE;

	for (size_t i = 0; i < n; i++)
		notice_env.title[i] = text.p[i] >= 0x20 && text.p[i] < 0x7f
					  ? (char)text.p[i]
					  : '?';
	notice_env.title[n] = '\0';
	if (!draw_env.on || draw_is_console())
		return;
	notice_env.titled = true;
	title_again();
	(void)paint_flush(&draw_env.paint, STDOUT_FILENO);
}

/* The person is told that the first of them came; not of each in a row. */
static void
ring(void)
{
	struct paint *p = &draw_env.paint;
	uint64_t now = loop_now(&viewer.loop);

	if (notice_env.rung != 0 && now - notice_env.rung < NOTICE_MS)
		return;
	notice_env.rung = now;
	paint_text(p, "\a");
	if (draw_is_console())
		return;
	paint_text(p, "\033]9;IronCurtain: a call waits for your answer\033\\");
	paint_text(p, "\033]777;notify;IronCurtain;a call waits for your "
		      "answer\033\\");
}

void
draw_pending(unsigned n, const char *what, bool loud)
{
	draw_env.npending = n;
	snprintf(draw_env.pending, sizeof(draw_env.pending), "%s", what);
	draw_env.line_dirty = true;
	if (!draw_env.on)
		return;
	if (!draw_is_console()) {
		notice_env.titled = true;
		title_again();
	}
	if (loud)
		ring();
	draw_frame();
	(void)paint_flush(&draw_env.paint, STDOUT_FILENO);
}

void
draw_pause(void)
{
	struct paint *p = &draw_env.paint;

	draw_env.on = false;
	buf_reset(&p->out, 0);
	paint_text(p, tty_reset);
	paint_text(p, "\033[?1049h\033[2J\033[H");
	viewer.state->drawn = viewer.state->alternate = true;
	if (paint_flush(p, STDOUT_FILENO) == -1 || tty_cooked() == -1)
		viewer.lost();
}

void
draw_resume(void)
{
	if (tty_raw() == -1)
		viewer.lost();
	paint_text(&draw_env.paint, "\033[?1049l");
	draw_take_over();
	draw_tell_size();
	title_again();
	draw_frame();
}

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

void
draw_messages(void)
{
	draw_env.messages = MESSAGES_ASKED;
	draw_line();
}

bool
draw_messages_end(void)
{
	if (draw_env.messages != MESSAGES_ASKED)
		return false;
	draw_messages_over();
	draw_line();
	return true;
}
