/* SPDX-License-Identifier: ISC */
/*
 * acpd stands between an editor and an agent that speak the Agent Client
 * Protocol, in place of termd. Holds the sandbox's connection and the channel
 * of icctl, which the editor started. Reads both sides' JSON. Must never see a
 * credential, a pending call or a control socket. Compromising it yields what
 * an agent may do anyway: updates and permission requests, because icctl
 * composes the lines that the editor reads and knows no others.
 */
#include "workers/acpd/acpd.h"

/* clang-format off */
static const enum pledge_promise acpd_promises[] = {
	PLEDGE_STDIO,		/* channels, the connection */
	PLEDGE_ACCEPT,		/* ic-bridge's connection */
	PLEDGE_MEMFD,		/* updates of more than a datagram */
};

static const struct confine acpd_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends large frames */
	.limits = {
		.nofile = 64,
		.fsize = PROTO_MAX_TREE,
		.data = 192U << 20,	/* trees, lines and queues of 4 MiB */
		.memlock = 0,
	},
	.pledge = {
		.promises = acpd_promises,
		.npromises = nitems(acpd_promises),
	},
};
/* clang-format on */

struct acpd_env acpd_env;

int
main(void)
{
	worker_init(&acpd_env.w, ROLE_ACP, &acpd_confine, NULL, ACPD_TIMERS);
	acpd_serve();
}
