/* SPDX-License-Identifier: ISC */
/*
 * followd: fetches the files to whose addresses a forge redirects, one GET
 * each, and hands them to mitmd as keyd does with answers. It is a keyd without
 * a credential: it gets root certificates from icsupervisor, addresses from
 * auditd, which has recorded them, and connected sockets from dialerd. It must
 * never see a token, a file system, a name server, or a byte of the agent. An
 * attacker on the side of such a host has the files that are fetched from it.
 */
#include "followd/followd.h"

#include "common/log.h"

#define FOLLOWD_STREAMS 256U

/* clang-format off */
static const enum pledge_promise followd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_PAIR,		/* a stream for each answer */
	PLEDGE_PEERNAME,	/* dialerd's sockets are TCP connections */
};

static const struct confine followd_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends streams */
	.limits = {
		/* streams to mitmd, connections, channels */
		.nofile = 2U * FOLLOWD_STREAMS + KEYD_OTHERS,
		.fsize = 0,		/* no message needs a memfd */
		.data = 256U << 20,	/* queues of answers, TLS */
		.memlock = 1U << 20,	/* the head of a request */
	},
	.pledge = {
		.promises = followd_promises,
		.npromises = nitems(followd_promises),
	},
};
/* clang-format on */

struct keyd_env keyd_env;

/* The address is a secret for as long as it is good. */
static void
followd_warm(void)
{
	if (secret_prepare(2U * KEYD_MAX_HEAD) == -1 ||
	    (keyd_env.head = secret_new(KEYD_MAX_HEAD)) == NULL)
		fatal("locked memory: raise the limit (ulimit -l) to 512");
	tls_warm();
}

int
main(void)
{
	unsigned files;

	worker_init(&keyd_env.w, ROLE_FOLLOW, &followd_confine, followd_warm,
	    KEYD_TIMERS);
	files = worker_files_left(&keyd_env.w, KEYD_OTHERS);
	keyd_env.max_streams = files / 2;
	keyd_env.max_ups = files - keyd_env.max_streams;
	followd_serve();
}
