/* SPDX-License-Identifier: ISC */
/*
 * Counts what this keyd spends and refuses requests beyond the limits before
 * any byte is sent. Turns, requests and bytes are counted from what was sent
 * and received, and reported to icsupervisor.
 */
#include "keyd/budget.h"

#include "keyd/keyd.h"

#define BUDGET_REPORT_MS 100U /* interval between reports */
#define BUDGET_NEAR 32U       /* report at once if fewer turns are left */

void
budget_report(void)
{
	const struct budget *b = &keyd_env.budget;
	struct msg_SPENT m = {.turns = b->turns,
	    .requests = b->requests,
	    .sent = b->sent,
	    .received = b->received};

	share_report(&m);
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_SPENT, &m, -1);
}

static void
budget_timer(struct loop_timer *t)
{
	budget_report();
}

static void
budget_tell(void)
{
	struct budget *b = &keyd_env.budget;

	/* The keyd that a forge redirected has counted followd's request. */
	if (keyd_env.dial_place != NULL)
		return;
	if (b->max_turns != UINT64_MAX && b->max_turns < b->turns + BUDGET_NEAR)
		budget_report();
	else if (b->report.at == 0)
		loop_timer_set(&keyd_env.w.loop, &b->report, BUDGET_REPORT_MS,
		    budget_timer, NULL);
}

const char *
budget_refusal(const struct provider_route *r)
{
	struct budget *b = &keyd_env.budget;

	if (!r->turn)
		return NULL;
	if (b->spent_text[0] != '\0')
		return b->spent_text;
	if (b->until != UINT64_MAX && loop_now(&keyd_env.w.loop) >= b->until)
		return b->ms_text;
	if (b->turns >= b->max_turns)
		return b->turns_text;
	return NULL;
}

void
budget_begin(const struct provider_route *r)
{
	struct budget *b = &keyd_env.budget;

	b->requests++;
	/* A WebSocket's turns are its messages. */
	b->turns += r->turn && !r->websocket;
	budget_tell();
}

void
budget_message(const struct provider_route *r)
{
	keyd_env.budget.turns += r->turn;
	budget_tell();
}

void
budget_end(uint64_t sent, uint64_t received)
{
	struct budget *b = &keyd_env.budget;

	b->sent += sent;
	b->received += received;
	budget_tell();
}
