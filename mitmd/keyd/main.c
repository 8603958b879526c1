/* SPDX-License-Identifier: ISC */
/*
 * keyd, one per credential: writes request heads with the real credential,
 * counts bodies out to the provider, and reads its answers. It holds that one
 * credential, in secret memory, and the TLS connections that use it. It
 * receives the provider file, the credential and the root certificates from
 * icsupervisor, released requests from auditd, bodies from mitmd, and connected
 * sockets from dialerd; it must never see a file system, a name server, another
 * provider's credential, or a request that was not recorded. An attacker on the
 * provider's side has this credential already.
 */
#include "keyd/keyd.h"

#include "keyd/login/oauth.h"

/* clang-format off */
static const enum pledge_promise keyd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_ARENA,		/* bodies, between mitmd and this keyd */
	PLEDGE_PAIR,		/* a stream for each agent connection */
	PLEDGE_PEERNAME,	/* dialerd's sockets are TCP connections */
};

static const struct confine keyd_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends streams */
	.limits = {
		/* streams to mitmd, connections to the provider, channels */
		.nofile = KEYD_MAX_STREAMS + KEYD_MAX_UPS + KEYD_OTHERS,
		/* a login file, written again; the old one's size at most */
		.fsize = KEYD_MAX_LOGIN + 4U * SCRUB_MAX,
		.data = 512U << 20,	/* bodies that are sent again, TLS */
		.memlock = 1U << 20,	/* the credential */
	},
	.pledge = {
		.promises = keyd_promises,
		.npromises = nitems(keyd_promises),
	},
};
/* clang-format on */

struct keyd_env keyd_env;

static void
keyd_warm(void)
{
	keyd_secret_prepare();
	/* With little locked memory there is no login. */
	if (keyd_env.cap >= SCRUB_MAX)
		token_prepare(OAUTH_MAX_ANSWER);
	tls_warm();
}

/* Divide the descriptors between streams and connections. */
static void
keyd_share(void)
{
	unsigned files = worker_files_left(&keyd_env.w, KEYD_OTHERS);

	keyd_env.max_streams =
	    files * KEYD_MAX_STREAMS / (KEYD_MAX_STREAMS + KEYD_MAX_UPS);
	keyd_env.max_ups = files - keyd_env.max_streams;
}

int
main(void)
{
	worker_init(
	    &keyd_env.w, ROLE_KEY, &keyd_confine, keyd_warm, KEYD_TIMERS);
	keyd_share();
	keyd_serve();
}
