/* SPDX-License-Identifier: ISC */
/*
 * The list: each session, and below it what waits in it. A choice is kept by
 * name, because rows come and go.
 */
#include "icctl/overview/priv.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/visible.h"

#define ROWS_CUT "..."
#define ROWS_TAIL 8U /* columns of the end, or it stays as it is */

/* Returns true if `text` contains the filter, in any case. */
static bool
rows_match(const struct overview *o, const char *text)
{
	return o->filter[0] == '\0' || strcasestr(text, o->filter) != NULL;
}

static void
rows_add(struct overview *o, struct live_session *s, struct live_hold *h)
{
	if (o->nrows == o->caprows) {
		o->caprows = o->caprows == 0 ? 64 : 2 * o->caprows;
		o->rows = reallocarray(o->rows, o->caprows, sizeof(o->rows[0]));
		if (o->rows == NULL)
			err(ICCTL_FAILED, "sessions");
	}
	o->rows[o->nrows++] = (struct overview_row){.session = s, .hold = h};
}

/* Returns true if the filter is in the name of the call's tool. */
static bool
rows_tool(const struct overview *o, const struct live_hold *h)
{
	char name[512];

	(void)snprintf(name, sizeof(name), "%.64s__%.256s",
	    icctl_text(h->hold, "server"), icctl_text(h->hold, "tool"));
	return rows_match(o, name);
}

static void
rows_session(struct overview *o, struct live_session *s)
{
	struct overview_row row = {.session = s};
	unsigned first = o->nrows;
	char text[512];
	bool match;

	rows_add(o, s, NULL);
	rows_text(o, &row, text, sizeof(text));
	match = rows_match(o, text) || rows_match(o, s->id) ||
		rows_match(o, s->workspace);
	for (unsigned i = 0; i < s->nholds; i++) {
		row.hold = &s->holds[i];
		rows_text(o, &row, text, sizeof(text));
		if (match || rows_match(o, text) || rows_tool(o, row.hold))
			rows_add(o, s, row.hold);
	}
	o->waiting += s->nholds;
	if (!match && o->nrows == first + 1)
		o->nrows = first;
}

static bool
rows_is(const struct overview *o, unsigned i, const char *hold)
{
	const struct overview_row *r = &o->rows[i];

	return strcmp(r->session->id, o->session) == 0 &&
	       strcmp(r->hold == NULL ? "" : r->hold->id, hold) == 0;
}

static void
rows_choose(struct overview *o, unsigned i)
{
	const struct overview_row *r = &o->rows[i];

	o->at = i;
	(void)strlcpy(o->session, r->session->id, sizeof(o->session));
	(void)strlcpy(
	    o->hold, r->hold == NULL ? "" : r->hold->id, sizeof(o->hold));
}

/* Returns the first row that is a call which waits, or `nrows`. */
static unsigned
rows_waiting(const struct overview *o, unsigned from)
{
	while (from < o->nrows && o->rows[from].hold == NULL)
		from++;
	return from;
}

void
rows_make(struct overview *o)
{
	struct live_session *s;
	unsigned i;

	o->stale = false;
	o->nrows = o->waiting = 0;
	for (i = 0; (s = live_at(o->live, i)) != NULL; i++)
		rows_session(o, s);
	for (i = 0; i < o->nrows; i++)
		if (rows_is(o, i, o->hold)) {
			o->at = i;
			break;
		}
	/* A session that nobody chose gives way to a call that waits. */
	if (i < o->nrows &&
	    (o->moved || o->hold[0] != '\0' || rows_waiting(o, 0) == o->nrows))
		return;
	o->moved = false;
	/* The call is gone: the next one that waits, or its session. */
	if ((i = rows_waiting(o, 0)) == o->nrows)
		for (i = 0; i < o->nrows && !rows_is(o, i, ""); i++)
			continue;
	if (i == o->nrows)
		i = 0;
	if (o->nrows != 0)
		rows_choose(o, i);
	else
		o->at = 0;
	o->scroll = 0;
	o->armed = '\0';
	if (o->input == INPUT_REASON || o->input == INPUT_ANSWER) {
		o->input = INPUT_NONE;
		overview_say(o, "the call no longer waits: nothing was denied");
	}
}

struct overview_row
rows_chosen(const struct overview *o)
{
	return o->at < o->nrows ? o->rows[o->at]
				: (struct overview_row){.session = NULL};
}

void
rows_move(struct overview *o, int by)
{
	long to = (long)o->at + by;

	if (o->nrows == 0)
		return;
	rows_choose(o, to < 0                 ? 0
		       : to >= (long)o->nrows ? o->nrows - 1
					      : (unsigned)to);
	o->scroll = 0;
	o->grant = 0;
	o->armed = '\0';
	o->view = VIEW_CHOSEN;
	o->moved = true;
}

void
rows_next(struct overview *o)
{
	unsigned i = rows_waiting(o, o->at + 1);

	if (i >= o->nrows)
		i = rows_waiting(o, 0);
	if (i < o->nrows)
		rows_move(o, (int)i - (int)o->at);
	else
		overview_say(o, "nothing waits");
}

const char *
rows_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static void
rows_left(uint64_t expires, uint64_t now, char *dst, size_t cap)
{
	uint64_t s = expires > now ? (expires - now) / 1000 : 0;

	if (expires == 0)
		dst[0] = '\0';
	else
		(void)snprintf(dst, cap, "%llu:%02llu ",
		    (unsigned long long)(s / 60), (unsigned long long)(s % 60));
}

/* Returns the columns of `n` bytes of a text. */
static unsigned
rows_width(const char *s, size_t n)
{
	unsigned cols = 0;
	mbstate_t st;
	wchar_t c;
	size_t len;
	int w;

	memset(&st, 0, sizeof(st));
	for (; n != 0; s += len, n -= len) {
		len = mbrtowc(&c, s, n, &st);
		if (len == 0 || len > n)
			break;
		w = wcwidth(c);
		cols += w > 0 ? (unsigned)w : 0;
	}
	return cols;
}

/* Returns the next word that is a path, or NULL. */
static char *
rows_path(char *s)
{
	while ((s = strchr(s, ' ')) != NULL)
		if (*++s == '/' || *s == '~')
			return s;
	return NULL;
}

void
rows_shorten(char *text, unsigned cols)
{
	char *from = rows_path(text), *to;
	unsigned head;

	if (rows_width(text, strlen(text)) <= cols)
		return;
	if (from == NULL || rows_path(from) != NULL)
		return;
	head = rows_width(text, (size_t)(from - text)) + strlen(ROWS_CUT);
	if (head + ROWS_TAIL > cols)
		return;
	for (to = from; *to != '\0' &&
			(((unsigned char)*to & 0xc0) == 0x80 ||
			    head + rows_width(to, strlen(to)) > cols);)
		to++;
	/* The part left out is longer than the mark that says so. */
	memmove(from + strlen(ROWS_CUT), to, strlen(to) + 1);
	memcpy(from, ROWS_CUT, strlen(ROWS_CUT));
}

void
rows_text(const struct overview *o, const struct overview_row *r, char *dst,
    size_t cap)
{
	const struct live_session *s = r->session;
	const char *state = s->is == LIVE_SILENT ? "silent"
			    : s->is == LIVE_LOST ? "lost"
						 : s->state;
	struct buf b;
	char left[32];

	if (r->hold == NULL) {
		(void)snprintf(dst, cap, "%s %.*s%s %s, %s",
		    s->nholds != 0       ? "!"
		    : s->is == LIVE_OVER ? "-"
					 : " ",
		    s->far != NULL && s->workspace[0] != '\0'
			? (int)strcspn(s->id, "/") + 1
			: 0,
		    s->id,
		    s->workspace[0] != '\0' ? rows_base(s->workspace) : s->id,
		    state, strcmp(s->agent, "none") == 0 ? s->id : s->agent);
		return;
	}
	rows_left(r->hold->expires, loop_now(&o->loop), left, sizeof(left));
	buf_init(&b, 65536);
	(void)visible_add(&b, span_str(icctl_text(r->hold->hold, "effect")),
	    icctl_visible() | VISIBLE_AGAIN);
	/* The effect says more in little room than the tool's name. */
	(void)snprintf(dst, cap, "  %s%s %.*s", left, r->hold->id, (int)b.len,
	    b.p == NULL ? "" : (const char *)b.p);
	buf_free(&b);
}
