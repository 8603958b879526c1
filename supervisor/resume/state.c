/* SPDX-License-Identifier: ISC */
#include "resume/state.h"

#include "base/here.h"
#include "budget/budget.h"
#include "common/json/value.h"
#include "conversation/conversation.h"
#include "core/sup.h"
#include "hub/grants.h"
#include "resume/resume.h"
#include "resume/routes.h"

/* Spending is recorded at most so often. */
#define STATE_MS 1000U
#define STATE_POOL (4U << 20)

static struct {
	bool begun;
	struct loop_timer timer;
	void (*noted)(void);
} state_env;

static void
put(struct value *o, const char *key, struct value *v)
{
	(void)value_set(o, span_str(key), v);
}

/* Counts are rounded up: what was spent must never become less. */
static struct value *
number(struct value_pool *p, double n)
{
	int64_t whole = n < 9e18 ? (int64_t)n : INT64_MAX - 1;

	return value_new_number(p, whole + ((double)whole < n));
}

static struct value *
state_limits(struct value_pool *p)
{
	struct value *o = value_new(p, VALUE_OBJECT);
	double max;

	for (unsigned k = 0; o != NULL && k < BUDGET_KEYS; k++)
		if (budget_person_set((enum budget_key)k, &max))
			put(o, budget_name((enum budget_key)k),
			    number(p, max));
	return o;
}

static struct value *
state_locked(struct value_pool *p)
{
	struct value *list = value_new(p, VALUE_ARRAY);

	for (unsigned i = 0; list != NULL && i < sup.providers.n; i++)
		if (sup.keys[i].state == PROTO_KEY_LOCKED ||
		    sup.keys[i].locked)
			(void)value_append(list,
			    value_new_string(
				p, span_str(sup.providers.list[i].name)));
	for (unsigned i = 0; list != NULL && i < resume_carry()->nlocked; i++)
		if (providers_find(&sup.providers,
			resume_carry()->locked[i]) == -1)
			(void)value_append(list,
			    value_new_string(
				p, span_str(resume_carry()->locked[i])));
	return list;
}

/*
 * The routes whose requests count as steps, for each provider by its number: a
 * record of a request has its route's number alone.
 */
static struct value *
state_routes(struct value_pool *p, bool *messages)
{
	struct value *all = value_new(p, VALUE_ARRAY), *list;

	for (unsigned i = 0; all != NULL && i < sup.providers.n; i++) {
		list = routes_of_steps(p,
		    span_of(sup.providers.list[i].json,
			sup.providers.list[i].json_len),
		    messages);
		if (list != NULL)
			(void)value_append(all, list);
	}
	return all;
}

/* Add what only a whole state has. */
static void
state_whole(struct value_pool *p, struct value *o)
{
	bool messages = false;

	put(o, "boot", value_new_string(p, span_str(here()->boot)));
	put(o, "grants", grants_state(p));
	put(o, "host", value_new_string(p, span_str(here()->host)));
	if (conversation_on())
		put(o, "turn", value_new_number(p, conversation_turn()));
	put(o, "turnRoutes", state_routes(p, &messages));
	if (messages)
		put(o, "turnMessages", value_new(p, VALUE_TRUE));
}

static void
state_write(bool whole)
{
	struct value_pool *p = value_pool_new(STATE_POOL);
	struct value *o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);
	double tokens, usd;

	if (o != NULL) {
		budget_open_answers(&tokens, &usd);
		if (whole)
			state_whole(p, o);
		put(o, "limits", state_limits(p));
		put(o, "locked", state_locked(p));
		put(o, "microUsd", number(p, budget_used(BUDGET_USD) * 1e6));
		put(o, "ms", value_new_number(p, (int64_t)budget_elapsed()));
		put(o, "openMicroUsd", number(p, usd * 1e6));
		put(o, "openTokens", number(p, tokens));
		if (budget_paused())
			put(o, "paused", value_new(p, VALUE_TRUE));
		put(o, "steps", number(p, budget_used(BUDGET_STEPS)));
		put(o, "tokens", number(p, budget_used(BUDGET_TOKENS)));
		event_send("state", o);
	}
	value_pool_free(p);
}

static void
state_late(struct loop_timer *t)
{
	(void)t;
	state_write(false);
	if (state_env.noted != NULL)
		state_env.noted();
}

void
state_noted(void (*noted)(void))
{
	state_env.noted = noted;
}

static void
state_changed(void)
{
	if (state_env.begun && state_env.timer.at == 0)
		loop_timer_set(
		    &sup.loop, &state_env.timer, STATE_MS, state_late, NULL);
}

void
state_all(void)
{
	loop_timer_clear(&sup.loop, &state_env.timer);
	state_write(true);
	state_env.begun = true;
	budget_watch(state_changed);
}

void
state_spent(void)
{
	if (!state_env.begun)
		return;
	loop_timer_clear(&sup.loop, &state_env.timer);
	state_write(false);
}
