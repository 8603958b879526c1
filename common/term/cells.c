/* SPDX-License-Identifier: ISC */
/* Runs of cells: encoding them in termd, and decoding them in a viewer. */
#include "common/term/cells.h"

#include "common/term/cluster.h"
#include "common/term/width.h"

#define RUN_HEADER 12U

static void
put_le(uint8_t *dst, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		dst[i] = (uint8_t)(v >> (8 * i));
}

static uint32_t
get_le(struct span *s, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)s->p[i] << (8 * i);
	s->p += bytes;
	s->len -= bytes;
	return v;
}

void
cells_begin(struct cells_out *o, void *dst, size_t cap)
{
	*o = (struct cells_out){.p = dst, .cap = cap};
}

int
cells_add(struct cells_out *o, const struct cell *c)
{
	bool fresh = o->n == 0 || o->n == UINT16_MAX || o->fg != c->fg ||
		     o->bg != c->bg || o->attr != c->attr;
	size_t need = (fresh ? RUN_HEADER : 0) + 1 + 3 * (size_t)c->nchars;

	if (need > o->cap - o->len)
		return -1;
	if (fresh) {
		o->run = o->len;
		o->fg = c->fg;
		o->bg = c->bg;
		o->attr = c->attr;
		o->n = 0;
		put_le(o->p + o->len + 2, c->attr, 2);
		put_le(o->p + o->len + 4, c->fg, 4);
		put_le(o->p + o->len + 8, c->bg, 4);
		o->len += RUN_HEADER;
	}
	put_le(o->p + o->run, ++o->n, 2);
	o->p[o->len++] = (uint8_t)(c->nchars | (c->width == 2 ? CELL_WIDE : 0));
	for (unsigned i = 0; i < c->nchars; i++, o->len += 3)
		put_le(o->p + o->len, c->chars[i], 3);
	return 0;
}

void
cells_open(struct cells_in *in, struct span cells)
{
	*in = (struct cells_in){.rest = cells};
}

static bool
colour_good(uint32_t c)
{
	switch (c & 0xff000000U) {
	case CELL_DEFAULT:
		return c == CELL_DEFAULT;
	case CELL_PALETTE:
		return (c & 0xffffffU) < 256;
	case CELL_RGB:
		return true;
	default:
		return false;
	}
}

static int
cells_run(struct cells_in *in)
{
	if (in->rest.len < RUN_HEADER)
		return -1;
	in->n = (uint16_t)get_le(&in->rest, 2);
	in->attr = (uint16_t)get_le(&in->rest, 2);
	in->fg = get_le(&in->rest, 4);
	in->bg = get_le(&in->rest, 4);
	if (in->n == 0 || (in->attr & ~CELL_ATTRS) != 0 ||
	    !colour_good(in->fg) || !colour_good(in->bg))
		return -1;
	return 0;
}

/* Returns true if the characters may be drawn, and take the cell's columns. */
static bool
chars_good(const struct cell *c)
{
	if (c->width == CLUSTER_WIDTH && cluster_good(c->chars, c->nchars))
		return true;
	if (c->nchars > CELL_MARKED)
		return false;
	for (unsigned i = 0; i < c->nchars; i++)
		if (term_width(c->chars[i]) != (i == 0 ? c->width : 0))
			return false;
	return true;
}

int
cells_next(struct cells_in *in, struct cell *c)
{
	uint8_t head;

	if (in->n == 0) {
		if (in->rest.len == 0)
			return 0;
		if (cells_run(in) == -1)
			return -1;
	}
	if (in->rest.len == 0)
		return -1;
	head = (uint8_t)get_le(&in->rest, 1);
	*c = (struct cell){.fg = in->fg,
	    .bg = in->bg,
	    .attr = in->attr,
	    .width = (head & CELL_WIDE) != 0 ? 2 : 1,
	    .nchars = (uint8_t)(head & ~CELL_WIDE)};
	if (c->nchars == 0 || c->nchars > CELL_MAX_CHARS ||
	    in->rest.len < 3 * (size_t)c->nchars)
		return -1;
	for (unsigned i = 0; i < c->nchars; i++)
		c->chars[i] = get_le(&in->rest, 3);
	if (!chars_good(c))
		return -1;
	in->n--;
	return 1;
}

struct cell
cell_of(uint32_t c)
{
	return (struct cell){.width = 1, .nchars = 1, .chars = {c}};
}
