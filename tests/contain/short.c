/* SPDX-License-Identifier: ISC */
/*
 * The hostile part of a program that does one job. It takes over when the
 * program has been confined, with the descriptors of its job and before it reads
 * the first byte that others wrote; or, for the baseline, in place of its
 * confinement.
 */
#include <sys/socket.h>

#include "attempts.h"
#include "order.h"
#include "probe.h"

#define E attempt_env

static bool
baseline(void)
{
	return probe_order.layers == LAYER_NONE;
}

void
__wrap_confine_early(void)
{
	if (!baseline())
		__real_confine_early();
}

int
__wrap_confine_apply(const struct confine *c, struct confine_state *st)
{
	int pair[2];

	probe_load((enum role)ATTEMPT_RESOLVER);
	/* In the place of a worker's channel. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		return -1;
	E.channels[0] = pair[0];
	E.nchannels = 1;
	probe_give();
	if (!baseline() && __real_confine_apply(c, st) == -1)
		return -1;
	probe_attempt("short-lived");
	return -1;
}
