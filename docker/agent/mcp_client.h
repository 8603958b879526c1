/* SPDX-License-Identifier: ISC */
/*
 * A client of the session's MCP server, with one request at a time.  A call may
 * wait for a person; the server says so in progress notifications.
 */
#ifndef MCP_CLIENT_H
#define MCP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/json/json.h"
#include "mcp-proxyd/mcp/lines.h"

#define MCP_WHY 300U

struct mcp_tool {
	char *name, *description, *schema;
};

struct mcp {
	int fd, cancel_fd;
	struct lines in;
	struct value_pool *pool;
	uint64_t id;		/* the latest request's */
	bool changed;		/* the list of tools has changed */
	bool gone;		/* the connection has ended */
	struct mcp_tool *tools;
	size_t ntools;
	char why[MCP_WHY];	/* the latest failure; printable */
};

/* Called with a progress notification's message. */
typedef void mcp_note_fn(void *arg, struct span message);

struct mcp_result {
	char *text;
	bool is_error, cancelled;
};

/*
 * Connect to the Unix socket and initialize.  `cancel_fd`, if not -1, cancels a
 * call when it becomes readable.  Returns 0, or -1 with m->why set.
 */
int mcp_open(struct mcp *m, const char *path, int cancel_fd);
void mcp_close(struct mcp *);
/* Read the list of tools, at most `max`.  Returns as mcp_open(). */
int mcp_list(struct mcp *, size_t max);
/*
 * Call a tool.  `args` is one JSON object.  Returns 0 with `out`, whose text
 * the caller frees, also if the server refused the call; or -1 if the
 * connection has ended.
 */
int mcp_call(struct mcp *, const char *name, const char *args, mcp_note_fn *,
    void *arg, struct mcp_result *out);

#endif
