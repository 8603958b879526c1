/* SPDX-License-Identifier: ISC */
/*
 * portd lets the user's browser reach published ports of the agent's sandbox.
 * It copies bytes between connections that browsers made to the listeners of
 * icsupervisor and connections that ic-bridge made out of the sandbox, and
 * reads none of them. It holds these listeners, and a socket that asks the
 * kernel which user connected. It must never see a credential, a call, or
 * another user's bytes. Compromising it from the sandbox yields what a
 * published page may do anyway, and from a browser what any program of the
 * user may do: it can connect to nothing.
 */
#include "workers/portd/portd.h"

/* clang-format off */
static const enum pledge_promise portd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the kernel's answers */
	PLEDGE_ACCEPT,		/* browsers' and ic-bridge's connections */
	PLEDGE_SHUTDOWN,	/* half-closed ones are passed on as such */
};

static const struct confine portd_confine = {
	.limits = {
		/* two ends of what is copied, what waits, listeners */
		.nofile = 2 * PORTD_MAX_OPEN + PORTD_MAX_WAIT + 64,
		.fsize = 0,
		.data = 64U << 20,	/* bytes that wait */
		.memlock = 0,
	},
	.pledge = {
		.promises = portd_promises,
		.npromises = nitems(portd_promises),
	},
};
/* clang-format on */

struct portd_env portd_env;

int
main(void)
{
	worker_init(
	    &portd_env.w, ROLE_PORT, &portd_confine, NULL, PORTD_TIMERS);
	portd_serve();
}
