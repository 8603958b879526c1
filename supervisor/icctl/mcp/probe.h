/* SPDX-License-Identifier: ISC */
/*
 * Starts one MCP server for a look at its tools, in a session of its own that
 * has no agent and no policy of the user's.
 */
#ifndef MCP_PROBE_H
#define MCP_PROBE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "config/fault.h"

/*
 * The definitions of the tools of the server `name`, whose entry is as in
 * mcp-servers.json: an array that the caller owns, or NULL with *fault.  The
 * server is given 40 seconds.  If `bare`, it has neither a workspace nor a host
 * nor a variable of the entry, and may only read the files that the entry
 * names, as a program that the person has only just named.
 */
struct json_object *mcp_probe(const char *name, struct json_object *entry,
    bool bare, struct fault *fault);

#endif
