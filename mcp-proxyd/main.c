/* SPDX-License-Identifier: ISC */
/*
 * mcp-proxyd: the agent's side of the MCP ring.  It parses what the agent
 * writes and composes what the agent reads; it decides nothing and cannot act.
 * A tool call becomes a value tree for policyd, which hands it on; the answer
 * comes back from auditd (if refused) or from the server's mcp-backd.
 *
 * Holds: the agent's listener and connections, calls in flight, the tool list
 * that policyd published.  Is sent: names of servers, CALL outcomes, results.
 * Must never see: a credential, a file, a path on the host, a channel to an MCP
 * server's stdin.
 */
#include "proxy.h"

#include <malloc.h>

#define PROXY_KEEP (4 << 20)	/* bytes of freed memory to keep */

/* clang-format off */
static const enum pledge_promise proxy_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_RING,		/* channels of tool calls */
	PLEDGE_MEMFD,		/* CALL with arguments beyond a datagram */
	PLEDGE_ACCEPT,		/* the agent's connections */
};

static const struct confine proxy_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends large arguments */
	.limits = {
		.nofile = 320,		/* 43 channels of 3, 73 of the agent's, memfds */
		.fsize = 8U << 20,	/* CALL.args in a memfd */
		.data = 2048U << 20,	/* 72 agents x (4 + 20 MiB), trees */
		.memlock = 0,
	},
	.pledge = {
		.promises = proxy_promises,
		.npromises = nitems(proxy_promises),
	},
};
/* clang-format on */

struct proxy proxy_env;

int
main(void)
{
	confine_early();
	/*
	 * An answer is composed in a buffer that grows to its size, and is
	 * freed when it was sent. Giving that memory back to the kernel each
	 * time costs more page faults than an answer has pages.
	 */
	(void)mallopt(M_TRIM_THRESHOLD, PROXY_KEEP);
	(void)mallopt(M_MMAP_THRESHOLD, PROXY_KEEP);
	worker_init(
	    &proxy_env.w, ROLE_PROXY, &proxy_confine, NULL, PROXY_TIMERS);
	proxy_serve();
}
