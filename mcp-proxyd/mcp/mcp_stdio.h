/* SPDX-License-Identifier: ISC */
/*
 * The MCP servers of our own, over stdin and stdout: handshake, list, calls,
 * one request at a time.  icfs and icgit bring their tools.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "mcp/jsonrpc.h"

#define MCP_MAX_LINE ((size_t)4 << 20)

struct mcp {
	const char *name;
	struct value_pool *pool; /* of the line at hand */
	struct buf *out;         /* lines for stdout */
	void *arg;
	/* Adds the elements of the list of tools, with commas between. */
	void (*list)(struct mcp *);
	/* Answers the call, or returns false: there is no such tool. */
	bool (*call)(struct mcp *, const struct jsonrpc *, struct span tool,
	    const struct value *args);
};

/* One line of the client; answers go to m->out. */
void mcp_line(struct mcp *, struct span);
/* Serves stdin until it ends. */
void mcp_serve(struct mcp *) __attribute__((noreturn));

#endif
