/* SPDX-License-Identifier: ISC */
/*
 * Proposes what the arguments of a tool mean, from its schema, its names and
 * the hints of its server, without a model.
 */
#ifndef MCP_ROLES_H
#define MCP_ROLES_H

#include <json-c/json.h>

/*
 * Returns {"toolName", "serverName", "comment", "args", "inputSchema"} as in
 * tool-annotations.json, which the caller owns.  `tool` is its definition as a
 * session lists it, `name` its name without the server's.
 */
struct json_object *roles_propose(
    const char *server, const char *name, struct json_object *tool);

#endif
