/* SPDX-License-Identifier: ISC */
/*
 * The screen: a line of numbers, the list, the chosen call beside it (below it,
 * where there is little room), the latest activity of all sessions, a message,
 * and the keys.
 */
#include "icctl/overview/priv.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/plural.h"

/* Marks around a paste (see ctlseqs of xterm). */
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

#define HEAD_JOBS 3U /* jobs that the first line names */

enum {
	COLOR_WAITS = 1,
	COLOR_ENDED,
	COLOR_SAY
};

int
draw_begin(void)
{
	const char *none = getenv("NO_COLOR");

	if (newterm(NULL, stdout, stdin) == NULL)
		return -1;
	(void)cbreak();
	(void)noecho();
	(void)nonl();
	(void)curs_set(0);
	(void)keypad(stdscr, TRUE);
	(void)nodelay(stdscr, TRUE);
	(void)set_escdelay(25);
	(void)mouseinterval(0);
	(void)mousemask(
	    BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	(void)define_key("\033[200~", KEY_MAX + 1);
	(void)define_key("\033[201~", KEY_MAX + 2);
	if ((none == NULL || none[0] == '\0') && has_colors()) {
		(void)start_color();
		(void)use_default_colors();
		(void)init_pair(COLOR_WAITS, COLOR_YELLOW, -1);
		(void)init_pair(COLOR_ENDED, COLOR_BLUE, -1);
		(void)init_pair(COLOR_SAY, COLOR_CYAN, -1);
	}
	(void)fputs(PASTE_ON, stdout);
	(void)fflush(stdout);
	return 0;
}

void
draw_end(void)
{
	(void)fputs(PASTE_OFF, stdout);
	(void)endwin();
	(void)fflush(stdout);
}

/* Print as much of `s` as fits into the columns, and blanks behind it. */
static void
put(unsigned y, unsigned x, unsigned cols, const char *s, size_t len)
{
	unsigned used = 0;
	mbstate_t st;
	wchar_t c[2] = {0, 0};
	size_t n;
	int w;

	memset(&st, 0, sizeof(st));
	if (move((int)y, (int)x) == ERR)
		return;
	for (; len != 0; s += n, len -= n) {
		n = mbrtowc(&c[0], s, len, &st);
		if (n == 0 || n == (size_t)-1 || n == (size_t)-2)
			break;
		if ((w = wcwidth(c[0])) < 0 || used + (unsigned)w > cols)
			break;
		(void)addwstr(c);
		used += (unsigned)w;
	}
	for (; used < cols; used++)
		(void)addch(' ');
}

static void
put_text(unsigned y, unsigned x, unsigned cols, const char *s)
{
	put(y, x, cols, s, strlen(s));
}

/* Write which jobs a person should look at, such as "   icctl job ls: nightly
 * failed". */
static void
head_jobs(const struct overview *o, char *text, size_t cap)
{
	size_t n = o->jobs == NULL ? 0 : json_object_array_length(o->jobs);
	json_object *job;
	char one[100];

	for (size_t i = 0; i < n && i < HEAD_JOBS; i++) {
		job = json_object_array_get_idx(o->jobs, i);
		snprintf(one, sizeof(one), "%s%.63s %.16s",
		    i == 0 ? "   icctl job ls: " : ", ",
		    icctl_text(job, "name"), icctl_text(job, "state"));
		(void)strlcat(text, one, cap);
	}
	if (n > HEAD_JOBS)
		(void)strlcat(text, " and more", cap);
}

static void
draw_head(const struct overview *o)
{
	char text[640];
	unsigned n = 0;

	while (live_at(o->live, n) != NULL)
		n++;
	(void)snprintf(text, sizeof(text),
	    "icctl watch   %u session%s   %u "
	    "waiting%s%s%.60s",
	    n, plural(n), o->waiting, live_more(o->live) ? "   and more" : "",
	    o->filter[0] != '\0' ? "   only: " : "", o->filter);
	head_jobs(o, text, sizeof(text));
	(void)attrset((int)A_REVERSE);
	put_text(0, 0, o->width, text);
	(void)attrset((int)A_NORMAL);
}

static int
row_attr(const struct overview *o, unsigned i)
{
	const struct overview_row *r = &o->rows[i];
	attr_t attr = i == o->at ? A_REVERSE : A_NORMAL;

	if (r->hold != NULL)
		attr |= (attr_t)COLOR_PAIR(COLOR_WAITS);
	else if (r->session->is == LIVE_OVER)
		attr |= (attr_t)COLOR_PAIR(COLOR_ENDED);
	if (r->hold == NULL && r->session->nholds != 0)
		attr |= A_BOLD;
	return (int)attr;
}

static void
draw_list(struct overview *o)
{
	char text[512];
	unsigned i;

	if (o->at < o->top)
		o->top = o->at;
	if (o->at >= o->top + o->list_rows)
		o->top = o->at - o->list_rows + 1;
	for (unsigned y = 0; y < o->list_rows; y++) {
		i = o->top + y;
		text[0] = '\0';
		if (i < o->nrows) {
			rows_text(o, &o->rows[i], text, sizeof(text));
			if (o->rows[i].hold != NULL)
				rows_shorten(text, o->list_cols);
			(void)attrset(row_attr(o, i));
		}
		put_text(1 + y, 0, o->list_cols, text);
		(void)attrset((int)A_NORMAL);
	}
	if (o->text_left != 0)
		(void)mvvline(
		    1, (int)o->list_cols, ACS_VLINE, (int)o->list_rows);
	else
		(void)mvhline(
		    (int)o->text_top - 1, 0, ACS_HLINE, (int)o->width);
}

static void
draw_text(struct overview *o)
{
	const struct overview_line *l;

	for (unsigned y = 0; y < o->text_rows; y++) {
		l = o->scroll + y < o->nlines ? &o->lines[o->scroll + y] : NULL;
		put(o->text_top + y, o->text_left, o->text_cols, "", 0);
		if (l == NULL)
			continue;
		if (text_found(o, l))
			(void)attrset((int)A_BOLD);
		put(o->text_top + y, o->text_left + l->indent,
		    o->text_cols - l->indent, l->p, l->len);
		(void)attrset((int)A_NORMAL);
	}
}

static void
draw_news(const struct overview *o)
{
	char lines[ACTIVITY_ROWS][ACTIVITY_LINE];
	unsigned n, top = o->height - 2 - o->news_rows;

	if (o->news_rows == 0)
		return;
	n = activity_latest(o, lines, o->news_rows);
	(void)mvhline((int)top - 1, 0, ACS_HLINE, (int)o->width);
	if (o->text_left != 0)
		(void)mvaddch((int)top - 1, (int)o->list_cols, ACS_BTEE);
	for (unsigned y = 0; y < o->news_rows; y++)
		put_text(top + y, 0, o->width, y < n ? lines[y] : "");
}

/* The last two lines: a message or what is typed, and the keys. */
static void
draw_foot(struct overview *o)
{
	char text[OVERVIEW_INPUT + 80];
	size_t left = o->nlines > o->scroll + o->text_rows
			  ? o->nlines - o->scroll - o->text_rows
			  : 0;

	if (o->height < 4)
		return;
	if (o->input == INPUT_FILTER)
		(void)snprintf(text, sizeof(text), "show only: %s_", o->typed);
	else if (o->input == INPUT_SEARCH)
		(void)snprintf(text, sizeof(text), "look for: %s_", o->typed);
	else if (o->input == INPUT_ANSWER)
		(void)snprintf(text, sizeof(text),
		    "answer %s (Enter sends, Esc does not): %s_", o->hold,
		    o->typed);
	else if (o->input == INPUT_REASON)
		(void)snprintf(text, sizeof(text),
		    "deny %s; reason (Enter denies, Esc does not): %s_",
		    o->hold, o->typed);
	else
		(void)snprintf(text, sizeof(text), "%s", o->say);
	(void)attrset((int)((attr_t)COLOR_PAIR(COLOR_SAY) | A_BOLD));
	put_text(o->height - 2, 0, o->width, text);
	(void)attrset((int)A_REVERSE);
	text[0] = '\0';
	if (left != 0)
		(void)snprintf(text, sizeof(text), "space: %zu more  ", left);
	if (o->hold[0] != '\0' && o->view == VIEW_CHOSEN)
		(void)strlcat(text,
		    "? help  q quit  a approve  s session  "
		    "A always  d deny  n next  f full",
		    sizeof(text));
	else
		(void)strlcat(text,
		    "? help  q quit  N new  n next  h history  "
		    "g allowed  m servers  / filter  l look",
		    sizeof(text));
	put_text(o->height - 1, 0, o->width, text);
	(void)attrset((int)A_NORMAL);
}

void
draw(struct overview *o)
{
	layout_make(o, (unsigned)LINES, (unsigned)COLS);
	text_make(o, o->text_cols);
	(void)erase();
	draw_head(o);
	draw_list(o);
	draw_text(o);
	draw_news(o);
	draw_foot(o);
	(void)refresh();
	o->dirty = false;
}
