/* SPDX-License-Identifier: ISC */
#include "control/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "control/control.h"
#include "json_put.h"
#include "sup.h"

#define GRANTS_SHOWN 64U /* as many as policyd has */

struct granted {
	uint64_t id; /* the call whose approval granted it */
	char sid[APPROVALS_SID + 1];
	char *text; /* JSON, as people were shown it */
	bool counted;
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
	    .counted = m->ms != 0,
	    .left = m->left,
	    .expires = loop_now(&sup.loop) + m->ms};
	strlcpy(g->sid, sid, sizeof(g->sid));
	if ((g->text = span_dup(m->text)) == NULL)
		return;
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
		    "ended, or the id is mistyped. See: icctl status");
		return;
	}
	sup_note("revoke %s by pid %d", g->sid, (int)c->peer.pid);
	m.id = c->revoke = g->id;
	c->reply = control_ok();
	json_object_object_add(c->reply, "grant", granted_json(g));
	child_send(ROLE_AUDIT, 0, MSG_REVOKE, &m, -1);
}
