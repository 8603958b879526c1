/* SPDX-License-Identifier: ISC */
/*
 * mcp-logind, of `icctl mcp login`: reads the documents that say how to log in
 * at a remote MCP server. It holds nothing. It is told by icctl which document
 * to get, gets its connections from dialerd, and hands back the few fields that
 * a login needs, which icctl checks again. It must never see a verifier, a
 * code, a token or a client's secret: those are mcp-grantd's. Whoever takes it
 * over from a server's side can name other addresses, as that server can.
 */
#include "logind/logind.h"

#include "common/log.h"
#include "logind/documents.h"

#define LOGIND_SECRET (192U << 10) /* a request and an answer; see token.c */
#define LOGIND_TIMERS 4

/* clang-format off */
static const enum pledge_promise logind_promises[] = {
	PLEDGE_STDIO,		/* channels, connections, the loop */
	PLEDGE_PEERNAME,	/* dialerd's sockets are TCP connections */
};

static const struct confine logind_confine = {
	.limits = {
		.nofile = 32,
		.fsize = 0,		/* no message needs a memfd */
		.data = 64U << 20,	/* OpenSSL, the roots, one document */
		.memlock = 1U << 20,	/* as keyd's requests have it */
	},
	.pledge = {
		.promises = logind_promises,
		.npromises = nitems(logind_promises),
	},
};
/* clang-format on */

struct keyd_env keyd_env;

static void
logind_warm(void)
{
	if (secret_prepare(LOGIND_SECRET) == -1)
		fatal("locked memory: raise the limit (ulimit -l) to 512");
	token_prepare(DOCUMENT_MAX);
	tls_warm();
}

int
main(void)
{
	worker_init(&keyd_env.w, ROLE_META, &logind_confine, logind_warm,
	    LOGIND_TIMERS);
	logind_serve();
}
