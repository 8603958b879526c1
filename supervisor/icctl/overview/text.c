/* SPDX-License-Identifier: ISC */
/*
 * The right side: the chosen call, as `icctl show` prints it, or its session.
 * All text of an agent has passed visible_add(), so that each character has a
 * width, and none acts on the terminal.
 */
#include "icctl/overview/priv.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/visible.h"
#include "icctl/hold/hold_view.h"
#include "icctl/wrap.h"

static const char text_keys[] =
    "Keys\n"
    "\n"
    "  up, down, k, j    choose a session or a call\n"
    "  n                 the next call that waits\n"
    "  space, b          scroll the right side by a page\n"
    "  PgUp, PgDn        the same; the mouse wheel scrolls too\n"
    "  a                 approve the call; then the first letter of its id\n"
    "  s                 approve it for the session, in the same way\n"
    "  N                 start an agent in the current directory\n"
    "  A                 make a rule of the call, after a look at it\n"
    "  S                 sign the approval, where signatures approve\n"
    "  u                 undo the session's last turn, after a look at the "
    "plan\n"
    "  d                 deny the call, with a reason that the agent reads\n"
    "  f                 show long texts in full, or cut them again\n"
    "  h                 the history of the session: decisions and activity\n"
    "  g                 what is allowed for the session; x takes it back\n"
    "  m                 the MCP servers of the session, and what they offer\n"
    "  /                 show only rows with a text; empty, or Esc: all\n"
    "  l, F3             look for a text on the right side; again: the next\n"
    "  c                 forget sessions that have ended\n"
    "  ?, F1             this page; the same key or Esc leaves a page\n"
    "  q, Ctrl-C         leave; what waits goes on waiting\n"
    "\n"
    "A call can be answered once all of it was on the screen, and once it\n"
    "stood there for a second. An approval takes two keys. What is pasted is\n"
    "never a command.\n"
    "\n"
    "!  something waits in this session      -  it has ended\n";

/* Print what a function of icctl prints to standard output. */
static void
put_printed(FILE *f, void (*print)(json_object *), json_object *arg)
{
	FILE *real = stdout;

	stdout = f;
	print(arg);
	stdout = real;
}

/* Returns a list of the session's last status, or NULL. */
static json_object *
session_list(const struct live_session *s, const char *name)
{
	json_object *list = NULL;

	if (s->status != NULL)
		json_object_object_get_ex(s->status, name, &list);
	return json_object_is_type(list, json_type_array) ? list : NULL;
}

static void
put_servers(FILE *f, const struct live_session *s)
{
	json_object *list = session_list(s, "servers");
	size_t n = list == NULL ? 0 : json_object_array_length(list);
	char line[ICCTL_SERVER_LINE];
	struct buf b;

	fprintf(f, "MCP servers of the session %s\n\n", s->id);
	if (n == 0)
		fputs("It has none.\n", f);
	for (size_t i = 0; i < n; i++) {
		icctl_server_line(
		    json_object_array_get_idx(list, i), line, sizeof(line));
		buf_init(&b, 16 * ICCTL_SERVER_LINE);
		(void)visible_add(
		    &b, span_str(line), icctl_visible() | VISIBLE_AGAIN);
		fprintf(f, "  %.*s\n", (int)buf_span(&b).len,
		    (const char *)buf_span(&b).p);
		buf_free(&b);
	}
	if (n != 0)
		fputs("\nm or Esc: leave\n", f);
}

static void
put_session(FILE *f, const struct live_session *s)
{
	json_object *grants = session_list(s, "granted"),
		    *servers = session_list(s, "servers");
	char path[ICCTL_PATH], until[ICCTL_UNTIL], policy[ICCTL_POLICY];

	(void)icctl_policy_name(s->policy, policy);
	fprintf(f, "session %s\n", s->id);
	fprintf(f, "  agent      %s\n", s->agent);
	fprintf(f, "  workspace  %s\n", icctl_path(s->workspace, path));
	fprintf(f, "  policy     %s\n",
	    policy[0] != '\0' ? policy : icctl_path(s->policy, path));
	fprintf(f, "  state      %s%s%s\n", s->state,
	    s->why[0] != '\0' ? ": " : "", s->why);
	if (icctl_until(s->until, until)[0] != '\0')
		fprintf(f, "  quota      used up until %s\n", until);
	fprintf(f, "  waiting    %u\n", s->nholds);
	if (grants != NULL && json_object_array_length(grants) != 0)
		fprintf(f, "  allowed    %zu for the session (g)\n",
		    json_object_array_length(grants));
	if (servers != NULL && json_object_array_length(servers) != 0)
		fprintf(f, "  servers    %zu of MCP (m)\n",
		    json_object_array_length(servers));
	if (s->budget != NULL) {
		fputc('\n', f);
		put_printed(f, icctl_show_budget, s->budget);
	}
	fputs("\nActivity, the newest first\n", f);
	activity_put(f, s);
}

static void
put_grants(FILE *f, struct overview *o, const struct live_session *s)
{
	json_object *list = session_list(s, "granted");
	size_t n = list == NULL ? 0 : json_object_array_length(list);

	fprintf(f, "Allowed for the session %s\n\n", s->id);
	if (n == 0)
		fputs("Nothing was allowed beyond single calls.\n", f);
	if (o->grant >= n)
		o->grant = n == 0 ? 0 : (unsigned)n - 1;
	for (size_t i = 0; i < n; i++) {
		fputs(i == o->grant ? "> " : "  ", f);
		put_printed(
		    f, icctl_put_grant, json_object_array_get_idx(list, i));
	}
	if (n != 0)
		fputs("\nup, down: choose; x: take it back; Esc: leave\n", f);
}

/* The time that is left changes; everything else stands. */
static void
put_call(FILE *f, struct overview *o, struct live_hold *h)
{
	uint64_t now = loop_now(&o->loop);

	if (h->expires != 0)
		put_int(h->hold, "expires_ms",
		    (int64_t)(h->expires > now ? h->expires - now : 0));
	if (!h->whole) {
		fputs("The values of this call are still being fetched.\n", f);
		o->whole = false;
		return;
	}
	o->whole = hold_view(f, h->hold,
	    o->full ? HOLD_VIEW_FULL : HOLD_VIEW_WHOLE, icctl_visible());
}

static void
put_view(FILE *f, struct overview *o, const struct overview_row *row)
{
	o->whole = false;
	if (o->view == VIEW_HELP) {
		fputs(text_keys, f);
	} else if (row->session == NULL) {
		fputs(
		    o->filter[0] != '\0'
			? "No session has this text (/ changes it).\n"
			: "No session is running. One that starts appears "
			  "here.\n\n  N                        start an agent "
			  "in "
			  "this directory\n  icctl start \"your task\"  the "
			  "same, in a shell\n  icctl setup              choose "
			  "an agent and a key\n  icctl ls                 "
			  "sessions that have ended\n",
		    f);
	} else if (o->view == VIEW_HISTORY) {
		fprintf(
		    f, "History of %s, the newest first\n\n", row->session->id);
		activity_put(f, row->session);
	} else if (o->view == VIEW_GRANTS) {
		put_grants(f, o, row->session);
	} else if (o->view == VIEW_SERVERS) {
		put_servers(f, row->session);
	} else if (row->hold != NULL) {
		put_call(f, o, row->hold);
	} else {
		put_session(f, row->session);
	}
}

/* Divide the text into lines of the screen. */
static void
text_wrap(struct overview *o, unsigned cols)
{
	unsigned indent = 0, deep = 0;
	size_t cap = 0, n, used;
	char *nl;

	free(o->lines);
	o->lines = NULL;
	o->nlines = 0;
	for (size_t at = 0; at < o->len;) {
		nl = memchr(o->text + at, '\n', o->len - at);
		n = nl == NULL ? o->len - at : (size_t)(nl - o->text) - at;
		if (indent == 0)
			deep = wrap_indent(o->text + at, n, cols);
		used = wrap_fit(o->text + at, n, cols - indent);
		if (o->nlines == cap) {
			cap = cap == 0 ? 128 : 2 * cap;
			o->lines =
			    reallocarray(o->lines, cap, sizeof(o->lines[0]));
			if (o->lines == NULL)
				err(ICCTL_FAILED, "text");
		}
		o->lines[o->nlines++] =
		    (struct overview_line){o->text + at, used, indent};
		indent = used == n ? 0 : deep;
		at += used + (used == n);
	}
}

/* If another call is shown, or in another form, it begins to stand now. */
static void
text_stands(struct overview *o, const struct overview_row *row, unsigned cols)
{
	struct live_hold *h = o->view == VIEW_CHOSEN ? row->hold : NULL;
	const char *id = h == NULL ? "" : h->id,
		   *digest = h == NULL ? "" : h->digest;
	uint64_t since = h == NULL ? 0 : h->since;

	if (strcmp(o->of, id) == 0 && strcmp(o->digest, digest) == 0 &&
	    o->since == since && o->of_full == o->full && o->of_cols == cols)
		return;
	(void)strlcpy(o->of, id, sizeof(o->of));
	(void)strlcpy(o->digest, digest, sizeof(o->digest));
	o->since = since;
	o->of_full = o->full;
	o->of_cols = cols;
	o->seen = 0;
	o->shown = loop_now(&o->loop);
	if (o->armed != 'x')
		o->armed = '\0';
}

void
text_make(struct overview *o, unsigned cols)
{
	struct overview_row row = rows_chosen(o);
	FILE *f;

	text_stands(o, &row, cols);
	text_free(o);
	if ((f = open_memstream(&o->text, &o->len)) == NULL)
		err(ICCTL_FAILED, "output");
	put_view(f, o, &row);
	if (fclose(f) != 0)
		err(ICCTL_FAILED, "output");
	text_wrap(o, cols == 0 ? 1 : cols);
	text_scroll(o, 0);
}

void
text_scroll(struct overview *o, long by)
{
	long max = (long)o->nlines - (long)o->text_rows,
	     to = (long)o->scroll + by;

	if (to > max)
		to = max;
	o->scroll = to < 0 ? 0 : (size_t)to;
	if (o->scroll + o->text_rows > o->seen && o->scroll <= o->seen)
		o->seen = o->scroll + o->text_rows;
}

bool
text_found(const struct overview *o, const struct overview_line *l)
{
	size_t n = strlen(o->search), left = (size_t)(o->text + o->len - l->p);

	/* It may go on in the next line, where a long one is divided. */
	for (size_t i = 0; n != 0 && i < l->len && i + n <= left; i++)
		if (strncasecmp(l->p + i, o->search, n) == 0)
			return true;
	return false;
}

void
text_search(struct overview *o)
{
	size_t at;

	if (o->search[0] == '\0')
		return;
	for (size_t i = 1; i <= o->nlines; i++) {
		at = (o->found + i) % o->nlines;
		if (!text_found(o, &o->lines[at]))
			continue;
		o->found = at;
		text_scroll(o, (long)at - (long)o->scroll);
		overview_say(o, "%s", "");
		return;
	}
	overview_say(o, "nothing on the right side has this text");
}

void
text_free(struct overview *o)
{
	free(o->text);
	free(o->lines);
	o->text = NULL;
	o->lines = NULL;
	o->len = o->nlines = 0;
}
