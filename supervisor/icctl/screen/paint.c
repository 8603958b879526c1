/* SPDX-License-Identifier: ISC */
/*
 * Converts cells to bytes for a terminal: SGR and UTF-8, nothing else. Uses the
 * colours that the terminal supports, and none if NO_COLOR is set.
 */
#include "icctl/screen/viewer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than a row; output is written before the next row. */
#define PAINT_MAX (512U << 10)

enum paint_colours {
	COLOURS_DUMB,
	COLOURS_NONE,
	COLOURS_16,
	COLOURS_256,
	COLOURS_RGB
};

static enum paint_colours paint_has;

static enum paint_colours
paint_colours(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *more = getenv("COLORTERM");

	if (term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0)
		return COLOURS_DUMB;
	if ((no != NULL && no[0] != '\0') || strncmp(term, "vt", 2) == 0)
		return COLOURS_NONE;
	if (more != NULL &&
	    (strcmp(more, "truecolor") == 0 || strcmp(more, "24bit") == 0))
		return COLOURS_RGB;
	if (strstr(term, "direct") != NULL)
		return COLOURS_RGB;
	return strstr(term, "256color") != NULL ? COLOURS_256 : COLOURS_16;
}

void
paint_init(struct paint *p)
{
	memset(p, 0, sizeof(*p));
	buf_init(&p->out, PAINT_MAX);
	paint_has = paint_colours();
}

bool
paint_is_dumb(void)
{
	return paint_has == COLOURS_DUMB;
}

void
paint_text(struct paint *p, const char *s)
{
	buf_adds(&p->out, s);
}

void
paint_printf(struct paint *p, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_adds(&p->out, text);
}

/* Returns the nearest of the 256 colours: from the cube of 6, or a grey. */
static unsigned
nearest_256(uint32_t rgb)
{
	unsigned r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;

	if (r == g && g == b) {
		if (r < 8)
			return 16;
		return r > 247 ? 231 : 232 + (r - 8) * 24 / 240;
	}
	return 16 + 36 * ((r * 5 + 127) / 255) + 6 * ((g * 5 + 127) / 255) +
	       (b * 5 + 127) / 255;
}

static unsigned
nearest_16(uint32_t rgb)
{
	unsigned r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	unsigned max = r > g ? r : g, half;

	max = max > b ? max : b;
	half = max / 2 + 1;
	return (max > 191 ? 8U : 0U) | (max > 32 && r >= half ? 1U : 0U) |
	       (max > 32 && g >= half ? 2U : 0U) |
	       (max > 32 && b >= half ? 4U : 0U);
}

/* Returns red, green and blue of one of the 256 colours. */
static uint32_t
palette_rgb(unsigned i)
{
	static const uint8_t level[] = {0, 95, 135, 175, 215, 255};
	unsigned grey;

	if (i >= 232) {
		grey = 8 + 10 * (i - 232);
		return (uint32_t)(grey << 16 | grey << 8 | grey);
	}
	i -= 16;
	return (uint32_t)(level[i / 36] << 16 | level[i / 6 % 6] << 8 |
			  level[i % 6]);
}

static void
paint_colour(struct paint *p, uint32_t c, bool back)
{
	unsigned base = back ? 40 : 30, i = c & 0xff;

	if (c == CELL_DEFAULT)
		return;
	if ((c & 0xff000000U) == CELL_RGB) {
		c &= 0xffffffU;
		if (paint_has == COLOURS_RGB) {
			paint_printf(p, ";%u;2;%u;%u;%u", base + 8,
			    (unsigned)(c >> 16), (unsigned)(c >> 8 & 0xff),
			    (unsigned)(c & 0xff));
			return;
		}
		i = paint_has == COLOURS_256 ? nearest_256(c) : nearest_16(c);
	} else if (i >= 16 && paint_has == COLOURS_16) {
		i = nearest_16(palette_rgb(i));
	}
	if (i < 8)
		paint_printf(p, ";%u", base + i);
	else if (i < 16)
		paint_printf(p, ";%u", base + 60 + i - 8);
	else
		paint_printf(p, ";%u;5;%u", base + 8, i);
}

static void
paint_sgr(struct paint *p, uint32_t fg, uint32_t bg, uint16_t attr)
{
	static const struct {
		uint16_t bit;
		const char *sgr;
	} bits[] = {{CELL_BOLD, ";1"}, {CELL_DIM, ";2"}, {CELL_ITALIC, ";3"},
	    {CELL_UNDERLINE, ";4"}, {CELL_UNDERLINE2, ";4"}, {CELL_CURLY, ";4"},
	    {CELL_BLINK, ";5"}, {CELL_REVERSE, ";7"}, {CELL_HIDDEN, ";8"},
	    {CELL_STRIKE, ";9"}};

	if (paint_has == COLOURS_DUMB)
		return;
	if (p->known && p->fg == fg && p->bg == bg && p->attr == attr)
		return;
	paint_text(p, "\033[0");
	for (size_t i = 0; i < nitems(bits); i++)
		if ((attr & bits[i].bit) != 0)
			paint_text(p, bits[i].sgr);
	if (paint_has != COLOURS_NONE) {
		paint_colour(p, fg, false);
		paint_colour(p, bg, true);
	}
	paint_text(p, "m");
	p->known = true;
	p->fg = fg;
	p->bg = bg;
	p->attr = attr;
}

void
paint_plain(struct paint *p)
{
	paint_sgr(p, CELL_DEFAULT, CELL_DEFAULT, 0);
}

static void
paint_char(struct paint *p, uint32_t c)
{
	uint8_t u[4];
	size_t n = 0;

	if (c < 0x80) {
		u[n++] = (uint8_t)c;
	} else if (c < 0x800) {
		u[n++] = (uint8_t)(0xc0 | c >> 6);
		u[n++] = (uint8_t)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		u[n++] = (uint8_t)(0xe0 | c >> 12);
		u[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		u[n++] = (uint8_t)(0x80 | (c & 0x3f));
	} else {
		u[n++] = (uint8_t)(0xf0 | c >> 18);
		u[n++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		u[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		u[n++] = (uint8_t)(0x80 | (c & 0x3f));
	}
	buf_add(&p->out, u, n);
}

void
paint_cell(struct paint *p, const struct cell *c)
{
	paint_sgr(p, c->fg, c->bg, c->attr);
	for (unsigned i = 0; i < c->nchars; i++)
		paint_char(p, c->chars[i]);
}

/*
 * Only printable ASCII has the same width everywhere: after anything else the
 * cursor is positioned explicitly. A terminal that gives an emoji one column
 * would leave in the second what stood there: both are blank before.
 */
void
paint_cell_at(
    struct paint *p, unsigned row, unsigned col, const struct cell *c)
{
	if (c->width == 2 && (c->nchars != 1 || c->chars[0] >= 0x1f000)) {
		paint_sgr(p, c->fg, c->bg, c->attr);
		paint_printf(p, "  \033[%u;%uH", row + 1, col + 1);
	}
	paint_cell(p, c);
	if (c->nchars != 1 || c->chars[0] < 0x20 || c->chars[0] > 0x7e)
		paint_printf(p, "\033[%u;%uH", row + 1, col + c->width + 1);
}

int
paint_some(struct paint *p, int fd)
{
	return p->out.len < PAINT_ENOUGH ? 0 : paint_flush(p, fd);
}

int
paint_flush(struct paint *p, int fd)
{
	struct span s = buf_span(&p->out);
	int rv = viewer_write(fd, s.p, s.len);

	buf_reset(&p->out, 0);
	return rv;
}
