/* SPDX-License-Identifier: ISC */
/*
 * Composes what the page shows: every session with what waits in it, and more
 * of the one that is chosen. A page asks for another state than it has, and
 * waits; changes that come together make one answer, so that a page that is
 * slow, or slept, skips what it missed.
 */
#include "icctl/web/priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/visible.h"
#include "icctl/hold/hold_view.h"

json_object *
state_vis(const char *text)
{
	json_object *o;
	struct buf b;

	buf_init(&b, 8U << 20);
	(void)visible_add(&b, span_str(text), VISIBLE_AGAIN);
	o = json_object_new_string_len(
	    (const char *)buf_span(&b).p, (int)buf_span(&b).len);
	buf_free(&b);
	return o;
}

static json_object *
state_call(struct web *w, struct live_hold *h)
{
	json_object *o = json_object_new_object();
	uint64_t now = loop_now(&w->loop);
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	put_str(o, "id", h->id);
	put_str(o, "digest", h->digest);
	if (f != NULL) {
		hold_view_line(f, "", h->hold, 0);
		if (fclose(f) == 0 && len != 0)
			json_object_object_add(o, "line",
			    json_object_new_string_len(line, (int)len - 1));
		free(line);
	}
	put_int(o, "since", (int64_t)h->since);
	if (h->expires != 0)
		put_int(o, "left",
		    (int64_t)(h->expires > now ? h->expires - now : 0));
	return o;
}

static json_object *
state_row(struct web *w, struct live_session *s)
{
	static const char *const is[] = {[LIVE_ABSENT] = "starting",
	    [LIVE_RUNS] = "runs",
	    [LIVE_SILENT] = "silent",
	    [LIVE_LOST] = "lost",
	    [LIVE_OVER] = "over"};
	json_object *o = json_object_new_object(),
		    *calls = json_object_new_array();

	put_str(o, "id", s->id);
	put_str(o, "agent", s->agent);
	put_str(o, "workspace", s->workspace);
	put_str(o, "policy", s->policy);
	put_str(o, "state", s->state);
	put_str(o, "until", s->until);
	/* Only a conversation has turns. */
	put_bool(o, "talks",
	    s->status != NULL &&
		json_object_object_get_ex(s->status, "turn", NULL));
	put_str(o, "is", is[s->is]);
	put_str(o, "why", s->why);
	for (unsigned i = 0; i < s->nholds; i++)
		json_object_array_add(calls, state_call(w, &s->holds[i]));
	json_object_object_add(o, "calls", calls);
	return o;
}

/* Returns what a function of icctl prints to standard output. */
static json_object *
state_printed(void (*print)(json_object *), json_object *arg)
{
	FILE *real = stdout, *f;
	char *text = NULL;
	size_t len = 0;
	json_object *o;

	if (arg == NULL || (f = open_memstream(&text, &len)) == NULL)
		return json_object_new_string("");
	stdout = f;
	print(arg);
	stdout = real;
	(void)fclose(f);
	o = json_object_new_string_len(text, (int)len);
	free(text);
	return o;
}

/* Returns one line about an MCP server: its state, parts, place and words. */
static json_object *
state_server(json_object *row)
{
	char line[ICCTL_SERVER_LINE];

	icctl_server_line(row, line, sizeof(line));
	return state_vis(line);
}

static json_object *
state_servers(const struct live_session *s)
{
	json_object *out = json_object_new_array(), *list = NULL, *o, *row;

	if (s->status == NULL ||
	    !json_object_object_get_ex(s->status, "servers", &list) ||
	    !json_object_is_type(list, json_type_array))
		return out;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		row = json_object_array_get_idx(list, i);
		o = json_object_new_object();
		put_str(o, "n", icctl_text(row, "name"));
		json_object_object_add(o, "text", state_server(row));
		json_object_array_add(out, o);
	}
	return out;
}

static json_object *
state_grants(const struct live_session *s)
{
	json_object *out = json_object_new_array(), *list = NULL, *o, *g;

	if (s->status == NULL ||
	    !json_object_object_get_ex(s->status, "granted", &list) ||
	    !json_object_is_type(list, json_type_array))
		return out;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		g = json_object_array_get_idx(list, i);
		o = json_object_new_object();
		put_str(o, "id", icctl_text(g, "id"));
		json_object_object_add(
		    o, "text", state_printed(icctl_put_grant, g));
		json_object_array_add(out, o);
	}
	return out;
}

static json_object *
state_items(const struct live_session *s)
{
	static const char *const kinds[] = {[LIVE_ALLOWED] = "allowed",
	    [LIVE_DENIED] = "denied",
	    [LIVE_HELD] = "waits",
	    [LIVE_ANSWERED] = "answered",
	    [LIVE_MODEL] = "model",
	    [LIVE_REFUSED] = "refused",
	    [LIVE_ALARM] = "alarm",
	    [LIVE_NOTE] = "note"};
	json_object *out = json_object_new_array(), *o;
	const struct live_item *it;

	for (unsigned back = 0; (it = live_item(s, back)) != NULL; back++) {
		o = json_object_new_object();
		put_int(o, "n", (int64_t)it->n);
		put_int(o, "ms", (int64_t)(it->us / 1000));
		put_str(o, "kind", kinds[it->kind]);
		put_str(o, "state", it->state);
		put_str(o, "text", it->text);
		json_object_array_add(out, o);
	}
	return out;
}

static json_object *
state_make(struct web *w, const char *chosen)
{
	json_object *o = json_object_new_object(),
		    *rows = json_object_new_array(), *more;
	struct live_session *s;

	put_int(o, "rev", (int64_t)w->rev);
	put_bool(o, "more", live_more(w->live));
	for (unsigned i = 0; (s = live_at(w->live, i)) != NULL; i++)
		json_object_array_add(rows, state_row(w, s));
	json_object_object_add(o, "sessions", rows);
	json_object_object_add(o, "jobs", json_object_get(w->jobs));
	if (chosen[0] == '\0' || (s = live_find(w->live, chosen)) == NULL)
		return o;
	more = json_object_new_object();
	put_str(more, "id", s->id);
	json_object_object_add(
	    more, "budget", state_printed(icctl_show_budget, s->budget));
	json_object_object_add(more, "grants", state_grants(s));
	json_object_object_add(more, "servers", state_servers(s));
	json_object_object_add(more, "items", state_items(s));
	json_object_object_add(more, "talk", talk_items(w, s));
	json_object_object_add(o, "chosen", more);
	return o;
}

static void state_when(struct web *);

static void
state_late(struct loop_timer *t)
{
	struct web *w = t->arg;
	uint64_t now = loop_now(&w->loop);

	for (size_t i = 0; i < WEB_WAITS; i++) {
		struct web_wait *q = &w->waits[i];

		if (!q->is || now < q->until)
			continue;
		q->is = false;
		send_answer(w, q->n, 200, state_make(w, q->session));
	}
	state_when(w);
}

/* Set the timer for the wait that ends first. */
static void
state_when(struct web *w)
{
	uint64_t now = loop_now(&w->loop), first = UINT64_MAX;

	for (size_t i = 0; i < WEB_WAITS; i++)
		if (w->waits[i].is && w->waits[i].until < first)
			first = w->waits[i].until;
	if (first == UINT64_MAX)
		loop_timer_clear(&w->loop, &w->late);
	else
		loop_timer_set(&w->loop, &w->late,
		    first > now ? first - now : 0, state_late, w);
}

static void
state_soon(struct loop_timer *t)
{
	struct web *w = t->arg;

	for (size_t i = 0; i < WEB_WAITS; i++)
		if (w->waits[i].is && w->waits[i].since != w->rev)
			w->waits[i].until = 0;
	state_late(t);
}

void
state_changed(void *arg, struct live_session *s, enum live_change change)
{
	struct web *w = arg;

	(void)s;
	(void)change;
	w->rev++;
	if (w->soon.at == 0)
		loop_timer_set(&w->loop, &w->soon, WEB_SOON_MS, state_soon, w);
}

void
state_ask(struct web *w, const struct msg_WEB_REQUEST *m)
{
	uint64_t now = loop_now(&w->loop);
	struct web_wait *place = NULL, *q;
	char session[LIVE_NAME];

	if (span_copy(m->session, session, sizeof(session)) == -1)
		session[0] = '\0';
	for (size_t i = 0; i < WEB_WAITS; i++) {
		q = &w->waits[i];
		/* The same page asks again: it no longer waits. */
		if (q->is && q->page == m->page) {
			q->is = false;
			send_answer(w, q->n, 200, state_make(w, q->session));
		}
		if (!q->is)
			place = q;
	}
	if (m->since != w->rev || place == NULL) {
		send_answer(w, m->n, 200, state_make(w, session));
		return;
	}
	*place = (struct web_wait){.is = true,
	    .n = m->n,
	    .page = m->page,
	    .since = m->since,
	    .until = now + WEB_WAIT_MS};
	(void)strlcpy(place->session, session, sizeof(place->session));
	state_when(w);
}

void
state_forget(struct web *w)
{
	for (size_t i = 0; i < WEB_WAITS; i++)
		w->waits[i].is = false;
	state_when(w);
}

void
state_free(struct web *w)
{
	loop_timer_clear(&w->loop, &w->soon);
	loop_timer_clear(&w->loop, &w->late);
	talk_free(w);
}
