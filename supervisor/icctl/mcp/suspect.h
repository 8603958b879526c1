/* SPDX-License-Identifier: ISC */
/*
 * Definitions of tools as a person reads them before their first use: in full,
 * and with what a description has no honest reason to say.
 */
#ifndef MCP_SUSPECT_H
#define MCP_SUSPECT_H

#include <json-c/json.h>
#include <stdbool.h>

/* Returns the tool's name without that of its server, as in tools/list. */
const char *suspect_name(struct json_object *tool, const char *server);
/*
 * Returns what the definition `tool`, as the agent gets it, has of that kind:
 * an array of texts that the caller owns, or NULL if there is nothing.
 */
struct json_object *suspect_find(struct json_object *tool, const char *server);
/* Print these texts, and how to read the whole definition, on a line. */
void suspect_put(
    struct json_object *found, const char *tool, const char *server);
/*
 * Print the whole definition; on a terminal a page at a time. Returns false if
 * the person did not want to see all of it.
 */
bool suspect_show(struct json_object *tool);

#endif
