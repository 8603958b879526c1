/* SPDX-License-Identifier: ISC */
/*
 * The budget across the runs of a session: what earlier runs spent counts, and
 * a limit that a person lowered in the session stays. One that was raised does
 * not: that was a permission, and a person may give it again.
 */
#include "budget/priv.h"

#include <string.h>

#include "resume/carry.h"

/* Count what was spent, unless more was. */
static void
budget_carry_spent(const struct carry_spent *s)
{
	struct budget_env *b = &budget_env;
	double tokens = (double)s->tokens, usd = (double)s->micro_usd / 1e6;
	uint64_t steps = s->steps + s->calls + s->requests;

	for (unsigned i = 0; i < s->nusage; i++) {
		const struct carry_usage *u = &s->usage[i];
		const struct budget_sum sum = {.in = u->in,
		    .out = u->out,
		    .cache_read = u->cache_read,
		    .cache_write = u->cache_write};

		budget_weigh(
		    &sum, prices_find(&b->prices, u->model), &tokens, &usd);
	}
	b->base.tokens = b->base.tokens > tokens ? b->base.tokens : tokens;
	b->base.usd = b->base.usd > usd ? b->base.usd : usd;
	b->base.steps = b->base.steps > steps ? b->base.steps : steps;
}

void
budget_carry(const struct carry *c)
{
	struct budget_env *b = &budget_env;

	budget_carry_spent(&c->last);
	budget_carry_spent(&c->older);
	b->base.ms = carry_ms(c);
	for (unsigned k = 0; k < BUDGET_KEYS; k++) {
		if (!c->limited[k] ||
		    !budget_value_ok((enum budget_key)k, c->limits[k]) ||
		    (b->limits.on[k] && b->limits.max[k] <= c->limits[k]))
			continue;
		b->limits.on[k] = b->person[k] = true;
		b->limits.max[k] = c->limits[k];
		b->step[k] = c->limits[k];
	}
}

bool
budget_person_set(enum budget_key key, double *max)
{
	*max = budget_env.limits.max[key];
	return budget_env.person[key] && budget_env.limits.on[key];
}

bool
budget_paused(void)
{
	return budget_env.since != 0;
}

void
budget_watch(void (*changed)(void))
{
	budget_env.changed = changed;
}
