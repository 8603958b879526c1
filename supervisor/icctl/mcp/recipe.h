/* SPDX-License-Identifier: ISC */
/*
 * The needs of common MCP servers in a sandbox: the directories among their
 * arguments, hosts, a place for their data. recipes.json is data: one row per
 * server, matched by package or program name.
 */
#ifndef MCP_RECIPE_H
#define MCP_RECIPE_H

#include "icctl/mcp/entry.h"

/*
 * Complete e->entry by the first recipe that matches, or add a note that there
 * is none and what to add by hand.
 */
void mcp_recipe(struct mcp_entry *e, const struct mcp_entry_how *);

#endif
