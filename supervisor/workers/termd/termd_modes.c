/* SPDX-License-Identifier: ISC */
/*
 * Modes of the agent's terminal, and its saved cursor. A mode that concerns the
 * viewer is kept as a bit; libvterm gets only those that change its drawing.
 */
#include "workers/termd/termd_screen_priv.h"

void
screen_mode_set(struct screen *s, uint32_t bit, bool on)
{
	uint32_t modes = on ? s->modes | bit : s->modes & ~bit;

	if (modes != s->modes)
		s->change++;
	s->modes = modes;
}

void
screen_defaults(struct screen *s)
{
	s->modes = PROTO_TERM_CURSOR | PROTO_TERM_BLINK;
	s->shape = PROTO_CURSOR_BLOCK;
	s->mouse_sgr = false;
	s->keys = (struct screen_keys){.other = false};
	s->pen = s->saved = (struct pen){.attr = 0};
	s->saved_row = s->saved_col = 0;
	s->last = 0;
	s->change++;
}

/*
 * The cursor is saved here: after a change of size, libvterm would restore it
 * to a position outside the grid, and write there.
 */
void
screen_save(struct screen *s)
{
	screen_flush(s);
	screen_cursor(s, &s->saved_row, &s->saved_col);
	s->saved = s->pen;
}

static void
cursor_put(struct screen *s, unsigned row, unsigned col)
{
	screen_givef(s, "\033[?6l\033[%u;%uH",
	    row < s->rows ? row + 1 : s->rows,
	    col < s->cols ? col + 1 : s->cols);
}

void
screen_restore(struct screen *s)
{
	s->pen = s->saved;
	cursor_put(s, s->saved_row, s->saved_col);
	screen_pen(s);
}

void
screen_unscroll(struct screen *s)
{
	unsigned row, col;

	screen_flush(s);
	screen_cursor(s, &row, &col);
	screen_give(s, "\033[r", 3);
	cursor_put(s, row, col);
	screen_flush(s);
}

void
screen_soft_reset(struct screen *s)
{
	uint32_t alternate = s->modes & PROTO_TERM_ALTERNATE;

	screen_give(s, "\033[!p", 4);
	screen_defaults(s);
	s->modes |= alternate;
	screen_pen(s);
}

/* Supported modes: some have a bit, some are passed to libvterm. */
static const struct mode {
	unsigned number;
	uint32_t bit;
	bool pass;
} modes[] = {
    {1, PROTO_TERM_CURSOR_KEYS, false},
    {6, 0, true},
    {7, 0, true},
    {12, PROTO_TERM_BLINK, false},
    {25, PROTO_TERM_CURSOR, false},
    {47, 0, true},
    {1000, PROTO_TERM_CLICKS, false},
    {1002, PROTO_TERM_CLICKS | PROTO_TERM_DRAGS, false},
    {1003, PROTO_TERM_CLICKS | PROTO_TERM_DRAGS | PROTO_TERM_MOVES, false},
    {1004, PROTO_TERM_FOCUS, false},
    {1006, 0, false},
    {1047, 0, true},
    {1048, 0, false},
    {1049, 0, true},
    {2004, PROTO_TERM_PASTE, false},
};
#define MOUSE (PROTO_TERM_CLICKS | PROTO_TERM_DRAGS | PROTO_TERM_MOVES)

static const struct mode *
mode_find(unsigned number)
{
	for (size_t i = 0; i < nitems(modes); i++)
		if (modes[i].number == number)
			return &modes[i];
	return NULL;
}

void
screen_set_mode(struct screen *s, unsigned number, bool on)
{
	const struct mode *m = mode_find(number);

	if (m == NULL)
		return;
	if ((m->bit & MOUSE) != 0)
		screen_mode_set(s, MOUSE, false);
	if (m->bit != 0)
		screen_mode_set(s, m->bit, on);
	if (number == 1006)
		s->mouse_sgr = on;
	if (number == 1048 || (number == 1049 && on)) {
		if (on)
			screen_save(s);
		else
			screen_restore(s);
	}
	/* 1049 is 1047 and the cursor, which is saved and restored here. */
	if (m->pass)
		screen_givef(s, "\033[?%u%c", number == 1049 ? 1047 : number,
		    on ? 'h' : 'l');
	if (number == 1049 && on)
		screen_give(s, "\033[2J\033[H", 7);
	if (number == 1049 && !on)
		screen_restore(s);
	if (m->pass && number != 6 && number != 7)
		screen_pen(s);
}

/* DECRQM: answer 1 (set), 2 (reset) or 0 (unknown). */
void
screen_ask_mode(struct screen *s, unsigned number)
{
	const struct mode *m = mode_find(number);
	unsigned state = 2;

	if (m == NULL)
		state = 0;
	else if (number == 1006)
		state = s->mouse_sgr ? 1 : 2;
	else if (m->bit != 0)
		state = (s->modes & m->bit) == m->bit ? 1 : 2;
	else if (number == 47 || number == 1047 || number == 1049)
		state = (s->modes & PROTO_TERM_ALTERNATE) != 0 ? 1 : 2;
	else
		state = 0; /* only libvterm knows; it is not asked */
	screen_reply(s, "\033[?%u;%u$y", number, state);
}
