/* SPDX-License-Identifier: ISC */
/*
 * The name under which an agent has a tool: SERVER__TOOL, of letters that every
 * agent and model provider takes, and so short that it has at most 64 with the
 * agent's own prefix.  A name that is not like this is replaced by a beginning
 * of it and a hash, the same one in each session.  Two names that come out
 * equal are told apart by policyd, which offers the first.
 */
#ifndef TOOL_NAME_H
#define TOOL_NAME_H

#include "common/span.h"

#define TOOL_NAME_SHOWN 46U   /* 64 less "mcp__ironcurtain__" */
#define TOOL_SERVER_SHOWN 18U /* the part for a server with a longer name */

/*
 * Write the server's part of such a name, with a NUL: the server's own name
 * unless that is longer.  Returns its length.
 */
size_t tool_name_server(struct span server, char dst[TOOL_SERVER_SHOWN + 1]);
/*
 * Write the name, with a NUL.  Returns the offset of the tool's part in it.
 */
size_t tool_name_show(
    struct span server, struct span tool, char dst[TOOL_NAME_SHOWN + 1]);

#endif
