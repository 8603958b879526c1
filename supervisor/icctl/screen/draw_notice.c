/* SPDX-License-Identifier: ISC */
/*
 * News for a person who may be looking elsewhere: the window's title, the bell,
 * and the notifications that terminals show (OSC 9, OSC 777).  All texts are
 * ours; of the agent's only its title is shown, in printable ASCII and behind
 * words that no text of ours begins with.  And the panel and our messages, for which the agent's screen
 * makes way while they are shown.
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
		paint_printf(p, "the agent says: %s", notice_env.title);
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
draw_meter(const char *what)
{
	if (strcmp(draw_env.meter, what) == 0)
		return;
	snprintf(draw_env.meter, sizeof(draw_env.meter), "%s", what);
	draw_line();
}

void
draw_pause(void)
{
	struct paint *p = &draw_env.paint;

	draw_env.on = false;
	buf_reset(&p->out, 0);
	paint_text(p, tty_reset);
	draw_leave_main();
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

void
draw_input(const struct edit *e, const char *hint)
{
	draw_env.input = e;
	draw_env.input_hint = hint;
	draw_line_later();
}
