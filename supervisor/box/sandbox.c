/* SPDX-License-Identifier: ISC */
#include "box/sandbox.h"

#include "core/sup.h"

struct sandbox sandbox;

pid_t
sandbox_root(void)
{
	if (sup.agent.pidfd == -1)
		return 0;
	/* A container is no descendant of its client. */
	return sup.opt.runtime == RUNTIME_BWRAP ? sup.agent.pid : sandbox.first;
}
