/* SPDX-License-Identifier: ISC */
/*
 * Adds up what a session has used of its budget, from the reports of workers
 * and the clock. Counts only rise.
 */
#include "budget/priv.h"

#include <stdio.h>
#include <string.h>

#include "base/amount.h"
#include "common/log.h"
#include "core/sup.h"

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
	return amount_floor(budget_used(key));
}

/* Tell the person that the model has no price of its own. */
static void
budget_unpriced(const struct budget_model *m)
{
	const char *as = m->how == PRICE_FAMILY
			     ? "the dearest model of its family"
			     : "a model of no family that is known";

	if (m->how != PRICE_OWN)
		sup_warn("model %s has no price of its own: it is counted as "
			 "%s (%s: %.15g USD in, %.15g out for a million "
			 "tokens); if that is wrong, add a row to "
			 "%s/prices.json",
		    m->name, as, m->price->model, m->price->set.in,
		    m->price->set.out, sup.paths.home);
}

/* Find the model's price: the highest, if the provider has several hosts. */
static void
budget_price(struct budget_model *m, const char *name)
{
	const struct provider *p = &sup.providers.list[m->provider];
	const struct prices *all = &budget_env.prices;
	const struct config_upstream *up;
	const struct price *price;
	enum price_how how;
	const char *host;

	for (unsigned k = 0; k < p->nhosts; k++) {
		up = config_upstream_of(p->config, k, p->hosts[k]);
		host = up != NULL ? up->host : p->hosts[k];
		price = prices_find(all, host, name, &how);
		if (price_dearer(price, m->price)) {
			m->price = price;
			m->how = how;
		}
		m->regional |= prices_regional(all, host);
	}
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
	budget_price(m, name);
	budget_unpriced(m);
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
budget_changed(void)
{
	if (budget_env.changed != NULL)
		budget_env.changed();
}

/*
 * Take the counts of a report. They never fall; the tier, the speed and the
 * place are those of the last one.
 */
static void
budget_take(struct price_use *sum, struct price_use *all,
    const struct msg_USAGE_SHOW *u)
{
	all->in += budget_rise(&sum->in, u->in);
	all->out += budget_rise(&sum->out, u->out);
	all->cache_read += budget_rise(&sum->cache_read, u->cache_read);
	all->cache_write += budget_rise(&sum->cache_write, u->cache_write);
	all->reasoning += budget_rise(&sum->reasoning, u->reasoning);
	(void)budget_rise(&sum->cache_write_1h, u->cache_write_1h);
	(void)budget_rise(&sum->audio_in, u->audio_in);
	(void)budget_rise(&sum->audio_out, u->audio_out);
	(void)budget_rise(&sum->searches, u->searches);
	(void)budget_rise(&sum->cost, u->cost);
	/* The messages come from a parser: a part is no more than the whole. */
	if (sum->cache_write_1h > sum->cache_write)
		sum->cache_write_1h = sum->cache_write;
	if (sum->audio_in > sum->in)
		sum->audio_in = sum->in;
	if (sum->audio_out > sum->out)
		sum->audio_out = sum->out;
	sum->tier = u->tier;
	sum->fast = u->fast != 0;
	sum->regional = u->regional != 0;
}

/*
 * Add what the answer has cost since its last report. The price depends on the
 * whole answer, so that the whole is weighed each time.
 */
static void
budget_add(struct budget_model *m, struct budget_live *l, const struct price *p)
{
	double tokens = price_tokens(p, &l->sum), usd = price_usd(p, &l->sum);

	if (tokens > l->tokens) {
		m->tokens += tokens - l->tokens;
		l->tokens = tokens;
	}
	if (usd > l->usd) {
		m->usd += usd - l->usd;
		l->usd = usd;
	}
}

/* Say once for each provider that its answers are counted by their size. */
static void
budget_told(const struct msg_USAGE_SHOW *u)
{
	struct budget_env *b = &budget_env;
	const char *name = sup.providers.list[u->provider].name;

	if (u->said == PROTO_SAID_SILENT && !b->silent[u->provider]) {
		b->silent[u->provider] = true;
		sup_warn("%s reports no usage: counted by size", name);
	} else if (u->said == PROTO_SAID_ENDED && !b->ended[u->provider]) {
		b->ended[u->provider] = true;
		sup_note("an answer of %s ended before its usage: counted by "
			 "size, like all such answers",
		    name);
	}
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
		if (l->stream == u->stream && l->exchange == u->exchange &&
		    l->message == u->message)
			break;
	if (l != NULL) {
		TAILQ_REMOVE(budget_ages_of(l), l, age);
	} else {
		l = budget_live_new();
		*l = (struct budget_live){.stream = u->stream,
		    .exchange = u->exchange,
		    .message = u->message};
		LIST_INSERT_HEAD(row, l, row);
	}
	l->last = l->last || u->last != 0;
	TAILQ_INSERT_TAIL(budget_ages_of(l), l, age);
	return l;
}

void
budget_charge(const struct msg_USAGE_SHOW *u)
{
	struct budget_live *l = budget_live_of(u);
	struct budget_model *m;
	char name[132];

	log_vis_again(u->model, name, sizeof(name));
	for (char *p = name; (p = strpbrk(p, "\"\\")) != NULL;)
		*p = '_';
	m = budget_model_of(u->provider, name[0] != '\0' ? name : "unknown");
	budget_take(&l->sum, &m->sum, u);
	l->sum.regional |= m->regional;
	budget_add(m, l, m->price);
	m->answers += u->last;
	m->estimated += u->last != 0 && u->said != PROTO_SAID_MEASURED;
	if (u->last != 0)
		budget_told(u);
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
