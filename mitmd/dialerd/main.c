/* SPDX-License-Identifier: ISC */
/*
 * dialerd connects to hosts and hands the sockets to the keyd or egressd that
 * asked. It holds the list of targets and the servers' lists of hosts, and two
 * resolvers that it forked before it confined itself. It receives an index from
 * a keyd, a host from auditd and addresses from its resolvers. The sandbox of a
 * service of the session's own connects to it, and says with one byte whether
 * the service took a connection. It must never see a credential, a request, or
 * any other byte that travels on its sockets.
 */
#include "dialerd/dialerd.h"

/* clang-format off */
static const enum pledge_promise dialerd_promises[] = {
	PLEDGE_STDIO,		/* channels, the resolvers' pipes, the loop */
	PLEDGE_DIAL,		/* connections to hosts */
	PLEDGE_ACCEPT,		/* and those of the session's own services */
};

static const struct confine dialerd_confine = {
	/* connects to them from here; sends the connections */
	.keep = CONFINE_KEEP_NET | CONFINE_KEEP_FILES,
	.limits = {
		/* each address of a dial is tried; channels */
		.nofile =
		    DIALERD_MAX_ACTIVE * DIALERD_MAX_ADDRS + DIALERD_OTHERS,
		.fsize = 0,		/* no message needs a memfd */
		.data = 128U << 20,	/* dials, lists of hosts, queues */
		.memlock = 0,
	},
	.pledge = {
		.promises = dialerd_promises,
		.npromises = nitems(dialerd_promises),
	},
};
/* clang-format on */

struct dialerd_env dialerd_env;

/* Returns how many dials may be tried at once. */
static unsigned
dialerd_most(void)
{
	unsigned most = worker_files_left(&dialerd_env.w, DIALERD_OTHERS) /
			DIALERD_MAX_ADDRS;

	return most == 0 ? 1 : most;
}

int
main(void)
{
	worker_init(&dialerd_env.w, ROLE_DIAL, &dialerd_confine, resolve_fork,
	    DIALERD_TIMERS);
	dialerd_env.max_active = dialerd_most();
	dialerd_serve();
}
