/* SPDX-License-Identifier: ISC */
/*
 * Changes JSON files in IRONCURTAIN_HOME: a file is read strictly and replaced
 * as a whole by a new one.
 */
#ifndef MCP_STORE_H
#define MCP_STORE_H

#include <json-c/json.h>

#include "base/fault.h"

/*
 * Returns the object in dir/name, an empty one if there is no such file, or
 * NULL with the fault set.
 */
struct json_object *store_read(
    const char *dir, const char *name, struct fault *fault);
/*
 * Returns the object with the entries in what mcp-servers.json has: all of it,
 * or its member mcpServers. It belongs to `root`.
 */
struct json_object *store_servers(struct json_object *root);
/*
 * Replace dir/name, mode 0600. Returns 0, or -1 with the fault set and the old
 * file unchanged.
 */
int store_write(const char *dir, const char *name, struct json_object *root,
    struct fault *fault);

#endif
