/* SPDX-License-Identifier: ISC */
/*
 * Sessions of other machines. Their news come from a relay, which may lie about
 * them: every text is made printable here, and nothing is looked up on this
 * machine by what it says.
 */
#include "icctl/live/priv.h"

#include <stdlib.h>
#include <string.h>

struct live_session *
live_far_add(struct live *l, const char *id, void *far)
{
	struct live_session *s = live_find(l, id);

	if (s != NULL)
		return s->far == far ? s : NULL;
	if (strlen(id) >= sizeof(s->id))
		return NULL;
	live_trim(l);
	if (l->n == l->max) {
		l->more = true;
		return NULL;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (s->conn = calloc(1, sizeof(*s->conn))) == NULL ||
	    (s->dir = strdup("")) == NULL) {
		if (s != NULL)
			free(s->conn);
		free(s);
		return NULL;
	}
	s->set = l;
	s->far = far;
	s->conn->dir = s->conn->log = s->conn->watch = s->conn->io.fd = -1;
	(void)strlcpy(s->id, id, sizeof(s->id));
	live_insert(l, s);
	return s;
}

void
live_far_row(struct live_session *s, const struct live_row *row)
{
	bool seen = s->is != LIVE_ABSENT || s->starting;
	bool see = row->is != LIVE_ABSENT || row->starting;

	take_vis(s, s->agent, sizeof(s->agent), row->agent);
	take_vis(s, s->workspace, sizeof(s->workspace), row->workspace);
	take_vis(s, s->policy, sizeof(s->policy), row->policy);
	take_vis(s, s->state, sizeof(s->state), row->state);
	take_vis(s, s->until, sizeof(s->until), row->until);
	take_vis(s, s->why, sizeof(s->why), row->why);
	s->is = row->is;
	s->starting = row->starting;
	if (s->is == LIVE_OVER && s->nholds != 0) {
		take_clear(s);
		live_tell(s, LIVE_HOLD);
	}
	live_tell(s, seen == see ? LIVE_ROW : LIVE_LIST);
}

struct live_session *
live_far_at(const struct live *l, unsigned i)
{
	return i < l->n ? l->all[i] : NULL;
}

void
live_far_drop(struct live_session *s)
{
	live_drop(s->set, s);
}

void
live_far_much(struct live_session *s, const char *why)
{
	s->much = true;
	(void)strlcpy(s->why, why, sizeof(s->why));
	live_tell(s, LIVE_ROW);
}

void
live_far_hold(struct live_session *s, json_object *hold)
{
	bool is_new;

	if (take_hold_add(s, hold, &is_new))
		live_tell(s, LIVE_HOLD);
}

void
live_far_end(struct live_session *s, const char *id)
{
	if (take_hold_drop(s, id))
		live_tell(s, LIVE_HOLD);
}

void
live_far_status(struct live_session *s, json_object *o)
{
	json_object_put(s->status);
	s->status = json_object_get(o);
	live_tell(s, LIVE_ROW);
}

void
live_far_budget(struct live_session *s, json_object *o)
{
	json_object_put(s->budget);
	s->budget = json_object_get(o);
	live_tell(s, LIVE_ROW);
}

void
live_far_item(struct live_session *s, const struct live_item *item)
{
	struct buf b;

	buf_init(&b, 8192);
	activity_vis(s->set, &b, span_str(item->text));
	activity_add(
	    s, item->kind, item->us, item->id, item->state, buf_span(&b));
	buf_free(&b);
}

void
live_far_reply(struct live_session *s, const struct live_reply *r)
{
	s->set->ops->replied(s->set->arg, s, r);
}
