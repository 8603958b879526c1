/* SPDX-License-Identifier: ISC */
/*
 * References to variables in another program's entry, brought into the one form
 * that mcp-servers.json has: ${NAME} and ${NAME:-DEFAULT}, which are resolved
 * from the user's environment when a session starts.
 */
#ifndef MCP_VARIABLE_H
#define MCP_VARIABLE_H

#include "icctl/mcp/entry.h"

/*
 * Rewrite the arguments and the environment of e->entry, and list the names
 * that remain in e->variables.  The workspace and home directory of an editor
 * are replaced by what they are here.
 */
void mcp_variables(struct mcp_entry *e, const char *user_home);

#endif
