/* SPDX-License-Identifier: ISC */
/* SGR: ECMA-48 8.3.117, and the colours of ITU-T T.416 in both spellings. */
#include "workers/termd/termd_pen.h"

#define UNDERLINES (CELL_UNDERLINE | CELL_UNDERLINE2 | CELL_CURLY)

static bool
is_sub(const struct token *t, unsigned i)
{
	return i < t->nparams && (t->sub >> i & 1) != 0;
}

/*
 * Parse a colour whose 38 or 48 is at *i; moves *i to its last parameter. With
 * colons there may be a colour space before red, with semicolons not.
 */
static void
pen_colour(const struct token *t, unsigned *i, uint32_t *colour)
{
	unsigned kind = *i + 1, first = *i + 2, end = first, want;
	bool colons = is_sub(t, kind);

	want = token_param(t, kind, 0) == 5   ? 1
	       : token_param(t, kind, 0) == 2 ? 3
					      : 0;
	if (colons)
		while (is_sub(t, end))
			end++;
	else
		end = first + want;
	*i = end - 1;
	if (colons && want == 3 && end - first > 3)
		first++;
	if (want == 0 || end > t->nparams || end < first + want)
		return;
	for (unsigned k = 0; k < want; k++)
		if (token_param(t, first + k, 0) > 255)
			return;
	if (want == 1)
		*colour = CELL_PALETTE | token_param(t, first, 0);
	else
		*colour = CELL_RGB | token_param(t, first, 0) << 16 |
			  token_param(t, first + 1, 0) << 8 |
			  token_param(t, first + 2, 0);
}

static void
pen_underline(struct pen *p, const struct token *t, unsigned *i)
{
	unsigned style = is_sub(t, *i + 1) ? token_param(t, *i + 1, 0) : 1;

	p->attr &= (uint16_t)~UNDERLINES;
	if (style == 2)
		p->attr |= CELL_UNDERLINE2;
	else if (style == 3)
		p->attr |= CELL_CURLY;
	else if (style != 0)
		p->attr |= CELL_UNDERLINE;
	while (is_sub(t, *i + 1))
		++*i;
}

/* Attributes: the numbers that set and clear each. */
static const struct {
	uint8_t on, off;
	uint16_t attr;
} attrs[] = {
    {1, 22, CELL_BOLD},
    {2, 22, CELL_DIM},
    {3, 23, CELL_ITALIC},
    {21, 24, CELL_UNDERLINE2},
    {5, 25, CELL_BLINK},
    {6, 25, CELL_BLINK},
    {7, 27, CELL_REVERSE},
    {8, 28, CELL_HIDDEN},
    {9, 29, CELL_STRIKE},
};

static void
pen_one(struct pen *p, unsigned v)
{
	if (v == 0)
		*p = (struct pen){.attr = 0};
	else if (v >= 30 && v <= 37)
		p->fg = CELL_PALETTE | (v - 30);
	else if (v >= 90 && v <= 97)
		p->fg = CELL_PALETTE | (v - 90 + 8);
	else if (v == 39)
		p->fg = CELL_DEFAULT;
	else if (v >= 40 && v <= 47)
		p->bg = CELL_PALETTE | (v - 40);
	else if (v >= 100 && v <= 107)
		p->bg = CELL_PALETTE | (v - 100 + 8);
	else if (v == 49)
		p->bg = CELL_DEFAULT;
	else if (v == 21 || v == 24)
		p->attr &= (uint16_t)~UNDERLINES;
	for (size_t i = 0; i < nitems(attrs); i++) {
		if (attrs[i].on == v)
			p->attr |= attrs[i].attr;
		else if (attrs[i].off == v)
			p->attr &= (uint16_t)~attrs[i].attr;
	}
}

void
pen_sgr(struct pen *p, const struct token *t)
{
	uint32_t unused;
	unsigned v;

	if (t->nparams == 0)
		pen_one(p, 0);
	for (unsigned i = 0; i < t->nparams; i++) {
		v = token_param(t, i, 0);
		if (v == 38)
			pen_colour(t, &i, &p->fg);
		else if (v == 48)
			pen_colour(t, &i, &p->bg);
		else if (v == 58)
			pen_colour(t, &i, &unused);
		else if (v == 4)
			pen_underline(p, t, &i);
		else if (!is_sub(t, i))
			pen_one(p, v);
	}
}
