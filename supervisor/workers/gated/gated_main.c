/* SPDX-License-Identifier: ISC */
/*
 * gated stands in front of the session's sockets where a container reaches them
 * over TCP. It reads exactly the token that begins each connection, closes one
 * that begins with anything else, and gives the others to icsupervisor, which
 * passes them on to the socket's owner. It holds the token and the listeners.
 * It must never see a byte that follows a token. Compromising it yields
 * connections to what the agent may connect to anyway.
 */
#include "workers/gated/gated.h"

/* clang-format off */
static const enum pledge_promise gated_promises[] = {
	PLEDGE_STDIO,		/* its channel, and the token */
	PLEDGE_ACCEPT,		/* connections of ic-bridge, and of strangers */
};

static const struct confine gated_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends connections */
	.limits = {
		.nofile = GATED_MAX_UNPROVEN + GATE_WAYS + 16,
		.fsize = 0,
		.data = 16U << 20,
		.memlock = 0,
	},
	.pledge = {
		.promises = gated_promises,
		.npromises = nitems(gated_promises),
	},
};
/* clang-format on */

struct gated_env gated_env;

int
main(void)
{
	worker_init(
	    &gated_env.w, ROLE_GATE, &gated_confine, NULL, GATED_TIMERS);
	gated_serve();
}
