/* SPDX-License-Identifier: ISC */
/*
 * Events as an AgenticMessage, for orchestrators that read those: one object
 * for each thought, call of a tool, and result of one; at the end the usage and
 * the result. What they have no word for is left out.
 */
#include "icctl/driver/priv.h"

#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"

static json_object *
amelia_new(const struct request *r, const char *type)
{
	json_object *o = json_object_new_object();

	put_str(o, "type", type);
	put_str(o, "session_id", r->session);
	return o;
}

/* Returns the arguments of a call, as far as they are known. */
static json_object *
amelia_input(const char *preview)
{
	json_object *o = json_tokener_parse(preview);

	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	o = json_object_new_object();
	if (preview[0] != '\0')
		put_str(o, "preview", preview);
	return o;
}

static void
amelia_call(struct driver *d, struct request *r, json_object *event)
{
	json_object *o = amelia_new(r, "tool_call");
	const char *decision = icctl_text(event, "decision");
	char name[512], call[32] = "";
	bool sent =
	    strcmp(decision, "allow") == 0 || strcmp(decision, "approved") == 0;

	snprintf(name, sizeof(name), "%.200s%s%.200s",
	    icctl_text(event, "server"),
	    icctl_text(event, "server")[0] != '\0' ? "__" : "",
	    icctl_text(event, "tool"));
	if (icctl_number(event, "call") != 0)
		snprintf(call, sizeof(call), "%lld",
		    (long long)icctl_number(event, "call"));
	put_str(o, "tool_name", name);
	json_object_object_add(
	    o, "tool_input", amelia_input(icctl_text(event, "preview")));
	if (call[0] != '\0')
		put_str(o, "tool_call_id", call);
	driver_tell(d, r->ask.id, o);
	if (call[0] == '\0')
		return;
	if (sent) {
		put_str(r->calls, call, name);
		return;
	}
	o = amelia_new(r, "tool_result");
	put_str(o, "tool_name", name);
	put_str(o, "tool_call_id", call);
	put_str(o, "tool_output",
	    icctl_text(event, "reason")[0] != '\0' ? icctl_text(event, "reason")
						   : decision);
	put_bool(o, "is_error", true);
	driver_tell(d, r->ask.id, o);
}

static void
amelia_returned(struct driver *d, struct request *r, json_object *event)
{
	json_object *o = amelia_new(r, "tool_result");
	const char *status = icctl_text(event, "status");
	char call[32];

	snprintf(
	    call, sizeof(call), "%lld", (long long)icctl_number(event, "call"));
	put_str(o, "tool_name", icctl_text(r->calls, call));
	put_str(o, "tool_call_id", call);
	put_str(o, "tool_output", status);
	put_bool(o, "is_error", strcmp(status, "success") != 0);
	json_object_object_del(r->calls, call);
	driver_tell(d, r->ask.id, o);
}

void
amelia_event(struct driver *d, struct request *r, json_object *event)
{
	const char *name = icctl_text(event, "event");
	json_object *o;

	if (strcmp(name, "agent_text") == 0 || strcmp(name, "thinking") == 0) {
		o = amelia_new(r, "thinking");
		put_str(o, "content", icctl_text(event, "text"));
		driver_tell(d, r->ask.id, o);
	} else if (strcmp(name, "tool_call") == 0) {
		amelia_call(d, r, event);
	} else if (strcmp(name, "tool_result") == 0) {
		amelia_returned(d, r, event);
	}
}

void
amelia_usage(struct driver *d, struct request *r)
{
	json_object *o = amelia_new(r, "usage"), *usage = tell_usage(r);

	if (json_object_is_type(get_member(usage, "model"), json_type_string))
		put_str(o, "model", icctl_text(usage, "model"));
	json_object_object_add(o, "usage", usage);
	if (r->reported != NULL)
		json_object_object_add(
		    o, "reported", json_object_get(r->reported));
	driver_tell(d, r->ask.id, o);
}

void
amelia_result(
    struct driver *d, struct request *r, bool bad, const char *content)
{
	json_object *o = amelia_new(r, "result");

	put_str(o, "content", content);
	put_bool(o, "is_error", bad);
	driver_tell(d, r->ask.id, o);
}
