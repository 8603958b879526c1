/* SPDX-License-Identifier: ISC */
/*
 * The frame of our own MCP servers, over stdin and stdout: handshake, tool list
 * and calls, one request at a time.  icfs, icgit and icfetch add their tools.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "mcp/jsonrpc.h"

#define MCP_MAX_LINE ((size_t)4 << 20)

struct mcp {
	const char *name;
	struct value_pool *pool; /* for the current line */
	struct buf *out;         /* lines for stdout */
	void *arg;
	/* Append the elements of the list of tools, separated by commas. */
	void (*list)(struct mcp *);
	/* Answer the call, or return false if there is no such tool. */
	bool (*call)(struct mcp *, const struct jsonrpc *, struct span tool,
	    const struct value *args);
};

/* Process one line of the client; answers go to m->out. */
void mcp_line(struct mcp *, struct span);
/* Serve stdin until it ends. */
void mcp_serve(struct mcp *) __attribute__((noreturn));

#endif
