/* SPDX-License-Identifier: ISC */
/*
 * The budget across the runs of a session: what earlier runs spent counts, and
 * a limit that a person lowered in the session stays. One that was raised does
 * not: that was a permission, and a person may give it again.
 */
#include "budget/priv.h"

#include <string.h>

#include "resume/carry.h"

struct spent {
	double tokens, usd;
	uint64_t steps;
};

#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b) ? (a) : (b))

/* Returns the sums of a state, and what records add to them. */
static struct spent
budget_carry_sum(const struct carry_spent *state, const struct carry_spent *add)
{
	struct spent s = {.tokens = (double)state->tokens + add->more_tokens,
	    .usd = (double)state->micro_usd / 1e6 + add->more_usd,
	    .steps = state->steps + add->calls + add->requests};

	return s;
}

/* Count that much, unless more was counted. */
static void
budget_carry_least(const struct spent *s)
{
	struct budget_env *b = &budget_env;

	b->base.tokens = MORE(b->base.tokens, s->tokens);
	b->base.usd = MORE(b->base.usd, s->usd);
	b->base.steps = MORE(b->base.steps, s->steps);
}

/*
 * Count what was spent. Two sums are never less than that: the last state and
 * all that was recorded since `older`, of which the state may lack the end; and
 * all records of the run, with what has none. The smaller one is right, but
 * never less than a state says. After an orderly end the last state says it.
 */
static void
budget_carry_spent(const struct carry *c)
{
	struct spent all = budget_carry_sum(&c->last, &c->older), run;
	const struct spent known[] = {budget_carry_sum(&c->last, &c->last),
	    budget_carry_sum(&c->older, &c->older)};

	if (c->whole_run && !c->messages) {
		run = budget_carry_sum(&c->run, &c->run);
		all.steps = LESS(all.steps, run.steps);
	}
	if (c->whole_run && c->open_known) {
		run = budget_carry_sum(&c->run, &c->run);
		run.tokens += (double)c->open_tokens;
		run.usd += (double)c->open_micro_usd / 1e6;
		all.tokens = LESS(all.tokens, run.tokens);
		all.usd = LESS(all.usd, run.usd);
	}
	if (!c->orderly)
		budget_carry_least(&all);
	budget_carry_least(&known[0]);
	budget_carry_least(&known[1]);
}

void
budget_carry(const struct carry *c)
{
	struct budget_env *b = &budget_env;

	budget_carry_spent(c);
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
