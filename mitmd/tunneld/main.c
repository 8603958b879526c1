/* SPDX-License-Identifier: ISC */
/*
 * tunneld asks a corporate proxy, if there is one, for tunnels. It holds the
 * credential for that proxy, in secret memory, and connections on which the
 * proxy has not answered yet. It receives the credential and the lists of hosts
 * from icsupervisor, and from dialerd connected sockets with the name of a
 * host, which it checks against these lists. It must never see a provider's
 * credential, a request, or a byte inside a tunnel. An attacker on the proxy's
 * side already has its credential.
 */
#include "tunneld/tunneld.h"

/* clang-format off */
static const enum pledge_promise tunneld_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_PEERNAME,	/* a socket must be connected to the proxy */
};

static const struct confine tunneld_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends connections */
	.limits = {
		.nofile = TUNNELD_MAX_LINKS + 32,	/* and channels */
		.fsize = 0,		/* no message needs a memfd */
		.data = 32U << 20,	/* a request and an answer for each */
		.memlock = 64U << 10,	/* the proxy's credential */
	},
	.pledge = {
		.promises = tunneld_promises,
		.npromises = nitems(tunneld_promises),
	},
};
/* clang-format on */

struct tunneld_env tunneld_env;

int
main(void)
{
	worker_init(&tunneld_env.w, ROLE_TUNNEL, &tunneld_confine,
	    tunneld_secret_prepare, TUNNELD_MAX_LINKS + 8);
	tunneld_serve();
}
