/* SPDX-License-Identifier: ISC */
/*
 * Keys are those of most shells.  Of escape sequences only the known ones do
 * anything; a sequence that is too long is dropped as a whole.
 */
#include "docker/agent/edit.h"

#include <stdlib.h>

#include "common/json/text.h"
#include "common/term/width.h"

#define KEY(c) ((c)&0x1f)
#define ESC 0x1b

void
edit_free(struct edit *e)
{
	for (size_t i = 0; i < e->nold; i++)
		free(e->old[i]);
	free(e->text);
	*e = (struct edit){0};
}

void
edit_begin(struct edit *e)
{
	e->len = e->at = 0;
	if (e->text != NULL)
		e->text[0] = '\0';
	e->shown = e->nold;
	e->paste = e->escape = false;
	e->row = 0;
}

static void
edit_insert(struct edit *e, const char *s, size_t n)
{
	size_t room = e->len + n + 256;
	char *more;

	if (n > EDIT_MAX - e->len)
		return;
	if (e->len + n + 1 > e->room) {
		if ((more = realloc(e->text, room)) == NULL)
			return;
		e->text = more;
		e->room = room;
	}
	memmove(e->text + e->at + n, e->text + e->at, e->len - e->at);
	memcpy(e->text + e->at, s, n);
	e->len += n;
	e->at += n;
	e->text[e->len] = '\0';
}

static void
edit_delete(struct edit *e, size_t from, size_t to)
{
	if (from >= to)
		return;
	memmove(e->text + from, e->text + to, e->len - to);
	e->len -= to - from;
	e->at = from;
	e->text[e->len] = '\0';
}

static size_t
before(const struct edit *e, size_t at)
{
	while (at > 0 && ((uint8_t)e->text[--at] & 0xc0) == 0x80)
		continue;
	return at;
}

static size_t
after(const struct edit *e, size_t at)
{
	if (at < e->len)
		at++;
	while (at < e->len && ((uint8_t)e->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static size_t
word_before(const struct edit *e, size_t at)
{
	while (at > 0 && strchr(" \n\t", e->text[at - 1]) != NULL)
		at--;
	while (at > 0 && strchr(" \n\t", e->text[at - 1]) == NULL)
		at--;
	return at;
}

static size_t
word_after(const struct edit *e, size_t at)
{
	while (at < e->len && strchr(" \n\t", e->text[at]) != NULL)
		at++;
	while (at < e->len && strchr(" \n\t", e->text[at]) == NULL)
		at++;
	return at;
}

static size_t
line_start(const struct edit *e)
{
	size_t at = e->at;

	while (at > 0 && e->text[at - 1] != '\n')
		at--;
	return at;
}

static size_t
line_end(const struct edit *e)
{
	size_t at = e->at;

	while (at < e->len && e->text[at] != '\n')
		at++;
	return at;
}

/* Show an earlier message, or a later one. */
static void
edit_history(struct edit *e, bool earlier)
{
	const char *text = "";

	if (earlier ? e->shown == 0 : e->shown >= e->nold)
		return;
	e->shown = earlier ? e->shown - 1 : e->shown + 1;
	if (e->shown < e->nold)
		text = e->old[e->shown];
	e->len = e->at = 0;
	edit_insert(e, text, strlen(text));
}

void
edit_remember(struct edit *e, const char *text)
{
	char *copy;

	if (e->nold != 0 && strcmp(e->old[e->nold - 1], text) == 0)
		return;
	if ((copy = strdup(text)) == NULL)
		return;
	if (e->nold == EDIT_HISTORY) {
		free(e->old[0]);
		memmove(
		    e->old, e->old + 1, (EDIT_HISTORY - 1) * sizeof(e->old[0]));
		e->nold--;
	}
	e->old[e->nold++] = copy;
	e->shown = e->nold;
}

struct sequence {
	const char *keys;
	enum {
		UP,
		DOWN,
		LEFT,
		RIGHT,
		START,
		END,
		DELETE,
		WORD_LEFT,
		WORD_RIGHT,
		PASTE,
		PASTED,
		NEWLINE
	} does;
};

/* clang-format off */
static const struct sequence sequences[] = {
	{"[A", UP}, {"OA", UP}, {"[B", DOWN}, {"OB", DOWN},
	{"[D", LEFT}, {"OD", LEFT}, {"[C", RIGHT}, {"OC", RIGHT},
	{"[H", START}, {"OH", START}, {"[1~", START}, {"[7~", START},
	{"[F", END}, {"OF", END}, {"[4~", END}, {"[8~", END},
	{"[3~", DELETE}, {"[1;5D", WORD_LEFT}, {"b", WORD_LEFT},
	{"[1;5C", WORD_RIGHT}, {"f", WORD_RIGHT},
	{"[200~", PASTE}, {"[201~", PASTED}, {"\r", NEWLINE},
};
/* clang-format on */

static void
sequence_do(struct edit *e, const struct sequence *s)
{
	switch (s->does) {
	case UP:
	case DOWN:
		edit_history(e, s->does == UP);
		break;
	case LEFT:
		e->at = before(e, e->at);
		break;
	case RIGHT:
		e->at = after(e, e->at);
		break;
	case START:
		e->at = line_start(e);
		break;
	case END:
		e->at = line_end(e);
		break;
	case DELETE:
		edit_delete(e, e->at, after(e, e->at));
		break;
	case WORD_LEFT:
		e->at = word_before(e, e->at);
		break;
	case WORD_RIGHT:
		e->at = word_after(e, e->at);
		break;
	case PASTE:
	case PASTED:
		e->paste = s->does == PASTE;
		break;
	case NEWLINE:
		edit_insert(e, "\n", 1);
		break;
	}
}

/* Returns true once the sequence is complete: CSI, SS3, or one letter. */
static bool
sequence_complete(const struct edit *e, uint8_t last)
{
	if (e->sequence[0] == '[')
		return e->nsequence > 1 && last >= 0x40 && last <= 0x7e;
	return e->sequence[0] != 'O' || e->nsequence > 1;
}

static void
sequence_take(struct edit *e, uint8_t byte)
{
	/* The end of a long one is found by its last byte, which is kept. */
	if (e->nsequence == sizeof(e->sequence) - 1)
		e->nsequence--;
	e->sequence[e->nsequence++] = (char)byte;
	e->sequence[e->nsequence] = '\0';
	if (!sequence_complete(e, byte))
		return;
	e->escape = false;
	for (size_t i = 0; i < nitems(sequences); i++) {
		if (strcmp(sequences[i].keys, e->sequence) == 0)
			sequence_do(e, &sequences[i]);
	}
}

static enum edit_got
control(struct edit *e, uint8_t byte)
{
	switch (byte) {
	case KEY('A'):
		e->at = line_start(e);
		break;
	case KEY('B'):
		e->at = before(e, e->at);
		break;
	case KEY('C'):
		return EDIT_CANCEL;
	case KEY('D'):
		if (e->len == 0)
			return EDIT_END;
		edit_delete(e, e->at, after(e, e->at));
		break;
	case KEY('E'):
		e->at = line_end(e);
		break;
	case KEY('F'):
		e->at = after(e, e->at);
		break;
	case KEY('H'):
	case 0x7f:
		edit_delete(e, before(e, e->at), e->at);
		break;
	case KEY('K'):
		edit_delete(e, e->at, line_end(e));
		break;
	case KEY('N'):
	case KEY('P'):
		edit_history(e, byte == KEY('P'));
		break;
	case KEY('U'):
		edit_delete(e, line_start(e), e->at);
		break;
	case KEY('W'):
		edit_delete(e, word_before(e, e->at), e->at);
		break;
	default:
		break;
	}
	return EDIT_MORE;
}

enum edit_got
edit_take(struct edit *e, uint8_t byte, bool more)
{
	char c = (char)byte;

	if (byte == ESC) {
		e->escape = true;
		e->nsequence = 0;
		return EDIT_MORE;
	}
	if (e->escape) {
		sequence_take(e, byte);
		return EDIT_MORE;
	}
	if (byte == '\r' || byte == '\n') {
		if (e->paste || more) {
			edit_insert(e, "\n", 1);
			return EDIT_MORE;
		}
		return EDIT_DONE;
	}
	if (byte == '\t' || (byte >= 0x20 && byte != 0x7f)) {
		edit_insert(e, &c, 1);
		return EDIT_MORE;
	}
	return e->paste ? EDIT_MORE : control(e, byte);
}

struct place {
	unsigned row, column;
};

/*
 * Returns the columns of the well-formed character, or -1 if it must not be
 * drawn.
 */
static int
width_of(struct span c)
{
	uint32_t u = c.p[0];

	if (c.len > 1)
		u &= 0x7fU >> c.len;
	for (size_t i = 1; i < c.len; i++)
		u = u << 6 | (c.p[i] & 0x3fU);
	return term_width(u);
}

/* Append one character and move the place behind it.  Returns its bytes. */
static size_t
draw_one(const struct edit *e, size_t at, unsigned columns, struct place *p,
    struct buf *out)
{
	const uint8_t *s = (const uint8_t *)e->text + at;
	size_t n = text_utf8_len(s, (const uint8_t *)e->text + e->len);
	struct span c = span_of(s, n);
	int width;

	if (*s == '\n') {
		buf_adds(out, "\r\n  ");
		*p = (struct place){p->row + 1, EDIT_PROMPT};
		return 1;
	}
	if (*s == '\t')
		c = SPAN(" ");
	width = n == 0 ? -1 : width_of(c);
	if (width == -1) {
		c = SPAN("\xef\xbf\xbd");
		width = 1;
	}
	if (p->column + (unsigned)width > columns) {
		*p = (struct place){p->row + 1, 0};
		buf_adds(out, "\r\n");
	}
	buf_addspan(out, c);
	p->column += (unsigned)width;
	return n == 0 ? 1 : n;
}

static void
move(struct buf *out, char way, unsigned n)
{
	if (n != 0)
		buf_printf(out, "\033[%u%c", n, way);
}

void
edit_draw(struct edit *e, unsigned columns, struct buf *out)
{
	struct place p = {0, EDIT_PROMPT}, cursor = p;

	if (columns < 8)
		columns = 8;
	move(out, 'A', e->row);
	buf_adds(out, "\r\033[J\033[1m>\033[0m ");
	for (size_t i = 0; i < e->len;) {
		if (i <= e->at)
			cursor = p;
		i += draw_one(e, i, columns, &p, out);
	}
	if (e->at >= e->len)
		cursor = p;
	move(out, 'A', p.row - cursor.row);
	buf_addc(out, '\r');
	move(out, 'C', cursor.column < columns ? cursor.column : columns - 1);
	e->row = cursor.row;
}

void
edit_leave(struct edit *e, unsigned columns, struct buf *out)
{
	e->at = e->len;
	edit_draw(e, columns, out);
	buf_adds(out, "\r\n");
	e->row = 0;
}
