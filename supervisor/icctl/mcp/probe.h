/* SPDX-License-Identifier: ISC */
/*
 * Starts one MCP server to list its tools, in a session of its own that has no
 * agent and none of the user's policy.
 */
#ifndef MCP_PROBE_H
#define MCP_PROBE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "config/fault.h"

/*
 * Returns the definitions of the tools of the server `name`, whose entry is as
 * in mcp-servers.json: an array that the caller owns, or NULL with the fault
 * set. The server has 40 seconds. If `bare`, it has no workspace, no host and
 * none of the entry's variables, and may only read the files that the entry
 * names, because the person has not agreed to more yet.
 */
struct json_object *mcp_probe(const char *name, struct json_object *entry,
    bool bare, struct fault *fault);

#endif
