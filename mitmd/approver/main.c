/* SPDX-License-Identifier: ISC */
/*
 * approver, only if config.json has autoApprove: asks a model whether the
 * person's own last message already asks for a pending call. It holds nothing.
 * It receives the provider file, that message and a description of the call
 * from icsupervisor, a stream and the model's answer from keyd, and can say one
 * of three words to auditd: approve, leave, failed. It must never see a key, a
 * file, the network, a text of the agent, or an argument that the person did
 * not write. Whoever takes it over can approve the one call that icsupervisor
 * has checked and asked about, and nothing else.
 */
#include "approver/approver.h"

/* clang-format off */
static const enum pledge_promise approver_promises[] = {
	PLEDGE_STDIO,		/* channels, the stream to keyd, the loop */
};

static const struct confine approver_confine = {
	.limits = {
		.nofile = 32,		/* channels, one or two streams */
		.fsize = 0,		/* no message needs a memfd */
		.data = 32U << 20,	/* the provider file, one answer */
	},
	.pledge = {
		.promises = approver_promises,
		.npromises = nitems(approver_promises),
	},
};
/* clang-format on */

struct approver_env approver_env;

int
main(void)
{
	worker_init(
	    &approver_env.w, ROLE_APPROVE, &approver_confine, NULL, 4);
	approver_serve();
}
