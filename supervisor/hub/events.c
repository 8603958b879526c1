/* SPDX-License-Identifier: ISC */
/*
 * Reports events of a session to watchers, and answers the clients that waited
 * for them.
 */
#include "hub/control.h"

#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "budget/budget.h"
#include "common/json/value.h"
#include "conversation/talk_events.h"
#include "core/sup.h"
#include "hub/notify.h"

struct value *
event_open(struct value_pool **p)
{
	struct value *o = NULL;

	*p = value_pool_new(1U << 20);
	if (*p != NULL)
		o = value_new(*p, VALUE_OBJECT);
	if (o != NULL || *p == NULL)
		return o;
	value_pool_free(*p);
	*p = NULL;
	return NULL;
}

void
event_close(const char *event, struct value_pool *p, struct value *detail)
{
	event_send(event, detail);
	value_pool_free(p);
}

/* Send an event to watchers, and tell the conversation of it by `name`. */
static void
event_both(const char *watched, const char *name, struct json_object *o)
{
	talk_event_now(name, json_object_get(o));
	control_event(watched, o);
}

void
control_key(unsigned provider)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "provider", sup.providers.list[provider].name);
	put_bool(o, "locked", sup.keys[provider].state == PROTO_KEY_LOCKED);
	control_event("state", o);
}

void
control_destination(const char *host, bool added)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "host", host);
	put_bool(o, "added", added);
	event_both("destination", "destination", o);
}

void
control_alarm(const char *who, const char *kind, const char *text)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "who", who);
	put_str(o, "kind", kind);
	put_str(o, "text", text);
	event_both("alarm", "alarm", o);
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

	put_str(o, "key", key);
	put_bool(o, "usedUp", over);
	put_str(o, "text", text);
	json_object_object_add(o, "budget", budget_json());
	event_both("budget", over ? "budget_exhausted" : "budget_warning", o);
	notify_event(CONFIG_NOTIFY_LIMIT, text);
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

	put_bool(o, "inForce", why == NULL);
	if (why != NULL)
		put_str(o, "why", why);
	event_both("policy", "policy", o);
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
