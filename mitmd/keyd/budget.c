/* SPDX-License-Identifier: ISC */
/*
 * What this keyd may still spend.  icsupervisor says how far it may go; the
 * count of turns, requests and bytes and the time are kept here, from what
 * went out and came in, and told back.  A request beyond is refused before
 * anything of it is sent; when the time is over, or tokens or money are, what
 * runs is cut.
 */
#include "keyd/keyd.h"

#include <stdio.h>

#define BUDGET_REPORT_MS 100U /* totals are told that often */
#define BUDGET_NEAR 32U       /* but at once where few turns are left */

static void budget_over(struct loop_timer *);

static void
budget_report(struct loop_timer *t)
{
	const struct budget *b = &keyd_env.budget;
	struct msg_SPENT m = {.turns = b->turns,
	    .requests = b->requests,
	    .sent = b->sent,
	    .received = b->received};

	(void)t;
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_SPENT, &m, -1);
}

static void
budget_tell(void)
{
	struct budget *b = &keyd_env.budget;

	if (b->max_turns != UINT64_MAX && b->max_turns < b->turns + BUDGET_NEAR)
		budget_report(NULL);
	else if (b->report.at == 0)
		loop_timer_set(&keyd_env.w.loop, &b->report, BUDGET_REPORT_MS,
		    budget_report, NULL);
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
	/* A WebSocket's are its messages. */
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

/* What runs ends now. */
static void
budget_cut(const char *text)
{
	struct keyd_env *e = &keyd_env;
	struct stream *s, *next;

	e->budget.why = text;
	for (s = TAILQ_FIRST(&e->streams); s != NULL; s = next) {
		next = TAILQ_NEXT(s, entry);
		if ((s->x.state == EXCHANGE_WAIT ||
			s->x.state == EXCHANGE_ON) &&
		    e->provider->routes[s->x.req.route].turn)
			exchange_fail(s, KEYD_FAIL_BUDGET, "budget used up");
	}
}

static void
budget_over(struct loop_timer *t)
{
	(void)t;
	budget_cut(keyd_env.budget.ms_text);
}

static void
budget_text(struct span s, char dst[513])
{
	snprintf(dst, 513, "%.*s", (int)s.len, (const char *)s.p);
}

int
keyd_budget(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_BUDGET *m = &msg->BUDGET;
	struct budget *b = &keyd_env.budget;
	struct loop *l = &keyd_env.w.loop;

	(void)c;
	(void)fd;
	b->max_turns = m->turns;
	budget_text(m->turns_text, b->turns_text);
	budget_text(m->ms_text, b->ms_text);
	budget_text(m->spent_text, b->spent_text);
	b->until = UINT64_MAX;
	loop_timer_clear(l, &b->over);
	if (m->ms < UINT64_MAX - loop_now(l)) {
		b->until = loop_now(l) + m->ms;
		loop_timer_set(l, &b->over, m->ms, budget_over, NULL);
	}
	if (b->spent_text[0] != '\0')
		budget_cut(b->spent_text);
	return 0;
}
