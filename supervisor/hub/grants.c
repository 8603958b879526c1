/* SPDX-License-Identifier: ISC */
#include "hub/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/json/json.h"
#include "common/log.h"
#include "core/sup.h"
#include "hub/control.h"

/* As many as policyd has: of calls, and of hosts. */
#define GRANTS_SHOWN (64U + PROTO_MAX_OPENED)

struct granted {
	uint64_t id; /* the call whose approval granted it; PROTO_KEPT_ID */
	char sid[APPROVALS_SID + 1];
	char *text;  /* JSON, as people were shown it */
	char *bound; /* JSON; empty: it is not for a later run */
	int64_t made; /* seconds since 1970 */
	bool counted;
	bool waits; /* restored, and not yet in force */
	unsigned left;
	uint64_t expires; /* loop_now() ms; of one that is counted */
};

static struct granted granted_list[GRANTS_SHOWN]; /* oldest first */
static unsigned granted_n;

static struct granted *
granted_find(uint64_t id)
{
	for (unsigned i = 0; i < granted_n; i++)
		if (granted_list[i].id == id)
			return &granted_list[i];
	return NULL;
}

static struct json_object *
granted_json(const struct granted *g)
{
	struct json_object *o = json_tokener_parse(g->text);
	int64_t left = (int64_t)g->expires - (int64_t)loop_now(&sup.loop);

	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = json_object_new_object();
	}
	put_str(o, "id", g->sid);
	if (g->waits)
		put_bool(o, "waits", true);
	if (g->counted) {
		put_int(o, "left", g->left);
		put_int(o, "expires_ms", left);
	}
	return o;
}

static void
granted_tell(const struct granted *g, const char *state, const char *why)
{
	struct json_object *o = granted_json(g), *v = NULL;
	char left[40] = "";

	json_object_object_get_ex(o, "description", &v);
	if (g->counted)
		snprintf(left, sizeof(left), " (%u left)", g->left);
	sup_note("granted %s %s%s: %s%s%s", g->sid, state, left,
	    v != NULL ? json_object_get_string(v) : "", *why ? ": " : "", why);
	put_str(o, "state", state);
	if (*why != '\0')
		put_str(o, "why", why);
	control_event("grant", o);
}

static void
granted_make(const struct msg_GRANT_SHOW *m)
{
	struct granted *g = &granted_list[granted_n];
	const char *sid = approvals_sid_of(m->id);

	if (granted_n == GRANTS_SHOWN || granted_find(m->id) != NULL ||
	    sid == NULL)
		return;
	*g = (struct granted){.id = m->id,
	    .made = (int64_t)(clock_wall_us() / 1000000),
	    .counted = m->ms != 0,
	    .left = m->left,
	    .expires = loop_now(&sup.loop) + m->ms};
	strlcpy(g->sid, sid, sizeof(g->sid));
	g->text = span_dup(m->text);
	g->bound = span_dup(m->bound);
	if (g->text == NULL || g->bound == NULL) {
		free(g->text);
		free(g->bound);
		return;
	}
	granted_n++;
	granted_tell(g, "made", "");
}

/* Answer those who asked for its end. */
static void
granted_answer(uint64_t id)
{
	struct client *c;

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd != -1 && c->revoke == id && c->reply != NULL)
			control_answer(c);
	}
}

static void
granted_drop(struct granted *g)
{
	size_t i = (size_t)(g - granted_list);

	free(g->text);
	free(g->bound);
	memmove(g, g + 1, (granted_n - i - 1) * sizeof(*g));
	granted_n--;
}

void
grants_show(const struct msg_GRANT_SHOW *m)
{
	struct granted *g;
	char why[512];

	if (m->state == PROTO_GRANT_MADE) {
		granted_make(m);
		return;
	}
	if ((g = granted_find(m->id)) == NULL)
		return;
	g->left = m->left;
	if (m->state == PROTO_GRANT_USED) {
		granted_tell(g, "used", "");
		return;
	}
	if (m->state == PROTO_GRANT_KEPT) {
		g->waits = false;
		granted_tell(g, "kept", "");
		return;
	}
	log_vis(m->text, why, sizeof(why));
	granted_tell(g, "ended", why);
	granted_drop(g);
	granted_answer(m->id);
}

struct json_object *
grants_json(void)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < granted_n; i++)
		json_object_array_add(list, granted_json(&granted_list[i]));
	return list;
}

void
grants_restore(uint64_t id, int64_t made, const char *text, const char *bound)
{
	struct granted *g = &granted_list[granted_n];
	struct msg_RESTORE_GRANT m = {.id = id, .bound = span_str(bound)};

	if (granted_n == GRANTS_SHOWN)
		return;
	*g = (struct granted){.id = id,
	    .made = made,
	    .waits = true,
	    .text = strdup(text),
	    .bound = strdup(bound)};
	if (g->text == NULL || g->bound == NULL) {
		free(g->text);
		free(g->bound);
		return;
	}
	approvals_sid(g->sid);
	granted_n++;
	child_send(ROLE_POLICY, 0, MSG_RESTORE_GRANT, &m, -1);
}

/* Returns one of them for the record, or NULL. */
static struct value *
granted_state(const struct granted *g, struct value_pool *p)
{
	const struct value *text = json_read(p, span_str(g->text), NULL),
			   *bound = json_read(p, span_str(g->bound), NULL);
	struct value *o = value_new(p, VALUE_OBJECT);
	const bool kept = (g->id & PROTO_KEPT_ID) != 0;

	if (o == NULL || text == NULL || bound == NULL ||
	    value_set(o, SPAN("bound"), value_copy(p, bound)) == -1 ||
	    value_set(o, SPAN("forSession"), value_copy(p, text)) == -1 ||
	    value_set(o, kept ? SPAN("id") : SPAN("call"),
		value_new_number(p, (int64_t)g->id)) == -1 ||
	    value_set(o, SPAN("made"), value_new_number(p, g->made)) == -1)
		return NULL;
	return o;
}

struct value *
grants_state(struct value_pool *p)
{
	struct value *list = value_new(p, VALUE_ARRAY);

	for (unsigned i = 0; list != NULL && i < granted_n; i++)
		if (granted_list[i].bound[0] != '\0')
			(void)value_append(
			    list, granted_state(&granted_list[i], p));
	return list;
}

void
grants_clear(void)
{
	while (granted_n != 0)
		granted_drop(&granted_list[0]);
}

void
control_op_revoke(struct client *c, struct json_object *req)
{
	struct json_object *id = NULL;
	struct msg_REVOKE m = {0};
	struct granted *g = NULL;

	json_object_object_get_ex(req, "id", &id);
	for (unsigned i = 0; id != NULL && i < granted_n; i++)
		if (strcmp(granted_list[i].sid, json_object_get_string(id)) ==
		    0)
			g = &granted_list[i];
	if (g == NULL) {
		control_fail(c, "not-found",
		    "no approval of more than one call has this id: it has "
		    "ended, or the id is mistyped. See: icctl grants");
		return;
	}
	sup_note("revoke %s by pid %d", g->sid, (int)c->peer.pid);
	m.id = c->revoke = g->id;
	c->reply = control_ok();
	json_object_object_add(c->reply, "grant", granted_json(g));
	child_send(ROLE_AUDIT, 0, MSG_REVOKE, &m, -1);
}
