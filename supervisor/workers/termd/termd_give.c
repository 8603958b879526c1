/* SPDX-License-Identifier: ISC */
/*
 * The two ways out of a screen: composed text for libvterm, which is collected
 * and given to it in batches, and replies for the agent.
 */
#include "workers/termd/termd_screen_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
screen_flush(struct screen *s)
{
	if (s->n == 0)
		return;
	vterm_input_write(s->vt, s->batch, s->n);
	s->n = 0;
}

/* Queue bytes for libvterm, all or none. */
void
screen_give(struct screen *s, const void *bytes, size_t len)
{
	if (len > sizeof(s->batch) - s->n)
		screen_flush(s);
	memcpy(s->batch + s->n, bytes, len);
	s->n += len;
}

void
screen_givef(struct screen *s, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text))
		screen_give(s, text, (size_t)n);
}

void
screen_reply(struct screen *s, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text))
		s->ops->reply(s->arg, span_of(text, (size_t)n));
}

static void
give_colour(struct screen *s, unsigned base, uint32_t c)
{
	if ((c & 0xff000000U) == CELL_PALETTE)
		screen_givef(s, "\033[%u;5;%um", base, c & 0xffU);
	else if ((c & 0xff000000U) == CELL_RGB)
		screen_givef(s, "\033[%u;2;%u;%u;%um", base, c >> 16 & 0xffU,
		    c >> 8 & 0xffU, c & 0xffU);
}

/*
 * Use several sequences: libvterm writes beyond its array of parameters if one
 * sequence has more than 16, as a complete pen may.
 */
void
screen_pen(struct screen *s)
{
	static const struct {
		uint16_t attr;
		const char *text;
	} attrs[] = {{CELL_BOLD, ";1"}, {CELL_ITALIC, ";3"},
	    {CELL_UNDERLINE, ";4"}, {CELL_UNDERLINE2, ";21"},
	    {CELL_CURLY, ";4:3"}, {CELL_BLINK, ";5"}, {CELL_REVERSE, ";7"},
	    {CELL_STRIKE, ";9"}};
	unsigned font = ((s->pen.attr & CELL_DIM) != 0 ? 1U : 0) |
			((s->pen.attr & CELL_HIDDEN) != 0 ? 2U : 0);
	char text[128] = "\033[0";
	size_t n = strlen(text);

	for (size_t i = 0; i < nitems(attrs); i++)
		if ((s->pen.attr & attrs[i].attr) != 0) {
			memcpy(text + n, attrs[i].text, strlen(attrs[i].text));
			n += strlen(attrs[i].text);
		}
	n += (size_t)snprintf(text + n, sizeof(text) - n, ";%u", 10 + font);
	text[n++] = 'm';
	screen_give(s, text, n);
	give_colour(s, 38, s->pen.fg);
	give_colour(s, 48, s->pen.bg);
}

/* Libvterm's cursor may be outside of a grid that has become smaller. */
static unsigned
within(int at, unsigned n)
{
	return at < 0 ? 0 : (unsigned)at < n ? (unsigned)at : n - 1;
}

void
screen_cursor(const struct screen *s, unsigned *row, unsigned *col)
{
	VTermPos pos = {0, 0};

	vterm_state_get_cursorpos(vterm_obtain_state(s->vt), &pos);
	*row = within(pos.row, s->rows);
	*col = within(pos.col, s->cols);
}
