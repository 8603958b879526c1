/* SPDX-License-Identifier: ISC */
/*
 * termd parses the agent's output, so that no other program has to: it becomes
 * lines or a grid of cells, which viewers draw. Holds the sandbox's connection
 * and the viewers' channels. Receives a person's input for the agent. Must
 * never see a pending call, a control socket, a credential or the person's
 * terminal. Compromising it yields no more than an agent has anyway, text in
 * the agent's part of the screen and in its transcript, and the person's input
 * to the agent.
 */
#include "workers/termd/termd.h"

/* clang-format off */
static const enum pledge_promise termd_promises[] = {
	PLEDGE_STDIO,		/* channels, the connection, the transcript */
	PLEDGE_ACCEPT,		/* ic-bridge's connection */
};

static const struct confine termd_confine = {
	.limits = {
		.nofile = 64,		/* 8 viewers, 2 connections */
		.fsize = PROTO_MAX_TRANSCRIPT,
		.data = 192U << 20,	/* two grids of 300x500, 8 queues */
		.memlock = 0,
	},
	.pledge = {
		.promises = termd_promises,
		.npromises = nitems(termd_promises),
	},
};
/* clang-format on */

struct termd_env termd_env;

int
main(void)
{
	worker_init(
	    &termd_env.w, ROLE_TERM, &termd_confine, NULL, TERMD_TIMERS);
	termd_serve();
}
