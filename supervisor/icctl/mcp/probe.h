/* SPDX-License-Identifier: ISC */
/*
 * Starts one MCP server to list its tools, in a session of its own that has no
 * agent and none of the user's policy.
 */
#ifndef MCP_PROBE_H
#define MCP_PROBE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/fault.h"

struct own;

struct mcp_probe_how {
	/* It has no workspace, no host and none of the entry's variables, and
	   may only read the files that the entry names, because the person has
	   not agreed to more yet. */
	bool bare;
	/* The person's files: the server has its credentials, and its tools are
	   compared with those that were approved. Or NULL. */
	const struct own *own;
	/* A tool to call, which the person wants, and its arguments; or NULL.
	 */
	const char *call;
	struct json_object *args;
};

struct mcp_probed {
	struct json_object *tools; /* as the agent gets them */
	struct json_object *noted, *quarantined, *server; /* from status */
	struct json_object *answer; /* the result of the call, or its error */
	int ms;                     /* from the start to the list of tools */
};

/*
 * Start the server `name`, whose entry is as in mcp-servers.json, and ask it.
 * `entry` may be NULL for the file server that IronCurtain brings along.
 * It has 40 seconds. Returns 0, or -1 with the fault set; the caller frees
 * `out` with mcp_probed_free() in either case.
 */
int mcp_probe_as(const char *name, struct json_object *entry,
    const struct mcp_probe_how *, struct mcp_probed *out, struct fault *);
void mcp_probed_free(struct mcp_probed *);
/*
 * Returns the definitions of the tools of the server `name`, whose entry is as
 * in mcp-servers.json: an array that the caller owns, or NULL with the fault
 * set. `noted`, unless it is
 * NULL, becomes the list of definitions that the agent would not get as they
 * are, which the caller owns, or NULL.
 */
struct json_object *mcp_probe(const char *name, struct json_object *entry,
    bool bare, struct json_object **noted, struct fault *fault);
/* Print each of them on a line. */
void mcp_put_noted(struct json_object *noted);

#endif
