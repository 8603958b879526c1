/* SPDX-License-Identifier: ISC */
/*
 * auditd: the valve.  It stands between decision and action on both paths:
 * what policyd and mitmd pass on is first appended to the audit log and only
 * then let out, to an MCP server's stdin or to a keyd.  It holds the log
 * (append only) and the write ends of the servers' stdin; it is sent decided
 * calls, checked requests and what became of them.  It decides nothing, and
 * must never see a credential, an agent's or a server's raw bytes.
 */
#include <seccomp.h>

#include "auditd/auditd.h"

/* The log may only grow: pwrite, pwritev2, ftruncate and mappings of it stay
 * closed.  Large arguments come in sealed memfds, hence PLEDGE_MEMFD, of which
 * ftruncate is not part; auditd makes none for others but may pass one on. */
static const enum pledge_promise auditd_promises[] = {
    PLEDGE_STDIO,
    PLEDGE_MEMFD,
    PLEDGE_SYNC,
};

static const struct confine auditd_confine = {
    .keep = CONFINE_KEEP_ALIVE,
    .limits =
	{
	    /* Per server its stdin and its mcp-backd, keyds, memfds. */
	    .nofile = 256,
	    .fsize = UINT64_MAX, /* the log has no limit but the disk */
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
	/* Per server its stall timer. */
	worker_init(&auditd_env.w, ROLE_AUDIT, &auditd_confine, NULL,
	    PROTO_MAX_SERVERS + 8);
	auditd_serve();
}
