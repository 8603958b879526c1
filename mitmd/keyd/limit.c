/* SPDX-License-Identifier: ISC */
/*
 * Applies the limits that icsupervisor sets. When the time is over, or tokens
 * or money are spent, transactions that cost anything are aborted.
 */
#include "keyd/keyd.h"

#include <stdio.h>

/* Abort all running transactions that count as a turn. */
static void
limit_cut(const char *text)
{
	struct keyd_env *e = &keyd_env;
	struct stream *s, *next;

	e->budget.why = text;
	for (s = TAILQ_FIRST(&e->streams); s != NULL; s = next) {
		next = TAILQ_NEXT(s, entry);
		if ((s->x.state == TXN_SHARE || s->x.state == TXN_WAIT ||
			s->x.state == TXN_ON) &&
		    e->provider->routes[s->x.req.route].turn)
			txn_fail(s, KEYD_FAIL_BUDGET, "budget used up");
	}
}

static void
limit_over(struct loop_timer *t)
{
	limit_cut(keyd_env.budget.ms_text);
}

static void
limit_text(struct span s, char dst[513])
{
	snprintf(dst, 513, "%.*s", (int)s.len, (const char *)s.p);
}

int
keyd_budget(struct chan *c, const struct msg_BUDGET *m)
{
	struct budget *b = &keyd_env.budget;
	struct loop *l = &keyd_env.w.loop;

	b->max_turns = m->turns;
	limit_text(m->turns_text, b->turns_text);
	limit_text(m->ms_text, b->ms_text);
	limit_text(m->spent_text, b->spent_text);
	b->until = UINT64_MAX;
	loop_timer_clear(l, &b->over);
	if (m->ms < UINT64_MAX - loop_now(l)) {
		b->until = loop_now(l) + m->ms;
		loop_timer_set(l, &b->over, m->ms, limit_over, NULL);
	}
	if (b->spent_text[0] != '\0')
		limit_cut(b->spent_text);
	return 0;
}
