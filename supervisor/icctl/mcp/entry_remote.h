/* SPDX-License-Identifier: ISC */
/* Converts another program's entry of a remote server; see entry.h. */
#ifndef MCP_ENTRY_REMOTE_H
#define MCP_ENTRY_REMOTE_H

#include "icctl/mcp/entry.h"

/* Returns true if the entry, in the form of forms.h, is a remote server's. */
bool mcp_entry_is_remote(struct json_object *theirs);
/* Convert it, once `e` has its name. */
void mcp_entry_remote(struct mcp_entry *, const struct mcp_entry_how *,
    struct json_object *theirs);

#endif
