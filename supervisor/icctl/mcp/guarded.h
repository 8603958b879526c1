/* SPDX-License-Identifier: ISC */
/*
 * The real keys of model providers, by the names of their variables. They stay
 * outside of every sandbox, so that no imported server gets one.
 */
#ifndef MCP_GUARDED_H
#define MCP_GUARDED_H

#include "base/paths.h"
#include "icctl/mcp/entry.h"

/*
 * Returns an object that maps the name of a variable to the provider whose key
 * it is, from the provider files and the "credentials" of config.json. The
 * caller owns it.
 */
struct json_object *guarded_names(
    const struct paths *, struct json_object *config);
/*
 * Take the variables of a converted entry away that are a provider's key, with
 * a note each; refuse the entry if an argument is one.
 */
void guarded_remove(struct mcp_entry *, const struct mcp_entry_how *);

#endif
