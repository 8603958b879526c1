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

#include "auditd/auditd.h"

/*
 * The log may only grow: pwrite, pwritev2, ftruncate and mappings of it are not
 * allowed. Large arguments arrive in sealed memfds, hence PLEDGE_MEMFD, which
 * does not include ftruncate.
 */
static const enum pledge_promise auditd_promises[] = {
    PLEDGE_STDIO,
    PLEDGE_MEMFD,
    PLEDGE_SYNC,
};

static const struct confine auditd_confine = {
    .keep = CONFINE_KEEP_ALIVE,
    .limits =
	{
	    /* a stdin and an mcp-backd for each server; keyds; memfds */
	    .nofile = 256,
	    .fsize = UINT64_MAX, /* only the disk limits the log */
	    .data = 1U << 30,
	    .memlock = 0,
	},
    .pledge =
	{
	    .promises = auditd_promises,
	    .npromises = sizeof(auditd_promises) / sizeof(auditd_promises[0]),
	},
};

struct auditd_env auditd_env;

int
main(void)
{
	/* One stall timer for each server. */
	worker_init(&auditd_env.w, ROLE_AUDIT, &auditd_confine, NULL,
	    PROTO_MAX_SERVERS + 8);
	auditd_serve();
}
