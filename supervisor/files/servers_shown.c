/* SPDX-License-Identifier: ISC */
/*
 * Parses the members of an entry that say how much of a server is seen: by the
 * agent, the tools in "tools", and by the person, the questions that it asks.
 * Policies and pins know nothing of them.
 */
#include "files/servers_priv.h"

#include <stdio.h>
#include <string.h>

#include "common/ipc/proto.h"

/* A pattern has the letters of a tool's name, and * for any number of them. */
static bool
pattern_good(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= PROTO_MAX_TOOL_NAME &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_.-*") == n;
}

static int
shown_tools(struct servers_entry *e, struct json_object *o)
{
	static const char *const keys[] = {"list", NULL};
	struct json_object *tools = NULL;
	char where[256];

	if (jsonfile_object(&e->j, o, e->where, "tools", &tools) == -1)
		return -1;
	if (tools == NULL)
		return 0;
	snprintf(where, sizeof(where), "%s.tools", e->where);
	if (jsonfile_known(&e->j, tools, where, keys) == -1 ||
	    jsonfile_strings(&e->j, tools, where, "list", PROTO_MAX_PATTERNS,
		&e->def->tools) == -1)
		return -1;
	if (e->def->tools == NULL || e->def->tools[0] == NULL)
		return jsonfile_bad(&e->j, where, "list",
		    "names no tool, so that the agent would see none. Name "
		    "some, such as [\"search_*\"], or remove \"tools\"");
	for (size_t i = 0; e->def->tools[i] != NULL; i++)
		if (!pattern_good(e->def->tools[i]))
			return jsonfile_bad(&e->j, where, "list",
			    "\"%s\" is no name or pattern of tools: letters, "
			    "digits, _, . and -, and * for any of them",
			    e->def->tools[i]);
	return 0;
}

int
servers_shown(struct servers_entry *e, struct json_object *o)
{
	const char *s = NULL;

	if (jsonfile_str(&e->j, o, e->where, "elicitation", &s) == -1 ||
	    shown_tools(e, o) == -1)
		return -1;
	e->def->silent = s != NULL && strcmp(s, "decline") == 0;
	if (s == NULL || e->def->silent || strcmp(s, "ask") == 0)
		return 0;
	return jsonfile_bad(&e->j, e->where, "elicitation",
	    "must be \"ask\" or \"decline\", is \"%s\"", s);
}
