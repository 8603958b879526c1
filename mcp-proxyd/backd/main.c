/* SPDX-License-Identifier: ISC */
/*
 * mcp-backd: reads what one MCP server writes to stdout and stderr; there is
 * one per server.  Results become value trees for mcp-proxyd, messages about
 * the session go to policyd, and the end of a call is reported to auditd.
 *
 * Holds: the read ends of that server's stdout and stderr, or of the streams
 * with the answers of a remote server.  Is sent: those and counts of unrequested
 * answers.  Must never see: bytes of another server
 * or of the agent, or any file; it cannot write to its server.
 */
#include "backd/remote.h"

/* clang-format off */
static const enum pledge_promise backd_promises[] = {
	PLEDGE_STDIO,		/* channels, two pipes, the loop */
	PLEDGE_RING,		/* channels of tool calls */
	PLEDGE_MEMFD,		/* results beyond a datagram */
};

static const struct confine backd_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends large results */
	.limits = {
		/* 5 channels, 3 with rings, 2 pipes, memfds, streams */
		.nofile = 48 + REMOTE_MAX,
		.fsize = 8U << 20,	/* RESULT.tree in a memfd */
		.data = 256U << 20,	/* a line, its tree, queues to peers */
		.memlock = 0,
	},
	.pledge = {
		.promises = backd_promises,
		.npromises = nitems(backd_promises),
	},
};
/* clang-format on */

struct backd backd_env;

int
main(void)
{
	confine_early();
	worker_init(
	    &backd_env.w, ROLE_BACK, &backd_confine, NULL, BACKD_TIMERS);
	backd_serve();
}
