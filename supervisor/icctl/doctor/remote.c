/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about remote MCP servers: which of them has a key
 * or a login, and which needs one. Nothing is asked of a server.
 */
#include "icctl/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#include "icctl/mcp/login/state.h"
#include "icctl/mcp/own.h"

static void
remote_one(const struct own *own, const char *name, json_object *entry,
    doctor_check *check)
{
	json_object *o = login_state_of(own, name, entry);
	char text[1100], found[1300], remedy[400];
	const char *state;

	/* A program on this machine. */
	if (o == NULL)
		return;
	state = icctl_text(o, "state");
	snprintf(found, sizeof(found), "%s: %s", name,
	    strcmp(state, "none") == 0 ? "no key and no login"
	    : strcmp(state, "elsewhere") == 0
		? "needs a login: the one that it has is for another address"
	    : strcmp(state, "expired") == 0
		? "needs a login: the one that it had has ended"
		: login_state_text(o, name, text, sizeof(text)));
	snprintf(remedy, sizeof(remedy),
	    strcmp(state, "none") == 0
		? "many servers want none. Whether it does: icctl mcp test "
		  "%s; then: icctl mcp login %s"
		: "icctl mcp login %s",
	    name, name);
	check(strcmp(state, "none") == 0 ? NOTE
	      : strcmp(state, "elsewhere") == 0 || strcmp(state, "expired") == 0
		  ? WRONG
		  : GOOD,
	    "remote server", found, remedy);
	json_object_put(o);
}

void
doctor_remote(doctor_check *check)
{
	struct fault fault;
	struct own own;

	if (own_open(&own, &fault) == 0) {
		json_object_object_foreach(own.servers, name, entry)
		{
			remote_one(&own, name, entry, check);
		}
	}
	own_close(&own);
}
