/* SPDX-License-Identifier: ISC */
/* Takes replies and events of a session. */
#include "icctl/live/priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "base/signed.h"
#include "icctl/hold/hold_view.h"
#include "icctl/icctl.h"

struct live_hold *
live_hold(struct live_session *s, const char *id)
{
	for (unsigned i = 0; i < s->nholds; i++)
		if (strcmp(s->holds[i].id, id) == 0)
			return &s->holds[i];
	return NULL;
}

void
take_clear(struct live_session *s)
{
	while (s->nholds != 0)
		json_object_put(s->holds[--s->nholds].hold);
}

/* Add the line that names the call to the activity. */
static void
note_hold(struct live_session *s, json_object *hold, enum live_kind kind,
    const char *state)
{
	char *line = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&line, &len);

	if (f == NULL)
		return;
	hold_view_line(f, "", hold, s->set->flags);
	if (fclose(f) == 0 && len != 0)
		activity_add(s, kind, clock_wall_us(), icctl_text(hold, "id"),
		    state, span_of(line, len - 1));
	free(line);
}

/* Returns true if both would be shown alike, apart from the time left. */
static bool
same_hold(json_object *a, json_object *b)
{
	static const char *const keys[] = {"digest", "sessionDigest",
	    "arguments", "effect", "rule", "reason", "server", "tool", "cut"};
	json_object *x, *y;

	for (size_t i = 0; i < nitems(keys); i++)
		if (strcmp(icctl_text(a, keys[i]), icctl_text(b, keys[i])) != 0)
			return false;
	for (size_t i = 0; i < 3; i++) {
		static const char *const more[] = {
		    "asks", "resources", "forSession"};

		x = y = NULL;
		(void)json_object_object_get_ex(a, more[i], &x);
		(void)json_object_object_get_ex(b, more[i], &y);
		if (!json_object_equal(x, y))
			return false;
	}
	return true;
}

static void
hold_set(struct live_session *s, struct live_hold *h, json_object *hold)
{
	json_object *ms = NULL;
	int64_t left;

	if (h->hold == NULL || !same_hold(h->hold, hold))
		h->since = loop_now(s->set->loop);
	json_object_put(h->hold);
	h->hold = json_object_get(hold);
	h->whole = !json_object_object_get_ex(hold, "cut", NULL);
	(void)strlcpy(h->digest, icctl_text(hold, "digest"), sizeof(h->digest));
	h->expires = 0;
	if (json_object_object_get_ex(hold, "expires_ms", &ms)) {
		left = json_object_get_int64(ms);
		h->expires =
		    loop_now(s->set->loop) + (left > 0 ? (uint64_t)left : 0);
	}
	if (!h->whole && s->far == NULL)
		(void)live_show(s, h->id);
}

bool
take_hold_add(struct live_session *s, json_object *hold, bool *is_new)
{
	const char *id = icctl_text(hold, "id");
	struct live_hold *h = live_hold(s, id);

	*is_new = h == NULL;
	if (id[0] == '\0' || strlen(id) >= LIVE_ID)
		return false;
	if (h == NULL) {
		if (s->nholds == LIVE_HOLDS)
			return false;
		h = &s->holds[s->nholds++];
		*h = (struct live_hold){.hold = NULL};
		(void)strlcpy(h->id, id, sizeof(h->id));
	}
	hold_set(s, h, hold);
	return true;
}

/* Add the call, or note that it waits for another reason now. */
static void
take_hold(struct live_session *s, json_object *hold, bool tell)
{
	bool is_new;

	if (!take_hold_add(s, hold, &is_new) || !tell)
		return;
	if (is_new)
		note_hold(s, hold, LIVE_HELD, "");
	/* Its first call makes the session wait. */
	if (is_new && s->nholds == 1)
		conn_status(s);
	live_tell(s, LIVE_HOLD);
}

bool
take_hold_drop(struct live_session *s, const char *id)
{
	struct live_hold *h = live_hold(s, id);
	size_t i;

	if (h == NULL)
		return false;
	json_object_put(h->hold);
	i = (size_t)(h - s->holds);
	s->nholds--;
	memmove(h, h + 1, (s->nholds - i) * sizeof(*h));
	return true;
}

static void
take_end(struct live_session *s, const char *id, const char *state)
{
	struct live_hold *h = live_hold(s, id);

	if (h == NULL)
		return;
	note_hold(s, h->hold, LIVE_ANSWERED, state);
	(void)take_hold_drop(s, id);
	if (s->nholds == 0)
		conn_status(s);
	live_tell(s, LIVE_HOLD);
}

static bool
listed(json_object *list, const char *id)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strcmp(icctl_text(json_object_array_get_idx(list, i), "id"),
			id) == 0)
			return true;
	return false;
}

/* The reply to `watch`: the session is up, with these calls. */
static void
take_watch(struct live_session *s, json_object *o)
{
	json_object *list = NULL;
	bool came = s->is == LIVE_ABSENT;

	s->conn->tries = 0;
	starting_over(s);
	s->is = LIVE_RUNS;
	if (s->state[0] == '\0')
		(void)strlcpy(s->state, "running", sizeof(s->state));
	(void)json_object_object_get_ex(o, "holds", &list);
	for (unsigned i = s->nholds; i-- > 0;)
		if (list == NULL || !listed(list, s->holds[i].id))
			take_end(s, s->holds[i].id, "ended");
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++)
		take_hold(s, json_object_array_get_idx(list, i), false);
	live_tell(s, came ? LIVE_LIST : LIVE_ROW);
	live_tell(s, LIVE_HOLD);
	tail_read(s);
}

void
take_vis(struct live_session *s, char *dst, size_t cap, const char *text)
{
	struct buf b;
	struct span t;

	buf_init(&b, 8192);
	activity_vis(s->set, &b, span_str(text));
	t = buf_span(&b);
	t.len = t.len < cap ? t.len : cap - 1;
	memcpy(dst, t.p == NULL ? (const uint8_t *)"" : t.p, t.len);
	dst[t.len] = '\0';
	buf_free(&b);
}

static void
take_budget(struct live_session *s, json_object *o)
{
	json_object *budget = NULL;

	if (!json_object_object_get_ex(o, "budget", &budget))
		return;
	json_object_put(s->budget);
	s->budget = json_object_get(budget);
}

static void
take_status(struct live_session *s, json_object *o)
{
	const char *state = icctl_text(o, "state");

	json_object_put(s->status);
	s->status = json_object_get(o);
	take_vis(s, s->agent, sizeof(s->agent), icctl_text(o, "agent"));
	take_vis(
	    s, s->workspace, sizeof(s->workspace), icctl_text(o, "workspace"));
	take_vis(s, s->policy, sizeof(s->policy), icctl_text(o, "policy"));
	take_vis(s, s->state, sizeof(s->state),
	    state[0] == '\0' ? "running" : state);
	take_vis(s, s->until, sizeof(s->until), icctl_text(o, "quotaUntil"));
	(void)strlcpy(s->real, icctl_text(o, "dir"), sizeof(s->real));
	take_budget(s, o);
	live_tell(s, LIVE_ROW);
}

static void
take_news(struct live_session *s, const char *event, json_object *o)
{
	json_object *v = NULL;

	if (strcmp(event, "alarm") == 0) {
		activity_printf(s, LIVE_ALARM, "", "", "%s: %s",
		    icctl_text(o, "who"), icctl_text(o, "text"));
	} else if (strcmp(event, "budget") == 0) {
		activity_printf(
		    s, LIVE_NOTE, "", "", "budget: %s", icctl_text(o, "text"));
	} else if (strcmp(event, "grant") == 0) {
		activity_printf(s, LIVE_NOTE, "", "", "grant %s %s: %s%s%s",
		    icctl_text(o, "id"), icctl_text(o, "state"),
		    icctl_text(o, "description"),
		    icctl_text(o, "why")[0] != '\0' ? ", " : "",
		    icctl_text(o, "why"));
		conn_status(s);
	} else if (strcmp(event, "policy") == 0) {
		(void)json_object_object_get_ex(o, "inForce", &v);
		activity_printf(s, LIVE_NOTE, "", "",
		    json_object_get_boolean(v) ? "new rules are in force%s"
					       : "new rules were refused: %s",
		    icctl_text(o, "why"));
		conn_status(s);
	} else if (strcmp(event, "destination") == 0) {
		(void)json_object_object_get_ex(o, "added", &v);
		activity_printf(s, LIVE_NOTE, "", "", "%s %s",
		    icctl_text(o, "host"),
		    json_object_get_boolean(v) ? "can be reached now"
					       : "is closed again");
	} else if (strcmp(event, "tool") == 0) {
		activity_printf(s, LIVE_NOTE, "", "",
		    "tool %s__%s is in quarantine or changed: icctl trust",
		    icctl_text(o, "server"), icctl_text(o, "tool"));
	} else if (strcmp(event, "state") == 0) {
		conn_status(s);
	} else if (strcmp(event, "session") == 0) {
		/* The state of a conversation. */
		take_vis(
		    s, s->state, sizeof(s->state), icctl_text(o, "status"));
		take_vis(s, s->until, sizeof(s->until), icctl_text(o, "until"));
		live_tell(s, LIVE_ROW);
	} else if (strcmp(event, "turn_start") == 0 ||
		   strcmp(event, "turn_end") == 0) {
		conn_status(s);
	}
}

static bool
take_event(struct live_session *s, const char *event, json_object *o)
{
	json_object *v = NULL;

	if (s->set->ops->event != NULL)
		s->set->ops->event(s->set->arg, s, o);
	if (strcmp(event, "hold") == 0) {
		if (json_object_object_get_ex(o, "hold", &v))
			take_hold(s, v, true);
	} else if (strcmp(event, "holdEnd") == 0) {
		take_end(s, icctl_text(o, "id"), icctl_text(o, "state"));
	} else if (strcmp(event, "end") == 0 && !s->conn->over) {
		take_vis(s, s->why, sizeof(s->why), icctl_text(o, "why"));
		s->conn->over = true;
	} else if (strcmp(event, "usage") == 0) {
		take_budget(s, o);
		live_tell(s, LIVE_ROW);
	} else {
		take_budget(s, o);
		take_news(s, event, o);
	}
	return true;
}

/* A reply to a request of a person. */
static void
take_answer(struct live_session *s, const struct live_ask *ask, bool good,
    json_object *o)
{
	struct live_reply r = {.token = ask->token,
	    .op = ask->op,
	    .id = ask->id,
	    .ok = good,
	    .code = icctl_text(o, "code"),
	    .error = icctl_text(o, "error"),
	    .reply = o};

	s->set->ops->replied(s->set->arg, s, &r);
}

static bool
take_reply(struct live_session *s, const struct live_ask *ask, bool good,
    json_object *o)
{
	json_object *v = NULL;

	if (strcmp(ask->op, "watch") == 0) {
		/* It is starting, and asked again in a moment. */
		if (!good) {
			if (strcmp(icctl_text(o, "code"), "starting") == 0)
				starting_take(s);
			return false;
		}
		if (s->set->ops->event != NULL)
			s->set->ops->event(s->set->arg, s, o);
		take_watch(s, o);
	} else if (strcmp(ask->op, "status") == 0) {
		if (good)
			take_status(s, o);
	} else if (strcmp(ask->op, "show") == 0) {
		if (good && json_object_object_get_ex(o, "hold", &v) &&
		    live_hold(s, icctl_text(v, "id")) != NULL)
			take_hold(s, v, true);
	} else if (strcmp(ask->op, "events") != 0) {
		take_answer(s, ask, good, o);
	}
	return true;
}

bool
take_message(struct live_session *s, json_object *o)
{
	struct live_conn *c = s->conn;
	json_object *ok = NULL;
	struct live_ask ask;

	if (!json_object_object_get_ex(o, "ok", &ok))
		return take_event(s, icctl_text(o, "event"), o);
	if (c->nasks == 0)
		return false;
	ask = c->asks[0];
	c->nasks--;
	memmove(c->asks, c->asks + 1, c->nasks * sizeof(c->asks[0]));
	conn_answered(s);
	return take_reply(s, &ask, json_object_get_boolean(ok), o);
}

int
live_show(struct live_session *s, const char *id)
{
	json_object *req = json_object_new_object();

	put_str(req, "id", id);
	return conn_ask(s, req, "show", id, 0);
}

int
live_answer(
    struct live_session *s, const struct live_verdict *v, uint64_t token)
{
	json_object *req;
	char times[16];

	if (strlen(v->id) >= LIVE_ID || strlen(v->digest) != 64 ||
	    v->times > 20 ||
	    (v->because != NULL && strlen(v->because) > LIVE_BECAUSE) ||
	    (v->by != NULL && strlen(v->by) > LIVE_BY) ||
	    (v->entries != NULL && strlen(v->entries) > SIGNED_ENTRIES)) {
		errno = EINVAL;
		return -1;
	}
	req = json_object_new_object();
	put_str(req, "id", v->id);
	put_str(req, "digest", v->digest);
	if (v->approve && v->session != NULL)
		put_str(req, "session", v->session);
	if (v->approve && v->times != 0) {
		(void)snprintf(times, sizeof(times), "%u", v->times);
		put_str(req, "times", times);
	}
	if (v->because != NULL && v->because[0] != '\0')
		put_str(req, "because", v->because);
	if (v->approve && v->answer != NULL)
		put_str(req, "answer", v->answer);
	if (v->by != NULL && v->by[0] != '\0')
		put_str(req, "by", v->by);
	if (v->approve && v->entries != NULL)
		put_str(req, "signed", v->entries);
	return conn_ask(s, req, v->approve ? "approve" : "deny", v->id, token);
}

int
live_revoke(struct live_session *s, const char *id, uint64_t token)
{
	json_object *req;

	if (strlen(id) >= LIVE_ID) {
		errno = EINVAL;
		return -1;
	}
	req = json_object_new_object();
	put_str(req, "id", id);
	return conn_ask(s, req, "revoke", id, token);
}

int
live_order(struct live_session *s, const char *op, const char *text,
    uint64_t token)
{
	json_object *req = json_object_new_object();

	if (text[0] != '\0') {
		put_str(req, "message", text);
		put_str(req, "typed", "no");
	}
	return conn_ask(s, req, op, "", token);
}
