/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp import --copy NAME`: takes the program of a server out of the
 * reach of agents. Its directory is copied below the user's data directory, the
 * entry leads to the copy, and names its digest, which a session compares.
 */
#ifndef MCP_COPY_H
#define MCP_COPY_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/paths.h"

struct copy {
	const struct paths *paths;
	const char *data_home; /* ~/.local/share */
	const char *workspace; /* the directory that is /workspace */
	bool yes, dry;
};

/* Copy the program of the server. Returns an exit status of icctl. */
int mcp_copy(const struct copy *, const char *name);

#endif
