/* SPDX-License-Identifier: ISC */
/*
 * The screen's state: libvterm, the modes that concern a viewer, and the pen,
 * which is kept here because libvterm supports neither dim nor hidden text.
 * These two attributes pass through it as font numbers, which are not used
 * otherwise.
 */
#include "workers/termd/termd_screen.h"

#include "workers/termd/termd_screen_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/term/width.h"

#define REPLACEMENT 0xfffdU
#define FONT_DIM 1U
#define FONT_HIDDEN 2U

static int
on_damage(VTermRect rect, void *arg)
{
	struct screen *s = arg;

	s->change++;
	for (int r = rect.start_row; r < rect.end_row && r < (int)s->rows; r++)
		if (r >= 0)
			s->row_change[r] = s->change;
	return 1;
}

static int
on_prop(VTermProp prop, VTermValue *v, void *arg)
{
	struct screen *s = arg;

	if (prop == VTERM_PROP_ALTSCREEN)
		screen_mode_set(s, PROTO_TERM_ALTERNATE, v->boolean != 0);
	return 1;
}

static void
cell_emoji(struct cell *c, const struct screen_emoji *e, bool whole)
{
	if (!whole) {
		c->chars[0] = ' '; /* the other half was overwritten */
		return;
	}
	memcpy(c->chars, e->chars, e->n * sizeof(c->chars[0]));
	c->nchars = (uint8_t)e->n;
	c->width = 2;
}

static struct cell
cell_from(const struct screen *s, const VTermScreenCell *v)
{
	static const uint16_t lines[] = {
	    0, CELL_UNDERLINE, CELL_UNDERLINE2, CELL_CURLY};
	struct cell c = {.width = 1, .nchars = 1};
	int width;

	c.attr =
	    (uint16_t)((v->attrs.bold ? CELL_BOLD : 0) |
		       (v->attrs.italic ? CELL_ITALIC : 0) |
		       (v->attrs.blink ? CELL_BLINK : 0) |
		       (v->attrs.reverse ? CELL_REVERSE : 0) |
		       (v->attrs.strike ? CELL_STRIKE : 0) |
		       ((v->attrs.font & FONT_DIM) != 0 ? CELL_DIM : 0) |
		       ((v->attrs.font & FONT_HIDDEN) != 0 ? CELL_HIDDEN : 0) |
		       lines[v->attrs.underline & 3]);
	c.fg = screen_colour(&v->fg);
	c.bg = screen_colour(&v->bg);
	c.chars[0] = v->chars[0];
	/* An empty cell, or the right half of an overwritten character. */
	if (v->chars[0] == 0 || v->chars[0] == UINT32_MAX) {
		c.chars[0] = ' ';
		return c;
	}
	if (v->chars[0] >= SCREEN_EMOJI &&
	    v->chars[0] - SCREEN_EMOJI < s->nemoji) {
		cell_emoji(
		    &c, &s->emoji[v->chars[0] - SCREEN_EMOJI], v->width == 2);
		return c;
	}
	width = term_width(v->chars[0]);
	if (width == 2 && v->width == 2)
		c.width = 2;
	else if (width == 2)
		c.chars[0] = ' '; /* the other half was overwritten */
	else if (width != 1)
		c.chars[0] = REPLACEMENT;
	for (unsigned i = 1; i < VTERM_MAX_CHARS_PER_CELL &&
			     c.nchars < CELL_MARKED && v->chars[i] != 0;
	     i++)
		if (term_width(v->chars[i]) == 0)
			c.chars[c.nchars++] = v->chars[i];
	return c;
}

uint32_t
screen_colour(const VTermColor *c)
{
	if (VTERM_COLOR_IS_DEFAULT_FG(c) || VTERM_COLOR_IS_DEFAULT_BG(c))
		return CELL_DEFAULT;
	if (VTERM_COLOR_IS_INDEXED(c))
		return CELL_PALETTE | c->indexed.idx;
	return CELL_RGB | (uint32_t)c->rgb.red << 16 |
	       (uint32_t)c->rgb.green << 8 | c->rgb.blue;
}

static bool
is_blank(const struct cell *c)
{
	return c->nchars == 1 && c->chars[0] == ' ' && c->attr == 0 &&
	       c->bg == CELL_DEFAULT;
}

/* Writes cells of a row; `blank` counts blanks that are held back. */
struct row_out {
	struct cells_out out;
	unsigned blank;
};

static void
row_add(const struct screen *s, struct row_out *o, const VTermScreenCell *v,
    bool halved)
{
	struct cell c = cell_from(s, v), space = cell_of(' ');

	if (halved) /* a wide character is cut at the end of the row */
		c = space;
	if (is_blank(&c)) {
		o->blank++;
		return;
	}
	for (; o->blank != 0; o->blank--)
		if (cells_add(&o->out, &space) == -1)
			return;
	if (cells_add(&o->out, &c) == -1)
		return;
	/* Two columns there but one here: the second becomes blank. */
	if (v->width == 2 && c.width == 1)
		o->blank++;
}

static int
on_pushline(int cols, const VTermScreenCell *cells, void *arg)
{
	static uint8_t bytes[PROTO_MAX_CELLS];
	struct screen *s = arg;
	struct row_out o = {.blank = 0};

	cells_begin(&o.out, bytes, sizeof(bytes));
	for (int c = 0; c < cols;
	     c += cells[c].width == 2 && c + 1 < cols ? 2 : 1)
		row_add(s, &o, &cells[c], cells[c].width == 2 && c + 1 == cols);
	s->ops->line(s->arg, span_of(bytes, o.out.len));
	return 1;
}

size_t
screen_row(const struct screen *s, unsigned row, void *dst, size_t cap)
{
	struct row_out o = {.blank = 0};
	VTermScreenCell v;
	VTermPos pos = {.row = (int)row};
	bool wide;

	cells_begin(&o.out, dst, cap);
	while (pos.col < (int)s->cols) {
		memset(&v, 0, sizeof(v));
		if (vterm_screen_get_cell(s->screen, pos, &v) == 0)
			break;
		wide = v.width == 2;
		row_add(s, &o, &v, wide && pos.col + 1 == (int)s->cols);
		pos.col += wide ? 2 : 1;
	}
	return o.out.len;
}

static const VTermScreenCallbacks callbacks = {
    .damage = on_damage,
    .settermprop = on_prop,
    .sb_pushline = on_pushline,
};

static unsigned
clamp(unsigned v, unsigned least, unsigned most)
{
	return v < least ? least : v > most ? most : v;
}

struct screen *
screen_new(
    unsigned rows, unsigned cols, const struct screen_ops *ops, void *arg)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->ops = ops;
	s->arg = arg;
	s->rows = clamp(rows, SCREEN_MIN_ROWS, PROTO_MAX_ROWS);
	s->cols = clamp(cols, SCREEN_MIN_COLS, PROTO_MAX_COLS);
	if ((s->vt = vterm_new((int)s->rows, (int)s->cols)) == NULL) {
		free(s);
		return NULL;
	}
	vterm_set_utf8(s->vt, 1);
	s->screen = vterm_obtain_screen(s->vt);
	vterm_screen_set_callbacks(s->screen, &callbacks, s);
	vterm_screen_set_damage_merge(s->screen, VTERM_DAMAGE_ROW);
	vterm_screen_enable_altscreen(s->screen, 1);
	vterm_screen_reset(s->screen, 1);
	token_init(&s->z);
	buf_init(&s->offer, PROTO_MAX_OFFER);
	screen_defaults(s);
	return s;
}

void
screen_free(struct screen *s)
{
	if (s == NULL)
		return;
	vterm_free(s->vt);
	buf_free(&s->offer);
	freezero(s, sizeof(*s));
}

void
screen_resize(struct screen *s, unsigned rows, unsigned cols)
{
	/*
	 * When the grid shrinks, libvterm does not adjust the region, nor
	 * always the cursor, and would write outside the grid.
	 */
	screen_unscroll(s);
	s->rows = clamp(rows, SCREEN_MIN_ROWS, PROTO_MAX_ROWS);
	s->cols = clamp(cols, SCREEN_MIN_COLS, PROTO_MAX_COLS);
	vterm_set_size(s->vt, (int)s->rows, (int)s->cols);
	screen_unscroll(s);
	vterm_screen_flush_damage(s->screen);
	s->change++;
	for (unsigned r = 0; r < PROTO_MAX_ROWS; r++)
		s->row_change[r] = s->change;
}

unsigned
screen_rows(const struct screen *s)
{
	return s->rows;
}

unsigned
screen_cols(const struct screen *s)
{
	return s->cols;
}

void
screen_size_put(const struct screen *s, uint8_t *dst)
{
	dst[0] = (uint8_t)s->rows;
	dst[1] = (uint8_t)(s->rows >> 8);
	dst[2] = (uint8_t)s->cols;
	dst[3] = (uint8_t)(s->cols >> 8);
}

unsigned
screen_shape(const struct screen *s)
{
	return s->shape;
}

uint32_t
screen_modes(const struct screen *s)
{
	return s->modes | screen_keys_modes(s);
}

bool
screen_mouse_sgr(const struct screen *s)
{
	return s->mouse_sgr;
}

uint64_t
screen_change(const struct screen *s)
{
	return s->change;
}

uint64_t
screen_row_change(const struct screen *s, unsigned row)
{
	return row < s->rows ? s->row_change[row] : 0;
}
