/* SPDX-License-Identifier: ISC */
/*
 * mcp-grantd, of `icctl mcp login`: the keyd of a login, before there is one.
 * It makes the verifier and the state, registers a client, takes the code from
 * mcp-callbackd, exchanges it for tokens, and writes the login file to a
 * descriptor that icctl gave it, unread. It holds the verifier, the client's
 * secret and the tokens, in secret memory, and ends with the login. It is told
 * by icctl which endpoints to ask, and gets its connections from dialerd. It
 * must never see a file system, a name server, a document that says where to
 * log in, or another login.
 */
#include "grantd/grantd.h"

#include "common/log.h"
#include "keyd/login/oauth.h"

#define GRANTD_TIMERS 4

/* clang-format off */
static const enum pledge_promise grantd_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the new file, the loop */
	PLEDGE_PEERNAME,	/* dialerd's sockets are TCP connections */
};

static const struct confine grantd_confine = {
	.limits = {
		.nofile = 32,
		.fsize = KEYD_MAX_LOGIN, /* the login file */
		.data = 64U << 20,	/* OpenSSL, the roots, one answer */
		.memlock = 1U << 20,	/* tokens */
	},
	.pledge = {
		.promises = grantd_promises,
		.npromises = nitems(grantd_promises),
	},
};
/* clang-format on */

struct keyd_env keyd_env;

static void
grantd_warm(void)
{
	if (secret_prepare(SECRET_WHOLE) == -1 ||
	    (keyd_env.file = secret_new(KEYD_MAX_LOGIN)) == NULL ||
	    (keyd_env.head = secret_new(KEYD_MAX_HEAD)) == NULL)
		fatal("locked memory: raise the limit (ulimit -l) to 512");
	token_prepare(OAUTH_MAX_ANSWER);
	tls_warm();
}

int
main(void)
{
	worker_init(&keyd_env.w, ROLE_GRANT, &grantd_confine, grantd_warm,
	    GRANTD_TIMERS);
	grantd_serve();
}
