/* SPDX-License-Identifier: ISC */
/*
 * Undo on the page: the checkpoints of a session, the plan to go back to one of
 * them, and the yes, which is for the plan that this login was sent, whole, at
 * least a second ago. `icctl undo` does all of it, and compares the plan once
 * more before it touches a file.
 */
#include "icctl/web/run.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"

/* Returns a copy in which no text can hide another. */
static json_object *
undo_visible(json_object *from)
{
	json_object *to;

	switch (json_object_get_type(from)) {
	case json_type_string:
		return state_vis(json_object_get_string(from));
	case json_type_array:
		to = json_object_new_array();
		for (size_t i = 0; i < json_object_array_length(from); i++)
			json_object_array_add(to,
			    undo_visible(json_object_array_get_idx(from, i)));
		return to;
	case json_type_object:
		to = json_object_new_object();
		json_object_object_foreach(from, key, v)
		    json_object_object_add(to, key, undo_visible(v));
		return to;
	case json_type_null:
	case json_type_boolean:
	case json_type_double:
	case json_type_int:
		break;
	}
	return json_object_get(from);
}

/* Note that the login has been sent this plan now. */
static void
undo_note(struct web_run *r, const char *digest)
{
	struct web *w = r->w;

	if (r->was.login == NULL)
		return;
	(void)strlcpy(r->was.digest, digest, sizeof(r->was.digest));
	r->was.at = loop_now(&w->loop);
	w->plans[w->nplans++ % WEB_PLANS] = r->was;
}

static void
undo_done(struct web_run *r, bool good, json_object *o)
{
	json_object *shown, *ok;
	bool is = json_object_object_get_ex(o, "ok", &ok) &&
		  json_object_get_boolean(ok);

	if (!is) {
		if (icctl_text(o, "error")[0] != '\0')
			send_refuse(r->w, r->n, 409, icctl_text(o, "error"));
		else
			web_run_refuse(r, "icctl undo has failed");
		json_object_put(o);
		return;
	}
	shown = undo_visible(o);
	/* Its list `failed` has the files that could not be put back. */
	if (r->acts)
		put_bool(shown, "whole", good);
	if (send_answer(r->w, r->n, 200, shown) && !r->acts &&
	    icctl_text(o, "plan")[0] != '\0')
		undo_note(r, icctl_text(o, "plan"));
	json_object_put(o);
}

/* Returns the plan that the login was shown, or NULL and sets `*why`. */
static struct web_seen *
undo_seen(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login, const char *session, const char **why)
{
	*why = "this page has not shown that plan: look at it first";
	for (unsigned i = 0; i < WEB_PLANS; i++) {
		struct web_seen *p = &w->plans[i];

		if (p->at == 0 || p->login != login ||
		    strcmp(p->session, session) != 0 ||
		    !span_is(m->call, p->call) ||
		    !span_is(m->digest, p->digest))
			continue;
		*why = "this plan has just appeared: look at it first";
		return loop_now(&w->loop) - p->at < WEB_LOOK_MS ? NULL : p;
	}
	return NULL;
}

/* Take the number of a checkpoint, or nothing. Returns 0 or -1. */
static int
undo_number(struct span s, char *dst, size_t cap)
{
	uint64_t n;

	if (s.len != 0 && span_u64(s, UINT32_MAX, &n) == -1)
		return -1;
	return span_copy(s, dst, cap);
}

static void
undo_start(struct web_run *r, const char *dir)
{
	const char *list[16];
	struct wordlist words = WORDLIST_IN(list);

	wordlist_all(&words, (const char *const[]){"icctl", "--json",
				 "--session", dir, "undo", NULL});
	if (r->was.call[0] == '\0')
		wordlist_add(&words, "--list");
	else
		wordlist_all(
		    &words, (const char *const[]){"--to", r->was.call, NULL});
	if (r->acts)
		wordlist_all(&words,
		    (const char *const[]){"--plan", r->was.digest, NULL});
	else if (r->was.call[0] != '\0')
		wordlist_add(&words, "--dry-run");
	web_run_start(r, &words);
}

void
web_undo_ask(struct web *w, const struct msg_WEB_REQUEST *m,
    const struct web_login *login)
{
	struct live_session *s = NULL;
	struct web_seen *seen = NULL;
	char id[LIVE_NAME], to[LIVE_ID];
	const char *why;
	struct web_run *r;

	if (span_copy(m->session, id, sizeof(id)) == 0)
		s = live_find(w->live, id);
	if (s == NULL || s->is == LIVE_ABSENT) {
		send_refuse(w, m->n, 404, "there is no such session");
		return;
	}
	if (s->far != NULL) {
		send_refuse(w, m->n, 409, web_elsewhere);
		return;
	}
	if (undo_number(m->call, to, sizeof(to)) == -1 ||
	    (to[0] == '\0' && m->digest.len != 0)) {
		send_refuse(w, m->n, 400, "an undo names a checkpoint");
		return;
	}
	if (m->digest.len != 0 &&
	    (seen = undo_seen(w, m, login, id, &why)) == NULL) {
		send_refuse(w, m->n, 409, why);
		return;
	}
	if ((r = web_run_new(w, m->n, undo_done)) == NULL) {
		send_refuse(w, m->n, 503, "too much is being done: try again");
		return;
	}
	if (seen != NULL) {
		r->was = *seen;
		/* A yes is for once. */
		seen->at = 0;
	} else {
		r->was.login = login;
		(void)strlcpy(r->was.session, id, sizeof(r->was.session));
		(void)strlcpy(r->was.call, to, sizeof(r->was.call));
	}
	r->acts = seen != NULL;
	undo_start(r, s->dir);
}

void
web_undo_end_login(struct web *w, const struct web_login *login)
{
	for (unsigned i = 0; i < WEB_PLANS; i++)
		if (w->plans[i].login == login)
			w->plans[i].at = 0;
	/* A plan that is being made is for nobody. */
	for (unsigned i = 0; i < WEB_RUNS; i++)
		if (w->runs[i] != NULL && w->runs[i]->was.login == login)
			w->runs[i]->was.login = NULL;
}
