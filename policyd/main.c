/* SPDX-License-Identifier: ISC */
/*
 * policyd decides. It receives decoded tool calls from mcp-proxyd, requests
 * that a person must approve from mitmd, messages about sessions from each
 * mcp-backd, the user's verdicts from auditd, and rules, views and settings
 * from icsupervisor. It holds the rules, the tool definitions, and the calls
 * and requests that wait for a person. It composes every byte that an MCP
 * server receives and hands it, with the decision, to auditd, which logs and
 * releases it: there is no other way out.
 *
 * It keeps a descriptor of the host's root, opened by name only, to resolve
 * paths, and watches directories of recent paths for their own moves. It must
 * never see the content of a file, a credential, the network, or JSON text of
 * the agent, and it never talks to a server or the agent itself.
 */
#include "common/confine/confine.h"
#include "policyd.h"
#include "serve.h"

/* clang-format off */
static const enum pledge_promise promises[] = {
	PLEDGE_STDIO,
	PLEDGE_RING,		/* channels of tool calls */
	PLEDGE_MEMFD,	/* large arguments, tool lists, rules */
	PLEDGE_PATH,	/* names and links of the host, no content */
	PLEDGE_MOVED,	/* which directory was moved: known.c */
};

static const struct confine policyd_confine = {
	/* looks up paths; sends large values */
	.keep = CONFINE_KEEP_ROOT | CONFINE_KEEP_FILES,
	.limits = {
		.nofile = 4096 + 512,	/* each row of a view is one; known.c */
		.fsize = 16U << 20,	/* size of the largest message */
		.data = 512U << 20,	/* rules, tool lists, calls in flight */
		.memlock = 0,
	},
	.pledge = {
		.promises = promises,
		.npromises = nitems(promises),
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
