/* SPDX-License-Identifier: ISC */
/*
 * A remote MCP server, as a destination: {"name": "mcp-linear", "kind": "mcp",
 * "hosts": [...], "path": "/", "query": "", "headers": {"x-team": "a"},
 * "credential": {"env": ..., "name": "authorization", "prefix": "Bearer "}}.
 * With "login": true, the credential is a login that `icctl mcp login` made
 * (mitmd/grantd), and messages go without one as long as there is none.
 * The host and the rest of its path are those of the upstream.
 */
#ifndef DEST_MCP_H
#define DEST_MCP_H

#include "common/span.h"

#define DEST_MCP_HEADERS 32U

struct dest_mcp {
	struct span path;    /* "/" or nothing, behind the upstream's path */
	struct span query;   /* may be empty */
	struct span headers; /* packed; see provider_pack() */
};

#endif
