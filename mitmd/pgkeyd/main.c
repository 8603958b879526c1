/* SPDX-License-Identifier: ISC */
/*
 * pgkeyd, one for each service that config.json has a login for: logs in to a
 * PostgreSQL database, and hands the connection on. It holds one password, in
 * secret memory, and connections until they are ready. It receives the password
 * and the names of user and database from icsupervisor, recorded logins from
 * auditd, and connected sockets from dialerd; egressd gets the ready ones, and
 * nothing comes back. With TLS, a process that it forked before it had anything
 * ends that (tls_end.h). It must never see a query, an answer to one, or
 * anything of the agent but the checked values of a few parameters. An attacker
 * on the database's side gets proofs of the password, never the password.
 */
#include "pgkeyd/pgkeyd.h"

/* clang-format off */
static const enum pledge_promise pgkeyd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
};

static const struct confine pgkeyd_confine = {
	.keep = CONFINE_KEEP_FILES,	/* sends connections */
	.limits = {
		.nofile = PGKEYD_MAX_LOGINS + 32,	/* and channels */
		.fsize = 0,		/* no message needs a memfd */
		.data = 32U << 20,	/* a message and texts for each; roots */
		.memlock = 64U << 10,	/* the password */
	},
	.pledge = {
		.promises = pgkeyd_promises,
		.npromises = nitems(pgkeyd_promises),
	},
};
/* clang-format on */

struct pgkeyd_env pgkeyd_env;

/* Fork first: the other process must not have the memory for secrets. */
static void
pgkeyd_warm(void)
{
	tls_fork();
	pgkeyd_secret_prepare();
}

int
main(void)
{
	worker_init(&pgkeyd_env.w, ROLE_KEY, &pgkeyd_confine, pgkeyd_warm,
	    PGKEYD_MAX_LOGINS + 8);
	pgkeyd_serve();
}
