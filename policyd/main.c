/* SPDX-License-Identifier: ISC */
/*
 * policyd decides.  It is sent decoded tool calls by mcp-proxyd, requests that
 * a person must approve by mitmd, what concerns sessions by each mcp-backd,
 * verdicts of the user by auditd, and rules, views and settings by
 * icsupervisor.  It holds the rules, the definitions of tools and the calls and
 * requests that wait for a person.  From what it decoded it composes
 * every byte that an MCP server gets, and hands it, with the decision, to
 * auditd, which writes it down and releases it: there is no other way out.
 *
 * It keeps the host's root, by name only, to see where paths lead.  It must
 * never see the content of a file, a credential, the network, or JSON text of
 * the agent; it never talks to a server or to the agent itself.
 */
#include "common/confine/confine.h"
#include "policyd.h"
#include "serve.h"

/* clang-format off */
static const enum pledge_promise promises[] = {
	PLEDGE_STDIO,
	PLEDGE_MEMFD,	/* large arguments, tool lists, rules */
	PLEDGE_PATH,	/* names and links of the host, no content */
};

static const struct confine policyd_confine = {
	.keep = CONFINE_KEEP_ROOT,	/* paths are looked up in it */
	.limits = {
		.nofile = 4096,		/* a row of a view is one */
		.fsize = 16U << 20,	/* the largest message */
		.data = 512U << 20,	/* rules, tool lists, calls in flight */
		.memlock = 0,
	},
	.pledge = {
		.promises = promises,
		.npromises = sizeof(promises) / sizeof(promises[0]),
	},
};
/* clang-format on */

int
main(void)
{
	static struct worker w;

	confine_early();
	worker_init(&w, ROLE_POLICY, &policyd_confine, NULL, POLICYD_TIMERS);
	policyd_serve(&w);
}
