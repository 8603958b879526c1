/* SPDX-License-Identifier: ISC */
/*
 * Converts references to variables in another program's entry to the form of
 * mcp-servers.json: ${NAME} and ${NAME:-DEFAULT}, which are resolved from the
 * user's environment when a session starts.
 */
#ifndef MCP_VARIABLE_H
#define MCP_VARIABLE_H

#include "icctl/mcp/entry.h"

/*
 * Rewrite the arguments and the environment of e->entry, and list the remaining
 * names in e->variables. An editor's workspace and home directory are replaced
 * by those of a session.
 */
void mcp_variables(struct mcp_entry *e, const char *user_home);

#endif
