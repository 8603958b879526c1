/* SPDX-License-Identifier: ISC */
/*
 * Adds up what a session has used of its budget, from the reports of workers
 * and the clock. Counts only rise.
 */
#include "budget/priv.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "sup.h"

struct budget_env budget_env;

uint64_t
budget_turns(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < sup.providers.n; i++)
		n += budget_env.keys[i].turns;
	return n;
}

uint64_t
budget_elapsed(void)
{
	const struct budget_env *b = &budget_env;
	uint64_t now;

	if (!b->started)
		return b->base.ms;
	now = b->since != 0 ? b->since : loop_now(&sup.loop);
	return b->base.ms + now - b->began - b->waited;
}

double
budget_used(enum budget_key key)
{
	const struct budget_env *b = &budget_env;
	double n = 0;

	switch (key) {
	case BUDGET_STEPS:
		return (double)(b->base.steps + b->calls + budget_turns());
	case BUDGET_SECONDS:
		return (double)budget_elapsed() / 1000;
	case BUDGET_TURN:
		return b->turning ? (double)(budget_elapsed() - b->turn) / 1000
				  : 0;
	case BUDGET_TURN_TOKENS:
	case BUDGET_TURN_STEPS:
	case BUDGET_TURN_USD:
		return b->turning ? budget_used(budget_of_session(key)) -
					b->turn_base[key]
				  : 0;
	case BUDGET_TOKENS:
	case BUDGET_USD:
	case BUDGET_KEYS:
		break;
	}
	n = key == BUDGET_USD ? b->base.usd : b->base.tokens;
	for (unsigned i = 0; i < b->nmodels; i++)
		n += key == BUDGET_USD ? b->models[i].usd : b->models[i].tokens;
	return n;
}

double
budget_shown(enum budget_key key)
{
	return (double)(uint64_t)(budget_used(key) * 100) / 100;
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

uint64_t
budget_rise(uint64_t *old, uint64_t now)
{
	uint64_t rise = now > *old ? now - *old : 0;

	*old += rise;
	return rise;
}

void
budget_weigh(const struct budget_sum *d, const struct price *p, double *tokens,
    double *usd)
{
	double read = (double)d->cache_read, write = (double)d->cache_write;

	if (p != NULL)
		*usd += ((double)d->in * p->in + (double)d->out * p->out +
			    read * p->cache_read + write * p->cache_write) /
			1e6;
	if (p != NULL && p->in > 0) {
		read *= p->cache_read / p->in;
		write *= p->cache_write / p->in;
	}
	*tokens += (double)d->in + (double)d->out + read + write;
}

void
budget_changed(void)
{
	if (budget_env.changed != NULL)
		budget_env.changed();
}

/* Add the cost of an answer since its last report. */
static void
budget_add(struct budget_model *m, struct budget_live *l,
    const struct budget_sum *d, const struct price *p)
{
	m->sum.in += d->in;
	m->sum.out += d->out;
	m->sum.cache_read += d->cache_read;
	m->sum.cache_write += d->cache_write;
	m->sum.reasoning += d->reasoning;
	m->priced = m->priced || p != NULL;
	budget_weigh(d, p, &m->tokens, &m->usd);
	budget_weigh(d, p, &l->tokens, &l->usd);
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
	if ((l = TAILQ_FIRST(&b->finished)) == NULL) {
		l = TAILQ_FIRST(&b->going);
		b->lost_tokens += l->tokens;
		b->lost_usd += l->usd;
	}
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

void
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
	budget_add(m, l, &d, prices_find(&b->prices, name));
	m->answers += u->last;
}

void
budget_open_answers(double *tokens, double *usd)
{
	const struct budget_env *b = &budget_env;
	const struct budget_live *l;

	*tokens = b->lost_tokens;
	*usd = b->lost_usd;
	TAILQ_FOREACH (l, &b->going, age) {
		*tokens += l->tokens;
		*usd += l->usd;
	}
}
