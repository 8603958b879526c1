/* SPDX-License-Identifier: ISC */
/*
 * egressd, one for each MCP server that may reach named hosts, and one for the
 * agent, if it has services of the host: the only way out
 * of that server's sandbox. It reads the server's CONNECT requests, has them
 * recorded and dialed, and passes bytes. It holds the server's listener and
 * list, and sockets that dialerd connected. Of their bytes it reads the first
 * TLS message, which must name the host. It must never see a credential,
 * another server's connections, or a socket that was not recorded first. An
 * attacker who takes it over from inside the sandbox gains nothing beyond the
 * server's own access: connections to the hosts on its list, each of them in
 * the log.
 */
#include "egressd/egressd.h"

/* clang-format off */
static const enum pledge_promise egressd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_ACCEPT,		/* the server's connections */
	PLEDGE_SHUTDOWN,	/* half-closed ones are passed on as such */
};

static const struct confine egressd_confine = {
	.limits = {
		/* two ends of a tunnel; channels, the listener */
		.nofile = 2 * PROTO_MAX_STREAMS + 32,
		.fsize = 0,		/* no message needs a memfd */
		.data = 64U << 20,	/* bytes that wait in the tunnels */
		.memlock = 0,
	},
	.pledge = {
		.promises = egressd_promises,
		.npromises = nitems(egressd_promises),
	},
};
/* clang-format on */

struct egressd_env egressd_env;

int
main(void)
{
	worker_init(&egressd_env.w, ROLE_EGRESS, &egressd_confine, NULL,
	    PROTO_MAX_STREAMS + 8);
	egressd_serve();
}
