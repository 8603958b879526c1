/* SPDX-License-Identifier: ISC */
/*
 * Shows a session that is starting. It answers nothing yet but that; its agent
 * and its workspace are the options that it was started with.
 */
#include "icctl/live/priv.h"

#include <stdio.h>
#include <string.h>

#include "icctl/newest.h"

/* Copy the value of an option in its visible form. */
static void
starting_option(struct live_session *s, json_object *pair, const char *name,
    char *dst, size_t cap)
{
	json_object *key = json_object_array_get_idx(pair, 0),
		    *value = json_object_array_get_idx(pair, 1);
	struct span t;
	struct buf b;

	if (!json_object_is_type(key, json_type_string) ||
	    !json_object_is_type(value, json_type_string) ||
	    strcmp(json_object_get_string(key), name) != 0)
		return;
	buf_init(&b, 8192);
	activity_vis(s->set, &b, span_str(json_object_get_string(value)));
	t = buf_span(&b);
	(void)snprintf(dst, cap, "%.*s", (int)t.len, (const char *)t.p);
	buf_free(&b);
}

void
starting_take(struct live_session *s)
{
	json_object *o, *list = NULL, *pair;

	s->conn->tries = 0;
	if (s->starting || s->is != LIVE_ABSENT)
		return;
	s->starting = true;
	(void)strlcpy(s->state, "starting", sizeof(s->state));
	o = newest_read(s->dir, "start.json");
	if (json_object_is_type(o, json_type_object))
		(void)json_object_object_get_ex(o, "options", &list);
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list);
	     i++) {
		pair = json_object_array_get_idx(list, i);
		if (!json_object_is_type(pair, json_type_array) ||
		    json_object_array_length(pair) != 2)
			continue;
		starting_option(s, pair, "agent", s->agent, sizeof(s->agent));
		starting_option(
		    s, pair, "workspace", s->workspace, sizeof(s->workspace));
	}
	json_object_put(o);
	live_tell(s, LIVE_LIST);
}

void
starting_over(struct live_session *s)
{
	if (!s->starting)
		return;
	s->starting = false;
	s->state[0] = '\0';
	live_tell(s, LIVE_LIST);
}
