/* SPDX-License-Identifier: ISC */
/* Operations on tools in quarantine: icctl lists them, and trusts one. */
#include "hub/control.h"

#include <stdio.h>
#include <string.h>

#include "common/sha256.h"
#include "core/sup.h"
#include "policy/pins.h"

static const char *
request_text(struct json_object *req, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(req, key, &v)
		   ? json_object_get_string(v)
		   : NULL;
}

int
control_digest(struct json_object *req, const char *key, uint8_t digest[32])
{
	struct json_object *v;

	if (!json_object_object_get_ex(req, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return -1;
	return sha256_unhex(span_str(json_object_get_string(v)), digest);
}

void
control_op_tools(struct client *c, struct json_object *req)
{
	const char *server = request_text(req, "server");
	const char *tool = request_text(req, "tool");
	struct json_object *o = control_ok();

	json_object_object_add(o, "servers", entries_json(server, tool));
	json_object_object_add(o, "tools", pins_json(server, tool, true));
	control_reply(c, o);
}

/* Approve the entry of a server that the user has changed. */
static void
control_trust_entry(
    struct client *c, const char *server, const uint8_t digest[32])
{
	const char *why = entries_trust(server, digest);

	if (why != NULL)
		control_fail(c, "not-found", why);
	else
		control_reply(c, control_ok());
}

void
control_op_trust(struct client *c, struct json_object *req)
{
	const char *server = request_text(req, "server");
	const char *tool = request_text(req, "tool"), *why;
	uint8_t digest[32];

	if (server != NULL && tool == NULL &&
	    control_digest(req, "digest", digest) == 0) {
		control_trust_entry(c, server, digest);
		return;
	}
	if (server == NULL || tool == NULL ||
	    strlen(server) >= sizeof(c->trust_server) ||
	    strlen(tool) >= sizeof(c->trust_tool) ||
	    control_digest(req, "digest", digest) == -1) {
		control_fail(c, "bad-request",
		    "\"server\", \"tool\" and \"digest\" must be those "
		    "that `tools` gives");
		return;
	}
	if ((why = policy_pins_trust(server, tool, digest)) != NULL) {
		control_fail(c, "not-found", why);
		return;
	}
	sup_note("trust %s__%s by pid %d", server, tool, (int)c->peer.pid);
	strlcpy(c->trust_server, server, sizeof(c->trust_server));
	strlcpy(c->trust_tool, tool, sizeof(c->trust_tool));
	c->reply = control_ok();
}
