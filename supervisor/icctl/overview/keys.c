/* SPDX-License-Identifier: ISC */
/*
 * Keys. A paste is marked by the terminal, and nothing in it is a command; a
 * terminal that marks none is why an approval also takes two keys that do not
 * come together.
 */
#include "icctl/overview/priv.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <string.h>
#include <wctype.h>

#define KEY_PASTE (KEY_MAX + 1)
#define KEY_PASTED (KEY_MAX + 2)
#define KEY_ESC 27

/* A line at the bottom takes a character. */
static void
typed_add(struct overview *o, wint_t c)
{
	size_t len = strlen(o->typed);
	char bytes[8];
	mbstate_t st;
	size_t n;

	memset(&st, 0, sizeof(st));
	if (!iswprint(c) || (n = wcrtomb(bytes, (wchar_t)c, &st)) > 6 ||
	    len + n > OVERVIEW_INPUT)
		return;
	memcpy(o->typed + len, bytes, n);
	o->typed[len + n] = '\0';
}

static void
typed_back(struct overview *o)
{
	size_t len = strlen(o->typed);

	while (len != 0 && ((unsigned char)o->typed[len - 1] & 0xc0) == 0x80)
		len--;
	if (len != 0)
		len--;
	o->typed[len] = '\0';
}

static void
key_typed(struct overview *o, wint_t c, bool special)
{
	if (special ? c == KEY_BACKSPACE : c == 127 || c == '\b')
		typed_back(o);
	else if (special ? c == KEY_ENTER : c == '\n' || c == '\r') {
		/* A pasted line break does not send anything. */
		if (!o->pasting)
			answer_typed(o);
	} else if (!special && c == KEY_ESC) {
		o->input = INPUT_NONE;
		overview_say(o, "%s", "");
	} else if (!special && c == 21) { /* Ctrl-U */
		o->typed[0] = '\0';
	} else if (!special) {
		typed_add(o, c);
	}
}

static void
key_view(struct overview *o, enum overview_view view)
{
	o->view = o->view == view ? VIEW_CHOSEN : view;
	o->scroll = 0;
	o->grant = 0;
}

/* Type a line at the bottom, which begins with this text. */
static void
key_line(struct overview *o, enum overview_input input, const char *text)
{
	o->input = input;
	(void)strlcpy(o->typed, text, sizeof(o->typed));
}

/* Leave a view; after that the search, and after that the filter. */
static void
key_escape(struct overview *o)
{
	if (o->view != VIEW_CHOSEN) {
		key_view(o, VIEW_CHOSEN);
	} else if (o->search[0] != '\0') {
		o->search[0] = '\0';
	} else if (o->filter[0] != '\0') {
		o->filter[0] = '\0';
		rows_make(o);
	}
}

static void
key_move(struct overview *o, int by)
{
	if (o->view != VIEW_GRANTS)
		rows_move(o, by);
	else if (by > 0 || o->grant != 0)
		o->grant += (unsigned)by;
}

static void
key_mouse(struct overview *o)
{
	unsigned y;
	MEVENT e;

	if (getmouse(&e) != OK)
		return;
	y = (unsigned)e.y;
	if ((e.bstate & BUTTON4_PRESSED) != 0)
		text_scroll(o, -3);
	else if ((e.bstate & BUTTON5_PRESSED) != 0)
		text_scroll(o, 3);
	else if (y >= 1 && y < 1 + o->list_rows &&
		 (unsigned)e.x < o->list_cols && o->top + y - 1 < o->nrows)
		rows_move(o, (int)(o->top + y - 1) - (int)o->at);
}

/* Keys of the keyboard that are no characters. */
static void
key_special(struct overview *o, wint_t c)
{
	switch (c) {
	case KEY_UP:
		key_move(o, -1);
		break;
	case KEY_DOWN:
		key_move(o, 1);
		break;
	case KEY_NPAGE:
		text_scroll(o, (long)o->text_rows);
		break;
	case KEY_PPAGE:
		text_scroll(o, -(long)o->text_rows);
		break;
	case KEY_HOME:
		text_scroll(o, -(long)o->nlines);
		break;
	case KEY_MOUSE:
		key_mouse(o);
		break;
	case KEY_F(1):
		key_view(o, VIEW_HELP);
		break;
	case KEY_F(3):
		key_line(o, INPUT_SEARCH, o->search);
		break;
	default:
		break;
	}
}

static void
key_command(struct overview *o, wint_t c)
{
	switch (c) {
	case 'k':
		key_move(o, -1);
		break;
	case 'j':
		key_move(o, 1);
		break;
	case ' ':
		text_scroll(o, (long)o->text_rows);
		break;
	case 'b':
		text_scroll(o, -(long)o->text_rows);
		break;
	case 'n':
		rows_next(o);
		break;
	case 'a':
	case 's':
	case 'd':
	case 'x':
		answer_arm(o, (char)c);
		break;
	case 'A':
		draw_away(o);
		break;
	case 'S':
		draw_sign(o);
		break;
	case 'u':
		draw_undo(o);
		break;
	case 'N':
		draw_new(o);
		break;
	case 'f':
		o->full = !o->full;
		break;
	case 'h':
		key_view(o, VIEW_HISTORY);
		break;
	case 'g':
		key_view(o, VIEW_GRANTS);
		break;
	case 'm':
		key_view(o, VIEW_SERVERS);
		break;
	case '?':
		key_view(o, VIEW_HELP);
		break;
	case KEY_ESC:
		key_escape(o);
		break;
	case 'c':
		live_forget(o->live);
		rows_make(o);
		break;
	case '/':
		key_line(o, INPUT_FILTER, o->filter);
		break;
	case 'l':
		key_line(o, INPUT_SEARCH, o->search);
		break;
	case 12: /* Ctrl-L */
		(void)clearok(curscr, TRUE);
		break;
	case 'q':
		o->quit = true;
		break;
	default:
		overview_say(o, "? shows the keys");
		break;
	}
}

void
keys_read(struct overview *o)
{
	wint_t c;
	int kind;

	while ((kind = get_wch(&c)) != ERR) {
		o->dirty = true;
		if (kind == KEY_CODE_YES &&
		    (c == KEY_PASTE || c == KEY_PASTED)) {
			o->pasting = c == KEY_PASTE;
			o->armed = '\0';
		} else if (kind == KEY_CODE_YES && c == KEY_RESIZE) {
			continue;
		} else if (o->input != INPUT_NONE) {
			key_typed(o, c, kind == KEY_CODE_YES);
		} else if (o->pasting) {
			overview_say(o, "what is pasted is no command");
		} else if (o->armed != '\0') {
			answer_second(o, kind == KEY_CODE_YES ? 0 : (int)c);
		} else {
			o->say[0] = '\0';
			if (kind == KEY_CODE_YES)
				key_special(o, c);
			else
				key_command(o, c);
		}
	}
}
