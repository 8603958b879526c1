/* SPDX-License-Identifier: ISC */
/*
 * mitmd reads the agent's HTTPS: CONNECT, TLS with a certificate of the
 * session's own CA, HTTP/1.1 or HTTP/2. A request that is on the provider's
 * list and has the session's placeholder key goes to auditd, decoded, and its
 * body to that provider's keyd; a request that a person must approve goes to
 * policyd instead of auditd. The answer comes from keyd. mitmd has the agent's
 * listener, the leaf keys of this session and the hashes of placeholder keys.
 * It receives provider files and orders; it must never see a real credential,
 * and has no file, no network and no way to a provider except through keyd.
 */
#include "mitmd.h"

#include "tls.h"

/* clang-format off */
static const enum pledge_promise mitmd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_ARENA,		/* bodies, between mitmd and each keyd */
	PLEDGE_ACCEPT,		/* the agent's connections */
	PLEDGE_MEMFD,		/* bodies that are held whole */
	PLEDGE_SHUTDOWN,	/* a refused agent can still read the answer */
	PLEDGE_SENDFILE,	/* answers, from the memory that they are in */
};

/* Descriptors for bodies that are too large for the heap, and channels. */
#define MITMD_OTHERS (MITMD_MAX_HELD / HOLD_HEAP + PROTO_MAX_PROVIDERS + 32)

static const struct confine mitmd_confine = {
	.limits = {
		/* connections, streams, and the others */
		.nofile = MITMD_MAX_AGENTS + MITMD_MAX_STREAMS + MITMD_OTHERS,
		.fsize = PROVIDER_MAX_BODY,	/* a body in a memfd */
		.data = 1U << 30,	/* held bodies and full queues at once */
		.memlock = 0,
	},
	.pledge = {
		.promises = mitmd_promises,
		.npromises = nitems(mitmd_promises),
	},
};
/* clang-format on */

struct mitmd_env mitmd_env;

int
main(void)
{
	/* Two timers for each connection, one for each request and arena. */
	worker_init(&mitmd_env.w, ROLE_MITM, &mitmd_confine, mitmd_warm,
	    2 * MITMD_MAX_AGENTS + MITMD_MAX_EXCHANGES + PROTO_MAX_PROVIDERS +
		8);
	/* So many connections, and so many streams. */
	mitmd_env.most = worker_files_left(&mitmd_env.w, MITMD_OTHERS) / 2;
	mitmd_serve();
}
