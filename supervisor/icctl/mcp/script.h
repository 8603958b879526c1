/* SPDX-License-Identifier: ISC */
/*
 * The code that an imported server runs, if it lies among the user's files: a
 * session shows a server its program and not the script of an interpreter.
 */
#ifndef MCP_SCRIPT_H
#define MCP_SCRIPT_H

#include <stddef.h>

#include "icctl/mcp/entry.h"

/*
 * Add the directory of the entry's script to its view, read-only: that of its
 * package, or else its own; of a script directly in the home directory, or in
 * one that no server may see, the file alone. Relative names are taken from
 * `cwd`, a text, if it is not NULL.
 */
void mcp_script(
    struct mcp_entry *, const struct mcp_entry_how *, struct json_object *cwd);
/*
 * Returns true if the directory is the root of a package, a project or an
 * environment.
 */
bool script_is_package(const char *dir);

#endif
