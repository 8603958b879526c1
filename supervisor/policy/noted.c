/* SPDX-License-Identifier: ISC */
/*
 * Definitions of tools that do not reach the agent as their server wrote them:
 * left out, mended, or under another name. policyd composes each list from a
 * server's words, printable and of limited size; here it is checked, kept, and
 * shown to the person.
 */
#include "core/sup.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "common/json/json.h"
#include "common/log.h"
#include "common/plural.h"

#define NOTED_POOL ((size_t)2 << 20)
#define NOTED_SAID 8U /* tools of a server that are named on the terminal */

static struct {
	struct json_object *list; /* or NULL */
	uint32_t more;
} noted[PROTO_MAX_SERVERS];

static struct json_object *
row_json(const char *server, const struct value *row)
{
	static const char *const keys[] = {"as", "why"};
	struct json_object *o = json_object_new_object();
	struct span text, why = value_str(row, "why");
	char shown[600];

	put_str(o, "server", server);
	put_str(o, "tool",
	    log_vis_again(value_str(row, "tool"), shown, sizeof(shown)));
	put_str(o, "state",
	    value_bool(row, "left", false) ? "left out"
	    : why.len != 0                 ? "mended"
					   : "renamed");
	for (size_t i = 0; i < nitems(keys); i++) {
		text = value_str(row, keys[i]);
		if (text.len != 0)
			put_str(o, keys[i],
			    log_vis_again(text, shown, sizeof(shown)));
	}
	return o;
}

static const char *
text_of(struct json_object *row, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(row, key, &v)
		   ? json_object_get_string(v)
		   : "";
}

/* Name what is left out on the terminal, and the rest in session.log. */
static void
noted_say(uint16_t server)
{
	const char *name = sup.servers[server].def->name, *state;
	struct json_object *list = noted[server].list, *row;
	size_t n = json_object_array_length(list);
	unsigned left = 0, mended = 0;

	for (size_t i = 0; i < n; i++) {
		row = json_object_array_get_idx(list, i);
		state = text_of(row, "state");
		if (strcmp(state, "left out") == 0 && left++ < NOTED_SAID)
			sup_warn("MCP server %s: tool %s is left out: %s", name,
			    text_of(row, "tool"), text_of(row, "why"));
		else if (strcmp(state, "left out") == 0)
			sup_note("MCP server %s: tool %s is left out: %s", name,
			    text_of(row, "tool"), text_of(row, "why"));
		else if (strcmp(state, "mended") == 0 && ++mended != 0)
			sup_note("MCP server %s: definition of %s mended: %s",
			    name, text_of(row, "tool"), text_of(row, "why"));
		if (*text_of(row, "as") != '\0')
			sup_note("MCP server %s: the agent has %s as %s", name,
			    text_of(row, "tool"), text_of(row, "as"));
	}
	if (left > NOTED_SAID)
		sup_warn("MCP server %s: %u more tools are left out. To see "
			 "them: icctl status",
		    name, left - NOTED_SAID);
	if (mended != 0)
		sup_note("MCP server %s: %u definition%s mended. To see them: "
			 "icctl status",
		    name, mended, plural_were(mended));
}

int
noted_take(const struct msg_TOOLS_NOTED_SHOW *m)
{
	struct value_pool *pool;
	const struct value *v;
	int rv = -1;

	if (m->server >= sup.nservers)
		return m->server == PROTO_VIRTUAL ? 0 : -1;
	if ((pool = value_pool_new(NOTED_POOL)) == NULL)
		return 0;
	v = json_read(pool, m->text, NULL);
	if (v != NULL && v->type == VALUE_ARRAY) {
		json_object_put(noted[m->server].list);
		noted[m->server].list = json_object_new_array();
		noted[m->server].more = m->more;
		for (v = v->child; v != NULL; v = v->next)
			json_object_array_add(noted[m->server].list,
			    row_json(sup.servers[m->server].def->name, v));
		noted_say(m->server);
		rv = 0;
	}
	value_pool_free(pool);
	return rv;
}

struct json_object *
noted_json(void)
{
	struct json_object *list = json_object_new_array(), *o;

	for (unsigned i = 0; i < sup.nservers; i++) {
		for (size_t k = 0; noted[i].list != NULL &&
				   k < json_object_array_length(noted[i].list);
		     k++)
			json_object_array_add(list,
			    json_object_get(
				json_object_array_get_idx(noted[i].list, k)));
		if (noted[i].more == 0)
			continue;
		o = json_object_new_object();
		put_str(o, "server", sup.servers[i].def->name);
		put_int(o, "more", noted[i].more);
		json_object_array_add(list, o);
	}
	return list;
}
