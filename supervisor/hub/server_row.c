/* SPDX-License-Identifier: ISC */
/* An MCP server as `icctl status` and `icctl watch` show it. */
#include "hub/control.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "core/sup.h"

const char *
control_server_state(enum proto_state state)
{
	switch (state) {
	case PROTO_STATE_STARTING:
		return "starting";
	case PROTO_STATE_LISTING:
		return "listing its tools";
	case PROTO_STATE_READY:
		return "ready";
	case PROTO_STATE_DIED:
		return "starting again";
	case PROTO_STATE_GONE:
		break;
	}
	return "gone";
}

struct json_object *
control_server_row(
    const char *name, enum proto_state state, uint32_t tools, const char *text)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "name", name);
	put_str(o, "state", control_server_state(state));
	put_int(o, "tools", tools);
	put_str(o, "text", text);
	return o;
}

/* Name what the server offers beside tools: "resources, prompts", or "". */
static const char *
server_parts(uint8_t parts, char text[64])
{
	static const char *const names[] = {
	    "resources", "prompts", "completion", "logging"};

	text[0] = '\0';
	for (unsigned i = 0; i < nitems(names); i++) {
		if ((parts & 1U << i) == 0)
			continue;
		if (text[0] != '\0')
			strlcat(text, ", ", 64);
		strlcat(text, names[i], 64);
	}
	return text;
}

/* Write where it runs: here, or on the host of its address. Returns `dst`. */
static const char *
server_where(const struct server_def *d, char *dst, size_t cap)
{
	const char *url = d->command, *host = strstr(url, "://");

	if (d->remote == NULL || host == NULL)
		return "this machine";
	host += 3;
	(void)snprintf(dst, cap, "%.*s", (int)strcspn(host, "/?#"), host);
	return dst;
}

/* Add when a remote server's login expires, or why it was not renewed. */
static void
server_login(struct json_object *o, unsigned server)
{
	struct json_object *failure;
	unsigned i = 0;

	while (
	    i < sup.providers.n && sup.providers.list[i].server != server + 1)
		i++;
	if (i == sup.providers.n || sup.providers.list[i].login == -1)
		return;
	put_int(o, "expires", (int64_t)sup.keys[i].tell.expires);
	put_bool(o, "refused", sup.keys[i].state == PROTO_KEY_REFUSED);
	if ((failure = trouble_json(i)) != NULL)
		json_object_object_add(o, "failure", failure);
}

struct json_object *
control_server_json(unsigned server)
{
	const struct server *s = &sup.servers[server];
	char text[sizeof(s->text) + sizeof(s->ended) + 48], again[40] = "";
	struct json_object *o;
	char parts[64], where[264];

	if (s->restarts != 0)
		snprintf(again, sizeof(again), "%sstarted again %s",
		    s->text[0] != '\0' ? "; " : "",
		    s->restarts == 1   ? "once"
		    : s->restarts == 2 ? "twice"
				       : "several times");
	snprintf(text, sizeof(text), "%s%s%s%s", s->text, again,
	    s->ended[0] != '\0' ? "; it " : "", s->ended);
	o = control_server_row(s->def->name, s->state, s->tools, text);
	if (s->version[0] != '\0')
		put_str(o, "revision", s->version);
	if (s->parts != 0)
		put_str(o, "offers", server_parts(s->parts, parts));
	if (s->resources != 0)
		put_int(o, "resources", s->resources);
	if (s->prompts != 0)
		put_int(o, "prompts", s->prompts);
	put_str(o, "where", server_where(s->def, where, sizeof(where)));
	server_login(o, server);
	return o;
}

void
control_server_event(struct json_object *row)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "server", row);
	control_event("state", o);
}

void
control_server(unsigned server)
{
	control_server_event(control_server_json(server));
}
