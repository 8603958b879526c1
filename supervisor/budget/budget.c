/* SPDX-License-Identifier: ISC */
/*
 * The limits of a session: warns, asks, tells keyds and policyd how much is
 * left, and ends the session when its time is up. Workers' counts can only
 * rise, and no worker can lower another's.
 */
#include "budget/budget.h"

#include "budget/priv.h"

#include <stdio.h>
#include <string.h>

#include "box/timeup.h"
#include "core/sup.h"
#include "hub/approvals.h"
#include "hub/control.h"

int
budget_open(const struct budget_limits *limits, const struct paths *paths,
    struct fault *fault)
{
	struct budget_env *b = &budget_env;

	b->limits = *limits;
	for (unsigned i = 0; i < BUDGET_KEYS; i++)
		b->step[i] = limits->on[i] ? limits->max[i] : 0;
	TAILQ_INIT(&b->going);
	TAILQ_INIT(&b->finished);
	return prices_load(&b->prices, paths, fault);
}

const struct prices *
budget_prices(void)
{
	return &budget_env.prices;
}

static bool
budget_exceeded(enum budget_key key)
{
	const struct budget_limits *l = &budget_env.limits;

	if (budget_is_turn(key) && !budget_env.turning)
		return false;
	return l->on[key] && budget_used(key) >= l->max[key];
}

static bool
budget_is_time(enum budget_key key)
{
	return key == BUDGET_SECONDS || key == BUDGET_TURN;
}

/* Returns true if the limit ends the turn, and the session goes on. */
static bool
budget_ends_turn(enum budget_key key)
{
	return budget_is_turn(key) && budget_env.turn_ends != NULL;
}

/* The text for a request that is refused because this limit is reached. */
static struct span
budget_text(enum budget_key key, char *dst, size_t cap)
{
	const struct budget_limits *l = &budget_env.limits;
	const char *of = budget_is_turn(key) ? "turn" : "session";
	bool turn = budget_ends_turn(key);
	double used = budget_used(key), more;

	/* Twice the limit may be used up, too. */
	more = l->max[key] > 0 ? 2 * l->max[key] : 1;
	if (more <= used)
		more = 2 * used;
	if (budget_is_time(key))
		snprintf(dst, cap,
		    "The %s's time of %.15g seconds (resourceBudget.%s) is "
		    "used up, and the %s ends. Work in /workspace is "
		    "kept. The user can raise that limit in config.json, or "
		    "before it is reached with: icctl budget set %s %.15g",
		    of, l->max[key], budget_name(key),
		    turn ? "turn" : "session", budget_name(key), more);
	else
		snprintf(dst, cap,
		    "The %s's budget of %.15g %s (resourceBudget.%s) is "
		    "used up%s. The user can raise it: icctl budget set %s "
		    "%.15g",
		    of, l->max[key], budget_unit(key, l->max[key]),
		    budget_name(key), turn ? ", and the turn ends" : "",
		    budget_name(key), more);
	return span_str(dst);
}

bool
budget_refusal_text(char *why, size_t cap)
{
	static const enum budget_key keys[] = {
	    BUDGET_TOKENS, BUDGET_STEPS, BUDGET_USD};

	for (size_t i = 0; i < nitems(keys); i++)
		if (budget_exceeded(keys[i])) {
			(void)budget_text(keys[i], why, cap);
			return true;
		}
	return false;
}

static uint64_t
budget_left(enum budget_key key)
{
	double left;

	if (!budget_env.limits.on[key] ||
	    (budget_is_turn(key) && !budget_env.turning))
		return UINT64_MAX;
	left = budget_env.limits.max[key] - budget_used(key);
	return left > 0 ? (uint64_t)left : 0;
}

/* Returns how many steps are left, and the limit that is reached next. */
static uint64_t
budget_steps_left(enum budget_key *key)
{
	uint64_t turn = budget_left(BUDGET_TURN_STEPS);
	uint64_t session = budget_left(BUDGET_STEPS);

	*key = turn < session ? BUDGET_TURN_STEPS : BUDGET_STEPS;
	return turn < session ? turn : session;
}

/* Returns true if the workers count down steps. */
static bool
budget_counts_steps(void)
{
	return budget_env.limits.on[BUDGET_STEPS] ||
	       budget_env.limits.on[BUDGET_TURN_STEPS];
}

/* Returns the limit of time that is reached next. */
static enum budget_key
budget_clock(void)
{
	const struct budget_limits *l = &budget_env.limits;

	if (!l->on[BUDGET_TURN] || !budget_env.turning)
		return BUDGET_SECONDS;
	if (!l->on[BUDGET_SECONDS])
		return BUDGET_TURN;
	return l->max[BUDGET_TURN] - budget_used(BUDGET_TURN) <
		       l->max[BUDGET_SECONDS] - budget_used(BUDGET_SECONDS)
		   ? BUDGET_TURN
		   : BUDGET_SECONDS;
}

static uint64_t
budget_ms_left(void)
{
	enum budget_key key = budget_clock();
	double left;

	if (!budget_env.limits.on[key] || budget_env.since != 0)
		return UINT64_MAX;
	left = budget_env.limits.max[key] - budget_used(key);
	return left > 0 ? (uint64_t)(left * 1000) : 0;
}

/* A worker's new limit is its own count plus what is left. */
void
budget_push(void)
{
	static const enum budget_key spendable[] = {BUDGET_TOKENS, BUDGET_USD,
	    BUDGET_TURN_TOKENS, BUDGET_TURN_USD};
	struct budget_env *b = &budget_env;
	char steps[512], ms[512], spent[512] = "";
	enum budget_key key;
	uint64_t left = budget_steps_left(&key);
	struct msg_BUDGET_CALLS calls = {
	    .calls = left == UINT64_MAX ? left : b->calls + left,
	    .ms = budget_ms_left(),
	    .calls_text = budget_text(key, steps, sizeof(steps)),
	    .ms_text = budget_text(budget_clock(), ms, sizeof(ms))};
	struct msg_BUDGET m = {.ms = calls.ms,
	    .turns_text = calls.calls_text,
	    .ms_text = calls.ms_text};

	for (size_t i = 0; i < nitems(spendable) && spent[0] == '\0'; i++)
		if (budget_exceeded(spendable[i]))
			budget_text(spendable[i], spent, sizeof(spent));
	m.spent_text = span_str(spent);
	for (unsigned i = 0; i < sup.providers.n; i++) {
		m.turns = left == UINT64_MAX ? left : b->keys[i].turns + left;
		child_send(ROLE_KEY, i, MSG_BUDGET, &m, -1);
	}
	child_send(ROLE_POLICY, 0, MSG_BUDGET_CALLS, &calls, -1);
	budget_shares();
}

/* Report that a limit is reached, or nearly, and ask whether to raise it. */
static void
budget_tell(enum budget_key key, bool over)
{
	const struct budget_limits *l = &budget_env.limits;
	bool ends = budget_is_time(key) || budget_ends_turn(key);
	bool asked = !(over && ends) && budget_ask(key);
	char text[512];

	if (over)
		budget_text(key, text, sizeof(text));
	else
		snprintf(text, sizeof(text),
		    "%.15g of %.15g %s (resourceBudget.%s) are used up",
		    budget_shown(key), l->max[key],
		    budget_unit(key, l->max[key]), budget_name(key));
	/* The question says the same. */
	if (asked && !over)
		sup_note("%s", text);
	else
		sup_warn("%s", text);
	control_budget(budget_name(key), over, text);
	event_budget(over ? "used up" : "warning", budget_name(key), text);
	if (over && budget_ends_turn(key))
		budget_env.turn_ends(text);
	else if (over && budget_is_time(key))
		timeup_begin(text);
}

static void
budget_mark(struct loop_timer *t)
{
	/* budget_look() sets the timer for the next mark, if there is one. */
	budget_usage(NULL);
}

/* Returns the ms until this limit's next mark, or 0 if there is none. */
static uint64_t
budget_next(enum budget_key key)
{
	const struct budget_env *b = &budget_env;
	double used = budget_used(key), at = b->limits.max[key];

	if (!b->limits.on[key] || b->over[key] ||
	    (key == BUDGET_TURN && !b->turning))
		return 0;
	if (!b->warned[key])
		at = at * b->limits.warn / 100;
	return at > used ? (uint64_t)((at - used) * 1000) + 1 : 1;
}

/* No message announces that a time is over. */
void
budget_arm(void)
{
	struct budget_env *b = &budget_env;
	uint64_t next, turn;

	loop_timer_clear(&sup.loop, &b->timer);
	if (!b->started || b->since != 0)
		return;
	next = budget_next(BUDGET_SECONDS);
	turn = budget_next(BUDGET_TURN);
	if (next == 0 || (turn != 0 && turn < next))
		next = turn;
	if (next != 0)
		loop_timer_set(&sup.loop, &b->timer, next, budget_mark, NULL);
}

/*
 * Report limits that were reached. Returns true if tokens or money have just
 * run out.
 */
static bool
budget_look(void)
{
	struct budget_env *b = &budget_env;
	bool spent = false;

	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		enum budget_key key = (enum budget_key)i;

		if (!b->limits.on[i])
			continue;
		if (!b->over[i] && budget_exceeded(key)) {
			b->over[i] = b->warned[i] = true;
			budget_tell(key, true);
			spent |= budget_of_session(key) == BUDGET_TOKENS ||
				 budget_of_session(key) == BUDGET_USD;
		} else if (!b->warned[i] && b->limits.max[i] > 0 &&
			   budget_used(key) * 100 >=
			       b->limits.max[i] * b->limits.warn) {
			b->warned[i] = true;
			budget_tell(key, false);
		}
	}
	budget_arm();
	return spent;
}

void
budget_start(void)
{
	budget_env.started = true;
	budget_env.began = loop_now(&sup.loop);
	budget_push();
	budget_arm();
}

static void
budget_show(struct loop_timer *t)
{
	control_usage();
}

/* Tell watchers about the answers of a whole second at once. */
static void
budget_show_soon(void)
{
	if (budget_env.show.at == 0)
		loop_timer_set(&sup.loop, &budget_env.show, BUDGET_SHOW_MS,
		    budget_show, NULL);
}

void
budget_usage(const struct msg_USAGE_SHOW *u)
{
	if (u != NULL)
		budget_charge(u);
	if (u != NULL && u->last != 0) {
		budget_show_soon();
		budget_changed();
	}
	if (budget_look())
		budget_push();
	if (u != NULL && u->last != 0)
		budget_settle(u);
	if (u != NULL)
		budget_shares();
}

void
budget_spent(unsigned provider, const struct msg_SPENT *m)
{
	struct msg_SPENT *k = &budget_env.keys[provider];
	uint64_t turns;

	turns = budget_rise(&k->turns, m->turns);
	(void)budget_rise(&k->requests, m->requests);
	(void)budget_rise(&k->sent, m->sent);
	(void)budget_rise(&k->received, m->received);
	budget_held(provider, m);
	(void)budget_look();
	if (turns != 0)
		budget_changed();
	/* The others have less left now. */
	if (turns != 0 && budget_counts_steps())
		budget_push();
}

void
budget_calls(uint64_t calls)
{
	if (budget_rise(&budget_env.calls, calls) == 0)
		return;
	budget_changed();
	(void)budget_look();
	if (budget_counts_steps())
		budget_push();
}

void
budget_waiting(bool waiting)
{
	struct budget_env *b = &budget_env;

	if (!b->started || waiting == (b->since != 0))
		return;
	if (waiting) {
		b->since = loop_now(&sup.loop);
	} else {
		b->waited += loop_now(&sup.loop) - b->since;
		b->since = 0;
	}
	budget_changed();
	if (!b->limits.on[BUDGET_SECONDS] && !b->limits.on[BUDGET_TURN])
		return;
	budget_arm();
	budget_push();
}

static void
budget_set(enum budget_key key, bool on, double max, const char *what)
{
	struct budget_env *b = &budget_env;
	char text[160];

	b->limits.on[key] = b->person[key] = on;
	if (on)
		b->limits.max[key] = max;
	budget_changed();
	b->warned[key] = b->over[key] = false;
	if (on)
		snprintf(text, sizeof(text), "%.15g", max);
	else
		snprintf(text, sizeof(text), "null");
	event_budget(what, budget_name(key), text);
	budget_ask_again(key);
	(void)budget_look();
	budget_push();
}

void
budget_change(enum budget_key key, bool on, double max)
{
	if (on)
		budget_env.step[key] = max;
	budget_set(key, on, max, "set");
}

void
budget_verdict(const struct msg_VERDICT_GO *m)
{
	enum budget_key key;

	if (!budget_ask_end(m, &key))
		return;
	if (m->approve != 0)
		budget_set(key, true, budget_env.asks[key].to, "raised");
	(void)approvals_end(m->id,
	    m->approve != 0 ? PROTO_HOLD_APPROVED : PROTO_HOLD_DENIED, false);
}
