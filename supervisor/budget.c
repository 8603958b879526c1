/* SPDX-License-Identifier: ISC */
/*
 * The budget of a session: adds up, warns, and tells keyds and policyd how much
 * is left. Workers' counts can only rise, and no worker can lower another's.
 */
#include "budget_priv.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "control/control.h"
#include "sup.h"

struct budget_env budget_env;

int
budget_open(const struct budget_limits *limits, const struct paths *paths,
    struct fault *fault)
{
	struct budget_env *b = &budget_env;

	b->limits = *limits;
	TAILQ_INIT(&b->going);
	TAILQ_INIT(&b->finished);
	return prices_load(&b->prices, paths, fault);
}

uint64_t
budget_turns(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < sup.providers.n; i++)
		n += budget_env.keys[i].turns;
	return n;
}

/* Returns the milliseconds of the session in which no call was pending. */
static uint64_t
budget_elapsed(void)
{
	const struct budget_env *b = &budget_env;
	uint64_t now;

	if (!b->started)
		return 0;
	now = b->since != 0 ? b->since : loop_now(&sup.loop);
	return now - b->began - b->waited;
}

double
budget_used(enum budget_key key)
{
	const struct budget_env *b = &budget_env;
	double n = 0;

	switch (key) {
	case BUDGET_STEPS:
		return (double)(b->calls + budget_turns());
	case BUDGET_SECONDS:
		return (double)budget_elapsed() / 1000;
	case BUDGET_TOKENS:
	case BUDGET_USD:
	case BUDGET_KEYS:
		break;
	}
	for (unsigned i = 0; i < b->nmodels; i++)
		n += key == BUDGET_USD ? b->models[i].usd : b->models[i].tokens;
	return n;
}

static bool
budget_exceeded(enum budget_key key)
{
	const struct budget_limits *l = &budget_env.limits;

	return l->on[key] && budget_used(key) >= l->max[key];
}

/* The text for a request that is refused because this limit is reached. */
static struct span
budget_text(enum budget_key key, char *dst, size_t cap)
{
	const struct budget_limits *l = &budget_env.limits;

	snprintf(dst, cap,
	    "The session's budget of %.15g %s (resourceBudget.%s) is used up. "
	    "The user can raise it: icctl budget set %s %.15g",
	    l->max[key], budget_unit(key), budget_name(key), budget_name(key),
	    l->max[key] > 0 ? 2 * l->max[key] : 1);
	return span_str(dst);
}

static uint64_t
budget_steps_left(void)
{
	double left;

	if (!budget_env.limits.on[BUDGET_STEPS])
		return UINT64_MAX;
	left = budget_env.limits.max[BUDGET_STEPS] - budget_used(BUDGET_STEPS);
	return left > 0 ? (uint64_t)left : 0;
}

static uint64_t
budget_ms_left(void)
{
	double left;

	if (!budget_env.limits.on[BUDGET_SECONDS] || budget_env.since != 0)
		return UINT64_MAX;
	left =
	    budget_env.limits.max[BUDGET_SECONDS] - budget_used(BUDGET_SECONDS);
	return left > 0 ? (uint64_t)(left * 1000) : 0;
}

/* Tell each worker its new limit: its own count plus what is left. */
static void
budget_push(void)
{
	struct budget_env *b = &budget_env;
	char steps[512], ms[512], spent[512] = "";
	uint64_t left = budget_steps_left();
	struct msg_BUDGET_CALLS calls = {
	    .calls = left == UINT64_MAX ? left : b->calls + left,
	    .ms = budget_ms_left(),
	    .calls_text = budget_text(BUDGET_STEPS, steps, sizeof(steps)),
	    .ms_text = budget_text(BUDGET_SECONDS, ms, sizeof(ms))};
	struct msg_BUDGET m = {.ms = calls.ms,
	    .turns_text = calls.calls_text,
	    .ms_text = calls.ms_text};

	if (budget_exceeded(BUDGET_TOKENS))
		budget_text(BUDGET_TOKENS, spent, sizeof(spent));
	else if (budget_exceeded(BUDGET_USD))
		budget_text(BUDGET_USD, spent, sizeof(spent));
	m.spent_text = span_str(spent);
	for (unsigned i = 0; i < sup.providers.n; i++) {
		m.turns = left == UINT64_MAX ? left : b->keys[i].turns + left;
		child_send(ROLE_KEY, i, MSG_BUDGET, &m, -1);
	}
	child_send(ROLE_POLICY, 0, MSG_BUDGET_CALLS, &calls, -1);
}

static void
budget_tell(enum budget_key key, bool over)
{
	const struct budget_limits *l = &budget_env.limits;
	char text[512];

	if (over)
		budget_text(key, text, sizeof(text));
	else
		snprintf(text, sizeof(text),
		    "%.15g of %.15g %s (resourceBudget.%s) are used up",
		    (double)(uint64_t)(budget_used(key) * 100) / 100,
		    l->max[key], budget_unit(key), budget_name(key));
	sup_warn("%s", text);
	control_budget(budget_name(key), over, text);
	event_budget(over ? "used up" : "warning", budget_name(key), text);
}

static void
budget_mark(struct loop_timer *t)
{
	(void)t;
	/* budget_look() sets the timer for the next mark, if there is one. */
	budget_usage(NULL);
}

/*
 * Set the timer for the next mark of maxSessionSeconds, which no message
 * announces.
 */
static void
budget_arm(void)
{
	struct budget_env *b = &budget_env;
	double used = budget_used(BUDGET_SECONDS), at;

	loop_timer_clear(&sup.loop, &b->timer);
	if (!b->started || !b->limits.on[BUDGET_SECONDS] || b->since != 0)
		return;
	at = b->limits.max[BUDGET_SECONDS];
	if (!b->warned[BUDGET_SECONDS])
		at = at * b->limits.warn / 100;
	else if (b->over[BUDGET_SECONDS])
		return;
	loop_timer_set(&sup.loop, &b->timer,
	    at > used ? (uint64_t)((at - used) * 1000) + 1 : 1, budget_mark,
	    NULL);
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
			spent |= key == BUDGET_TOKENS || key == BUDGET_USD;
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

static struct budget_model *
budget_model_of(unsigned provider, const char *name)
{
	struct budget_env *b = &budget_env;
	struct budget_model *m;

	for (unsigned i = 0; i < b->nmodels; i++) {
		m = &b->models[i];
		if (m->provider == provider && strcmp(m->name, name) == 0)
			return m;
	}
	/* The last row counts all further models. */
	if (b->nmodels == BUDGET_MODELS)
		return &b->models[BUDGET_MODELS - 1];
	m = &b->models[b->nmodels++];
	m->provider = provider;
	snprintf(m->name, sizeof(m->name), "%s",
	    b->nmodels == BUDGET_MODELS ? "others" : name);
	return m;
}

/*
 * Returns the increase since the last report, and updates `*old`. The count
 * never falls.
 */
static uint64_t
budget_rise(uint64_t *old, uint64_t now)
{
	uint64_t rise = now > *old ? now - *old : 0;

	*old += rise;
	return rise;
}

static void
budget_show(struct loop_timer *t)
{
	(void)t;
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

/*
 * Add the cost of an answer since its last report. Cached tokens are weighted
 * by their price relative to other input, or count in full if the model has no
 * price.
 */
static void
budget_add(
    struct budget_model *m, const struct budget_sum *d, const struct price *p)
{
	double read = (double)d->cache_read, write = (double)d->cache_write;

	m->sum.in += d->in;
	m->sum.out += d->out;
	m->sum.cache_read += d->cache_read;
	m->sum.cache_write += d->cache_write;
	m->sum.reasoning += d->reasoning;
	if (p != NULL) {
		m->priced = true;
		m->usd += ((double)d->in * p->in + (double)d->out * p->out +
			      read * p->cache_read + write * p->cache_write) /
			  1e6;
	}
	if (p != NULL && p->in > 0) {
		read *= p->cache_read / p->in;
		write *= p->cache_write / p->in;
	}
	m->tokens += (double)d->in + (double)d->out + read + write;
}

static struct budget_ages *
budget_ages_of(const struct budget_live *l)
{
	return l->last ? &budget_env.finished : &budget_env.going;
}

/*
 * Returns an unused entry. If there is none, the oldest answer that is over is
 * forgotten, or else the oldest of all.
 */
static struct budget_live *
budget_live_new(void)
{
	struct budget_env *b = &budget_env;
	struct budget_live *l;

	if (b->nlive < BUDGET_LIVE)
		return &b->pool[b->nlive++];
	if ((l = TAILQ_FIRST(&b->finished)) == NULL)
		l = TAILQ_FIRST(&b->going);
	TAILQ_REMOVE(budget_ages_of(l), l, age);
	LIST_REMOVE(l, row);
	return l;
}

/* Returns the entry for this answer. */
static struct budget_live *
budget_live_of(const struct msg_USAGE_SHOW *u)
{
	struct budget_row *row = &budget_env.live[u->stream % BUDGET_ROWS];
	struct budget_live *l;

	LIST_FOREACH (l, row, row)
		if (l->stream == u->stream && l->exchange == u->exchange)
			break;
	if (l != NULL) {
		TAILQ_REMOVE(budget_ages_of(l), l, age);
	} else {
		l = budget_live_new();
		*l = (struct budget_live){
		    .stream = u->stream, .exchange = u->exchange};
		LIST_INSERT_HEAD(row, l, row);
	}
	l->last = l->last || u->last != 0;
	TAILQ_INSERT_TAIL(budget_ages_of(l), l, age);
	return l;
}

static void
budget_charge(const struct msg_USAGE_SHOW *u)
{
	struct budget_env *b = &budget_env;
	struct budget_live *l = budget_live_of(u);
	struct budget_model *m;
	struct budget_sum d;
	char name[132];

	log_vis_again(u->model, name, sizeof(name));
	for (char *p0 = name; *p0 != '\0'; p0++) {
		if (*p0 == '"' || *p0 == '\\')
			*p0 = '_';
	}
	m = budget_model_of(u->provider, name[0] != '\0' ? name : "unknown");
	d.in = budget_rise(&l->sum.in, u->in);
	d.out = budget_rise(&l->sum.out, u->out);
	d.cache_read = budget_rise(&l->sum.cache_read, u->cache_read);
	d.cache_write = budget_rise(&l->sum.cache_write, u->cache_write);
	d.reasoning = budget_rise(&l->sum.reasoning, u->reasoning);
	budget_add(m, &d, prices_find(&b->prices, name));
	m->answers += u->last;
	if (u->last != 0)
		budget_show_soon();
}

void
budget_usage(const struct msg_USAGE_SHOW *u)
{
	if (u != NULL)
		budget_charge(u);
	if (budget_look())
		budget_push();
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
	(void)budget_look();
	/* The others have less left now. */
	if (turns != 0 && budget_env.limits.on[BUDGET_STEPS])
		budget_push();
}

void
budget_calls(uint64_t calls)
{
	if (budget_rise(&budget_env.calls, calls) == 0)
		return;
	(void)budget_look();
	if (budget_env.limits.on[BUDGET_STEPS])
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
	if (!b->limits.on[BUDGET_SECONDS])
		return;
	budget_arm();
	budget_push();
}

void
budget_change(enum budget_key key, bool on, double max)
{
	struct budget_env *b = &budget_env;
	char text[160];

	b->limits.on[key] = on;
	if (on)
		b->limits.max[key] = max;
	b->warned[key] = b->over[key] = false;
	if (on)
		snprintf(text, sizeof(text), "%.15g", max);
	else
		snprintf(text, sizeof(text), "null");
	event_budget("set", budget_name(key), text);
	(void)budget_look();
	budget_push();
}
