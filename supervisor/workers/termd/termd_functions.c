/* SPDX-License-Identifier: ISC */
/*
 * Functions of the agent's terminal: those passed to libvterm, composed from
 * checked numbers, and those carried out or answered here. REP is carried out
 * here, because libvterm 0.1.4 never returns from it if nothing was printed
 * before, and writes beyond the row after a wide character.
 */
#include "workers/termd/termd_screen_priv.h"

#include <string.h>

#include "common/term/cluster.h"
#include "common/term/width.h"
#include "common/json/text.h"

static void
give(struct screen *s, uint32_t c)
{
	uint8_t utf8[4];

	screen_give(s, utf8, text_utf8_put(utf8, c));
}

/*
 * Returns true for characters of two columns that libvterm may take for one:
 * those of Unicode 10 and later.
 */
static bool
is_newer(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x16fe0, 0x16fff}, {0x187ed, 0x1b2ff}, {0x1f260, 0x1f265},
	    {0x1f6d3, 0x1f6ff}, {0x1f7e0, 0x1f7ff}, {0x1f90c, 0x1faff}};

	for (size_t i = 0; i < nitems(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return term_width(c) == 2;
	return false;
}

/* Returns libvterm's character for the emoji, or 0 if there is no room. */
static uint32_t
emoji_find(struct screen *s, const struct screen_emoji *e)
{
	unsigned i;

	for (i = 0; i < s->nemoji; i++)
		if (s->emoji[i].n == e->n &&
		    memcmp(s->emoji[i].chars, e->chars,
			e->n * sizeof(e->chars[0])) == 0)
			return SCREEN_EMOJI + i;
	if (i == SCREEN_EMOJIS)
		return 0;
	s->emoji[s->nemoji++] = *e;
	return SCREEN_EMOJI + i;
}

/*
 * Print the emoji in place of its beginning, which was printed last. Returns
 * false if there is no room for it. After the last column libvterm leaves the
 * cursor on the character.
 */
static bool
emoji_print(struct screen *s, const struct screen_emoji *e)
{
	unsigned row, col;
	uint32_t c;
	bool on;

	screen_flush(s);
	screen_cursor(s, &row, &col);
	on = s->width == CLUSTER_WIDTH && col == s->col &&
	     col + s->width >= s->cols;
	if ((!on &&
		(col < s->width || (s->width == 1 && col + 1 >= s->cols))) ||
	    (c = emoji_find(s, e)) == 0)
		return false;
	if (on)
		screen_givef(s, "\033[%uG", col + 1);
	for (unsigned i = 0; !on && i < s->width; i++)
		screen_give(s, "\b", 1);
	give(s, c);
	s->col = on ? col : col - s->width;
	s->width = CLUSTER_WIDTH;
	return true;
}

/* Join a character to the one before it. Returns false if they are no emoji. */
static bool
join(struct screen *s, uint32_t c)
{
	struct screen_emoji e = s->now;

	if (e.n == 0)
		return false;
	switch (cluster_join(e.chars, &e.n, CELL_MAX_CHARS, &s->wait, c)) {
	case CLUSTER_WAITS:
		return true;
	case CLUSTER_JOINED:
		if (emoji_print(s, &e)) {
			s->now = e;
			return true;
		}
		break;
	case CLUSTER_NOT:
		break;
	}
	s->now.n = 0;
	return false;
}

static void
print(struct screen *s, uint32_t c)
{
	const struct screen_emoji one = {.n = 1, .chars = {c}};
	uint32_t stands = 0;
	unsigned row;

	if (join(s, c))
		return;
	if (c > 0x7f && cluster_begins(c)) {
		screen_flush(s);
		screen_cursor(s, &row, &s->col);
	}
	if (is_newer(c))
		stands = emoji_find(s, &one);
	give(s, stands != 0 ? stands : c);
	if (term_width(c) > 0)
		s->last = c;
	s->now.n = cluster_begins(c);
	s->now.chars[0] = c;
	s->width = (unsigned)term_width(c);
}

static void
control(struct screen *s, uint32_t c)
{
	char byte = (char)c;

	if (c == 0x07)
		s->ops->bell(s->arg);
	else
		screen_give(s, &byte, 1);
}

static void
esc(struct screen *s, const struct token *t)
{
	char text[] = {'\033', (char)t->inter, (char)t->final};

	if (t->inter == '(' || t->inter == ')') {
		if (strchr("0AB", t->final) != NULL)
			screen_give(s, text, 3);
		return;
	}
	if (t->inter != 0)
		return;
	text[1] = (char)t->final;
	switch (t->final) {
	case '7':
		screen_save(s);
		break;
	case '8':
		screen_restore(s);
		break;
	case '=':
	case '>':
		screen_mode_set(s, PROTO_TERM_KEYPAD, t->final == '=');
		break;
	case 'c':
		screen_defaults(s);
		screen_give(s, text, 2);
		break;
	case 'D':
	case 'E':
	case 'H':
	case 'M':
		screen_give(s, text, 2);
		break;
	default:
		break;
	}
}

static void
repeat(struct screen *s, unsigned n)
{
	if (s->last == 0)
		return;
	for (unsigned i = 0; i < n && i < s->cols; i++)
		print(s, s->last);
}

static void
report(struct screen *s, unsigned what)
{
	unsigned row, col;

	if (what == 5)
		screen_reply(s, "\033[0n");
	if (what != 6)
		return;
	screen_flush(s);
	screen_cursor(s, &row, &col);
	screen_reply(s, "\033[%u;%uR", row + 1, col + 1);
}

/* Pass a function with at most two parameters to libvterm. */
static void
csi_pass(struct screen *s, const struct token *t)
{
	static const struct {
		char final;
		uint8_t n;      /* parameters */
		uint16_t least; /* minimum of the first, also its default */
		uint16_t most;
	} table[] = {{'@', 1, 1, 0}, {'A', 1, 1, 0}, {'B', 1, 1, 0},
	    {'C', 1, 1, 0}, {'D', 1, 1, 0}, {'E', 1, 1, 0}, {'F', 1, 1, 0},
	    {'G', 1, 1, 0}, {'H', 2, 1, 0}, {'I', 1, 1, 0}, {'J', 1, 0, 2},
	    {'K', 1, 0, 2}, {'L', 1, 1, 0}, {'M', 1, 1, 0}, {'P', 1, 1, 0},
	    {'S', 1, 1, 0}, {'T', 1, 1, 0}, {'X', 1, 1, 0}, {'Z', 1, 1, 0},
	    {'`', 1, 1, 0}, {'a', 1, 1, 0}, {'d', 1, 1, 0}, {'e', 1, 1, 0},
	    {'f', 2, 1, 0}, {'g', 1, 0, 3}, {'r', 2, 1, 0}};
	unsigned a, b, most;

	for (size_t i = 0; i < nitems(table); i++) {
		if (table[i].final != (char)t->final)
			continue;
		a = token_param(t, 0, table[i].least);
		a = a < table[i].least ? table[i].least : a;
		if (table[i].most != 0 && a > table[i].most)
			return;
		b = token_param(t, 1, t->final == 'r' ? s->rows : 1);
		b = b == 0 ? t->final == 'r' ? s->rows : 1 : b;
		if (t->final == 'T' && t->nparams > 1)
			return; /* mouse highlight tracking: not supported */
		if (t->final == 'r' && (b > s->rows || a >= b)) {
			if (a >= s->rows)
				return;
			b = s->rows;
		}
		most = s->rows > s->cols ? s->rows : s->cols;
		a = a < most ? a : most;
		b = b < most ? b : most;
		if (table[i].n == 1)
			screen_givef(s, "\033[%u%c", a, t->final);
		else
			screen_givef(s, "\033[%u;%u%c", a, b, t->final);
		return;
	}
}

static void
csi_plain(struct screen *s, const struct token *t)
{
	switch (t->final) {
	case 'm':
		pen_sgr(&s->pen, t);
		screen_pen(s);
		break;
	case 'b':
		repeat(s, token_param(t, 0, 1));
		break;
	case 'c':
		if (token_param(t, 0, 0) == 0)
			screen_reply(s, "\033[?62;22c");
		break;
	case 'n':
		report(s, token_param(t, 0, 0));
		break;
	case 's':
		screen_save(s);
		break;
	case 'u':
		screen_restore(s);
		break;
	default:
		csi_pass(s, t);
		break;
	}
}

static void
csi_shape(struct screen *s, unsigned style)
{
	static const uint8_t shapes[] = {PROTO_CURSOR_BLOCK, PROTO_CURSOR_BLOCK,
	    PROTO_CURSOR_BLOCK, PROTO_CURSOR_LINE, PROTO_CURSOR_LINE,
	    PROTO_CURSOR_BAR, PROTO_CURSOR_BAR};

	if (style >= sizeof(shapes))
		return;
	s->shape = shapes[style];
	s->change++;
	screen_mode_set(s, PROTO_TERM_BLINK, style == 0 || style % 2 == 1);
}

static void
csi(struct screen *s, const struct token *t)
{
	if (screen_keys(s, t))
		return;
	if (t->lead == 0 && t->inter == 0)
		csi_plain(s, t);
	else if (t->lead == 0 && t->inter == ' ' && t->final == 'q')
		csi_shape(s, token_param(t, 0, 0));
	else if (t->lead == 0 && t->inter == '!' && t->final == 'p')
		screen_soft_reset(s);
	else if (t->lead == '?' && t->inter == '$' && t->final == 'p')
		screen_ask_mode(s, token_param(t, 0, 0));
	else if (t->lead == '>' && t->inter == 0 && t->final == 'c')
		screen_reply(s, "\033[>0;100;0c");
	else if (t->lead == '?' && t->inter == 0 &&
		 (t->final == 'h' || t->final == 'l'))
		for (unsigned i = 0; i < t->nparams; i++)
			screen_set_mode(
			    s, token_param(t, i, 0), t->final == 'h');
}

/* At most 80 printable characters; others are replaced by question marks. */
static void
title(struct screen *s, struct span text)
{
	uint8_t out[4 * SCREEN_MAX_TITLE];
	const uint8_t *end = text.p + text.len;
	size_t n = 0, len;
	uint32_t c;

	for (unsigned i = 0; i < SCREEN_MAX_TITLE && text.p < end; i++) {
		if ((len = text_utf8_len(text.p, end)) == 0)
			len = 1;
		c = text_utf8_code(text.p, len);
		text.p += len;
		if (term_width(c) < 1 || (len == 1 && c >= 0x80))
			c = '?';
		n += text_utf8_put(out + n, c);
	}
	s->ops->title(s->arg, span_of(out, n));
}

static void
osc(struct screen *s, struct span text)
{
	const uint8_t *semi =
	    text.len == 0 ? NULL : memchr(text.p, ';', text.len);
	enum proto_offer kind;
	size_t n = semi == NULL ? text.len : (size_t)(semi - text.p);
	struct span rest;

	if (semi == NULL)
		return;
	rest = span_of(semi + 1, text.len - n - 1);
	if (n == 1 && (text.p[0] == '0' || text.p[0] == '2')) {
		title(s, rest);
		return;
	}
	if (offer_begins(text)) {
		buf_reset(&s->offer, 0);
		if (offer_take(text, &kind, &s->offer))
			s->ops->offer(s->arg, kind, buf_span(&s->offer));
		return;
	}
	/* Text and background colours: constants, not the person's. */
	if (n != 2 || text.p[0] != '1' || rest.len != 1 || rest.p[0] != '?')
		return;
	if (text.p[1] == '0')
		screen_reply(s, "\033]10;rgb:ffff/ffff/ffff\033\\");
	else if (text.p[1] == '1')
		screen_reply(s, "\033]11;rgb:0000/0000/0000\033\\");
}

/* Answer DECRQSS and XTGETTCAP: not supported. */
static void
dcs(struct screen *s, const struct token *t)
{
	if (t->final == 'q' && (t->inter == '$' || t->inter == '+'))
		screen_reply(s, "\033P0%cr\033\\", t->inter);
}

void
screen_token(void *arg, const struct token *t)
{
	struct screen *s = arg;

	if (t->kind != TOKEN_PRINT && t->kind != TOKEN_JOIN)
		s->now.n = s->wait = 0;
	switch (t->kind) {
	case TOKEN_PRINT:
		print(s, t->c);
		break;
	case TOKEN_JOIN:
		(void)join(s, t->c);
		break;
	case TOKEN_CONTROL:
		control(s, t->c);
		break;
	case TOKEN_ESC:
		esc(s, t);
		break;
	case TOKEN_CSI:
		csi(s, t);
		break;
	case TOKEN_OSC:
		osc(s, t->text);
		break;
	case TOKEN_DCS:
		dcs(s, t);
		break;
	}
}

void
screen_feed(struct screen *s, struct span bytes)
{
	token_feed(&s->z, bytes, screen_token, s);
	screen_flush(s);
	vterm_screen_flush_damage(s->screen);
	s->change++;
}
