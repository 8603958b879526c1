/* SPDX-License-Identifier: ISC */
/*
 * The needs of common MCP servers in a sandbox: the directories among their
 * arguments, hosts, a place for their data. recipes.json is data: one row per
 * server, matched by package or program name.
 */
#ifndef MCP_RECIPE_H
#define MCP_RECIPE_H

#include "base/fault.h"
#include "icctl/mcp/entry.h"

/*
 * Complete e->entry by the first recipe that matches, or add a note that there
 * is none and what to add by hand.
 */
void mcp_recipe(struct mcp_entry *e, const struct mcp_entry_how *);
/* Add a path or a host once to sandbox.GROUP.KEY of the entry. */
void mcp_allow(
    struct mcp_entry *, const char *group, const char *key, const char *text);
/* Returns true if a server may be shown the path, or what will be there. */
bool mcp_may_see(
    const struct mcp_entry_how *, const char *path, struct fault *);
/*
 * Returns the path with ~ as the home directory and {data} as the server's own
 * data directory, which the caller frees, or NULL with errno set.
 */
char *mcp_expand(
    const struct mcp_entry *, const struct mcp_entry_how *, const char *text);

#endif
