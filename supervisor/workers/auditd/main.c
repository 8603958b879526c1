/* SPDX-License-Identifier: ISC */
/*
 * auditd: the process between decision and action on both paths. It appends
 * everything that policyd and mitmd pass on to the audit log, and only then
 * lets it out, to an MCP server's stdin or to a keyd. It holds the log (append
 * only) and the write ends of the servers' stdin; it receives decided calls,
 * checked requests and their outcomes. It decides nothing, and must never see a
 * credential, or the raw bytes of an agent or a server.
 */
#include <seccomp.h>

#include "workers/auditd/auditd.h"

/*
 * The log may only grow: pwrite, pwritev2, ftruncate and mappings of it are not
 * allowed. Large arguments arrive in sealed memfds, hence PLEDGE_MEMFD, which
 * does not include ftruncate.
 */
/* clang-format off */
static const enum pledge_promise auditd_promises[] = {
	PLEDGE_STDIO,		/* channels, the servers' stdin, the loop */
	PLEDGE_RING,		/* channels of tool calls */
	PLEDGE_MEMFD,		/* large arguments, not ftruncate */
	PLEDGE_SYNC,		/* a record is on the disk before its effect */
};

static const struct confine auditd_confine = {
	/* outlives icsupervisor: the last record; sends large values */
	.keep = CONFINE_KEEP_ALIVE | CONFINE_KEEP_FILES,
	.limits = {
		.nofile = 512,		/* stdin and mcp-backd per server, keyds */
		.fsize = UINT64_MAX,	/* only the disk limits the log */
		.data = 1U << 30,	/* effects that wait for the disk, queues */
		.memlock = 0,
	},
	.pledge = {
		.promises = auditd_promises,
		.npromises = nitems(auditd_promises),
	},
};
/* clang-format on */

struct auditd_env auditd_env;

int
main(void)
{
	/* One stall timer for each server. */
	worker_init(&auditd_env.w, ROLE_AUDIT, &auditd_confine, NULL,
	    PROTO_MAX_SERVERS + 9);
	auditd_serve();
}
