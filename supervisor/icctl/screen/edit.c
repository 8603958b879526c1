/* SPDX-License-Identifier: ISC */
/*
 * Edits one line. Only characters that are drawn become part of it, so that the
 * text is the one that the person sees.
 */
#include "icctl/screen/message.h"

#include <string.h>

#include "common/json/text.h"
#include "common/term/width.h"

#define EDIT_CTRL(c) ((c) & 0x1fU)

static size_t
edit_size(uint32_t c)
{
	return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

static void
edit_insert(struct edit *e, uint32_t c)
{
	int width = term_width(c);

	if (width == -1 || (width == 0 && e->at == 0) ||
	    edit_size(c) > MESSAGE_MAX - e->bytes)
		return;
	memmove(e->c + e->at + 1, e->c + e->at,
	    (e->n - e->at) * sizeof(e->c[0]));
	e->c[e->at++] = c;
	e->n++;
	e->bytes += edit_size(c);
}

/* Delete from `from` to the cursor. */
static void
edit_delete(struct edit *e, size_t from)
{
	for (size_t i = from; i < e->at; i++)
		e->bytes -= edit_size(e->c[i]);
	memmove(e->c + from, e->c + e->at,
	    (e->n - e->at) * sizeof(e->c[0]));
	e->n -= e->at - from;
	e->at = from;
}

/* Move over one character with those that combine with it. */
static void
edit_left(struct edit *e)
{
	while (e->at != 0 && term_width(e->c[--e->at]) == 0)
		continue;
}

static void
edit_right(struct edit *e)
{
	if (e->at != e->n)
		e->at++;
	while (e->at != e->n && term_width(e->c[e->at]) == 0)
		e->at++;
}

/* Delete from where `move` takes the cursor. */
static void
edit_back(struct edit *e, void (*move)(struct edit *))
{
	size_t at = e->at, from;

	move(e);
	from = e->at;
	e->at = at;
	edit_delete(e, from);
}

static void
edit_word(struct edit *e)
{
	while (e->at != 0 && e->c[e->at - 1] == ' ')
		e->at--;
	while (e->at != 0 && e->c[e->at - 1] != ' ')
		e->at--;
}

static void
edit_home(struct edit *e)
{
	e->at = 0;
}

static uint32_t
edit_decode(const uint8_t *p, size_t n)
{
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7fU >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fU);
	return c;
}

/* Take a byte of text. One that is no UTF-8 is dropped. */
static void
edit_byte(struct edit *e, uint8_t b)
{
	size_t n;

	if ((b & 0xc0) != 0x80)
		e->npart = 0;
	e->part[e->npart++] = b;
	n = text_utf8_len(e->part, e->part + e->npart);
	if (n == e->npart)
		edit_insert(e, edit_decode(e->part, n));
	if (n == e->npart || e->npart == sizeof(e->part) || b < 0x80)
		e->npart = 0;
}

static enum edit_end
edit_control(struct edit *e, uint8_t b)
{
	switch (b) {
	case '\r':
	case '\n':
		return EDIT_ENTER;
	case EDIT_CTRL('c'):
	case EDIT_CTRL('g'):
		return EDIT_CANCEL;
	case 0x7f:
	case '\b':
		edit_back(e, edit_left);
		break;
	case EDIT_CTRL('u'):
		edit_back(e, edit_home);
		break;
	case EDIT_CTRL('w'):
		edit_back(e, edit_word);
		break;
	case EDIT_CTRL('a'):
		e->at = 0;
		break;
	case EDIT_CTRL('e'):
		e->at = e->n;
		break;
	default:
		break;
	}
	return EDIT_GOES_ON;
}

/*
 * Take a key that begins with ESC; another one, or Alt and a key, does nothing.
 * Returns its length, or 0 for the Escape key.
 */
static size_t
edit_escape(struct edit *e, struct span s)
{
	size_t n = 2;

	if (s.len < 2 || s.p[1] == 0x1b)
		return 0;
	if (s.p[1] != '[' && s.p[1] != 'O')
		return n;
	while (n < s.len && (s.p[n] < 0x40 || s.p[n] > 0x7e))
		n++;
	if (n == s.len)
		return n;
	if (s.p[n] == 'D') {
		edit_left(e);
	} else if (s.p[n] == 'C') {
		edit_right(e);
	} else if (s.p[n] == 'H') {
		e->at = 0;
	} else if (s.p[n] == 'F') {
		e->at = e->n;
	} else if (n == 3 && s.p[2] == '3' && s.p[n] == '~' && e->at != e->n) {
		edit_right(e);
		edit_back(e, edit_left);
	}
	return n + 1;
}

enum edit_end
edit_keys(struct edit *e, struct span s)
{
	enum edit_end end;
	size_t n;

	for (size_t i = 0; i < s.len; i += n) {
		n = 1;
		if (s.p[i] == 0x1b) {
			n = edit_escape(e, span_of(s.p + i, s.len - i));
			if (n == 0)
				return EDIT_CANCEL;
		} else if (s.p[i] < 0x20 || s.p[i] == 0x7f) {
			if ((end = edit_control(e, s.p[i])) != EDIT_GOES_ON)
				return end;
		} else {
			edit_byte(e, s.p[i]);
		}
	}
	return EDIT_GOES_ON;
}

void
edit_paste(struct edit *e, struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		edit_byte(e, s.p[i] == '\n' || s.p[i] == '\r' ||
				     s.p[i] == '\t'
				 ? ' '
				 : s.p[i]);
}

size_t
edit_text(const struct edit *e, uint8_t dst[MESSAGE_MAX])
{
	size_t len = 0, n;
	uint8_t one[4];

	for (size_t i = 0; i < e->n; i++) {
		n = text_utf8_put(one, e->c[i]);
		memcpy(dst + len, one, n);
		len += n;
	}
	return len;
}
