/* SPDX-License-Identifier: ISC */
/*
 * Reports events of a session to watchers, and answers the clients that waited
 * for them.
 */
#include "control/control.h"

#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "sup.h"

void
control_key(unsigned provider)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "provider",
	    json_object_new_string(sup.providers.list[provider].name));
	json_object_object_add(o, "locked",
	    json_object_new_boolean(
		sup.keys[provider].state == PROTO_KEY_LOCKED));
	control_event("state", o);
}

void
control_destination(const char *host, bool added)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "host", json_object_new_string(host));
	json_object_object_add(o, "added", json_object_new_boolean(added));
	control_event("destination", o);
}

void
control_alarm(const char *who, const char *kind, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "who", json_object_new_string(who));
	json_object_object_add(o, "kind", json_object_new_string(kind));
	json_object_object_add(o, "text", json_object_new_string(text));
	control_event("alarm", o);
}

void
control_usage(void)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "budget", budget_json());
	control_event("usage", o);
}

void
control_budget(const char *key, bool over, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "key", json_object_new_string(key));
	json_object_object_add(o, "usedUp", json_object_new_boolean(over));
	json_object_object_add(o, "text", json_object_new_string(text));
	json_object_object_add(o, "budget", budget_json());
	control_event("budget", o);
}

void
control_tool(struct json_object *o)
{
	control_event("tool", o);
}

/* Replace the pending reply, and send it. */
static void
client_instead(struct client *c, struct json_object *reply)
{
	json_object_put(c->reply);
	c->reply = reply;
	control_answer(c);
}

void
control_reloaded(const char *why, struct json_object *reply)
{
	struct json_object *o = json_object_new_object();
	struct client *c;

	json_object_object_add(
	    o, "inForce", json_object_new_boolean(why == NULL));
	if (why != NULL)
		json_object_object_add(o, "why", json_object_new_string(why));
	control_event("policy", o);
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || !c->rules || c->reply == NULL)
			continue;
		if (why != NULL) {
			control_refuse(c, "refused", why);
			control_answer(c);
		} else {
			client_instead(c, json_object_get(reply));
		}
	}
	json_object_put(reply);
}

void
control_trusted(const char *server, const char *tool, const char *why)
{
	struct client *c;

	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++) {
		c = &control_clients[i];
		if (c->fd == -1 || c->reply == NULL ||
		    strcmp(c->trust_server, server) != 0 ||
		    strcmp(c->trust_tool, tool) != 0)
			continue;
		if (why != NULL)
			control_refuse(c, "changed", why);
		control_answer(c);
	}
}
