/* SPDX-License-Identifier: ISC */
/* Shared by probe.c, which starts a session, and probe_talk.c, which asks it.
 */
#ifndef MCP_PROBE_PRIV_H
#define MCP_PROBE_PRIV_H

#include <time.h>

#include "base/spawn.h"
#include "common/buf.h"
#include "icctl/mcp/probe.h"

#define PROBE_MS 40000
#define PROBE_LINE (8U << 20)

struct probe {
	char dir[64]; /* the temporary IRONCURTAIN_HOME, or "" */
	const struct mcp_probe_how *how;
	char config[4100]; /* its configuration, or "" */
	struct spawned sup; /* icsupervisor */
	int out, log;      /* its standard output and error */
	int sock;          /* the agent's side of mcp-proxyd */
	struct timespec began;
	uint8_t in[16384]; /* read and not taken yet, of one descriptor */
	size_t have, taken;
};

/* Returns the milliseconds that are left. */
int probe_left(const struct probe *);
/*
 * Read one line from a descriptor into `b`, which is emptied first. Returns 0,
 * or -1 at the end, or if there is no time left.
 */
int probe_line(struct probe *, int fd, struct buf *b);
int probe_connect(struct probe *, struct fault *);
/*
 * Speak MCP as an agent does. Returns the list of tools, which the caller owns,
 * or NULL with the fault set.
 */
struct json_object *probe_tools(
    struct probe *, const char *name, struct fault *);
/*
 * Call the tool that p->how names. Returns its answer, the result or the error,
 * which the caller owns, or NULL with the fault set.
 */
struct json_object *probe_tool(
    struct probe *, const char *name, struct fault *);

#endif
