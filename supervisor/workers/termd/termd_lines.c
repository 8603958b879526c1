/* SPDX-License-Identifier: ISC */
/* Line mode: collects a line's cells until it ends. */
#include "workers/termd/termd_lines.h"

#include <stddef.h>
#include <string.h>

#include "common/term/cluster.h"
#include "common/term/width.h"

#define TAB 8U

void
termd_lines_init(struct lines *l, lines_fn *fn, void *arg)
{
	/* No cell is read before it was written. */
	memset(l, 0, offsetof(struct lines, cells));
	token_init(&l->z);
	l->fn = fn;
	l->arg = arg;
}

static void
line_over(struct lines *l, bool goes_on)
{
	l->fn(l, false, l->joined);
	l->n = l->at = 0;
	l->fresh = false;
	l->joined = goes_on;
}

static void
line_put(struct lines *l, uint32_t c)
{
	struct cell *cell;

	if (l->at == LINES_MAX)
		line_over(l, true);
	cell = &l->cells[l->at++];
	*cell = cell_of(c);
	cell->fg = l->pen.fg;
	cell->bg = l->pen.bg;
	cell->attr = l->pen.attr & (uint16_t)~CELL_HIDDEN;
	if (l->n < l->at)
		l->n = l->at;
	l->fresh = true;
}

/* Join a character to the cell before it. Returns false if they are no emoji.
 */
static bool
line_join(struct lines *l, uint32_t c)
{
	struct cell *last = l->at == 0 ? NULL : &l->cells[l->at - 1];
	enum cluster_join how;
	unsigned n;

	if (last == NULL)
		return false;
	n = last->nchars;
	how = cluster_join(last->chars, &n, CELL_MAX_CHARS, &l->wait, c);
	if (how == CLUSTER_JOINED) {
		last->nchars = (uint8_t)n;
		last->width = CLUSTER_WIDTH;
		l->fresh = true;
	}
	return how != CLUSTER_NOT;
}

static void
line_print(struct lines *l, uint32_t c)
{
	struct cell *last;
	int width;

	if (line_join(l, c))
		return;
	if ((width = term_width(c)) != 0) {
		line_put(l, c);
		l->cells[l->at - 1].width = (uint8_t)width;
		return;
	}
	if (l->at == 0)
		return;
	last = &l->cells[l->at - 1];
	if (last->nchars < CELL_MARKED &&
	    !cluster_good(last->chars, last->nchars))
		last->chars[last->nchars++] = c;
}

/* Move the cursor, filling with blanks where nothing was printed yet. */
static void
line_move(struct lines *l, unsigned to)
{
	if (to > LINES_MAX - 1)
		to = LINES_MAX - 1;
	while (l->n < to)
		l->cells[l->n++] = cell_of(' ');
	l->at = to;
}

static void
line_control(struct lines *l, uint32_t c)
{
	switch (c) {
	case '\n':
	case '\v':
	case '\f':
		line_over(l, false);
		break;
	case '\r':
		l->at = 0;
		break;
	case '\b':
		l->at -= l->at != 0;
		break;
	case '\t':
		line_move(l, l->at / TAB * TAB + TAB);
		break;
	default:
		break;
	}
}

static void
line_erase(struct lines *l, unsigned how)
{
	if (how == 0) {
		l->n = l->n < l->at ? l->n : l->at;
	} else {
		for (unsigned i = 0; i < l->n && (how == 2 || i <= l->at); i++)
			l->cells[i] = cell_of(' ');
		if (how == 2)
			l->n = l->at;
	}
	l->fresh = true;
}

static void
line_csi(struct lines *l, const struct token *t)
{
	unsigned n = token_param(t, 0, 1);

	if (t->lead != 0 || t->inter != 0)
		return;
	n = n == 0 ? 1 : n;
	switch (t->final) {
	case 'm':
		pen_sgr(&l->pen, t);
		break;
	case 'K':
		line_erase(l, token_param(t, 0, 0));
		break;
	case 'G':
		line_move(l, n - 1);
		break;
	case 'C':
		line_move(l, l->at + n);
		break;
	case 'D':
		l->at -= n < l->at ? n : l->at;
		break;
	default:
		break;
	}
}

static void
line_token(void *arg, const struct token *t)
{
	struct lines *l = arg;

	if (t->kind != TOKEN_PRINT && t->kind != TOKEN_JOIN)
		l->wait = 0;
	switch (t->kind) {
	case TOKEN_PRINT:
		line_print(l, t->c);
		break;
	case TOKEN_JOIN:
		(void)line_join(l, t->c);
		break;
	case TOKEN_CONTROL:
		line_control(l, t->c);
		break;
	case TOKEN_CSI:
		line_csi(l, t);
		break;
	case TOKEN_ESC:
	case TOKEN_OSC:
	case TOKEN_DCS:
		break;
	}
}

void
lines_feed(struct lines *l, struct span s)
{
	token_feed(&l->z, s, line_token, l);
}

void
lines_flush(struct lines *l)
{
	if (!l->fresh)
		return;
	l->fn(l, true, l->joined);
	l->fresh = false;
}

void
lines_end(struct lines *l)
{
	if (l->n != 0)
		line_over(l, false);
	token_init(&l->z);
}

size_t
lines_encode(const struct lines *l, void *dst, size_t cap)
{
	struct cells_out o;

	cells_begin(&o, dst, cap);
	for (unsigned i = 0; i < l->n; i++)
		if (cells_add(&o, &l->cells[i]) == -1)
			break;
	return o.len;
}
