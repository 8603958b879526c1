/* SPDX-License-Identifier: ISC */
/* Directories and files that an import makes for its servers. */
#ifndef MCP_IMPORT_MOVE_H
#define MCP_IMPORT_MOVE_H

#include "base/fault.h"
#include "icctl/mcp/entry.h"

/* Make a directory and those above it, mode 0700. Returns 0, or -1. */
int import_directory(const char *path, struct fault *);
/*
 * Make the entry's directories, and copy its files into them. A database's
 * journal goes along. Returns 0, or -1 with the fault set.
 */
int import_make(const struct mcp_entry *, struct fault *);

#endif
