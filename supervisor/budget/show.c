/* SPDX-License-Identifier: ISC */
/* Shows the budget: as JSON for icctl, as text for Prometheus. */
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "budget/priv.h"
#include "core/sup.h"
#include "hub/approvals.h"

static void
put(struct json_object *o, const char *key, uint64_t n)
{
	put_int(o, key, (int64_t)n);
}

static void
put_double(struct json_object *o, const char *key, double d)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", d);
	json_object_object_add(o, key, json_object_new_double_s(d, text));
}

/* Answers per minute, over the whole session. */
static double
budget_rate(uint64_t answers)
{
	double minutes = budget_used(BUDGET_SECONDS) / 60;

	return minutes < 1.0 / 60 ? 0 : (double)answers / minutes;
}

static struct json_object *
budget_model_json(const struct budget_model *m)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "model", m->name);
	put_str(o, "provider",
	    m->provider < sup.providers.n ? sup.providers.list[m->provider].name
					  : "unknown");
	put(o, "in", m->sum.in);
	put(o, "out", m->sum.out);
	put(o, "cacheRead", m->sum.cache_read);
	put(o, "cacheWrite", m->sum.cache_write);
	put(o, "reasoning", m->sum.reasoning);
	put(o, "requests", m->answers);
	put_double(o, "requestsPerMinute", budget_rate(m->answers));
	put_double(o, "usd", m->usd);
	put_bool(o, "priced", m->how == PRICE_OWN);
	if (m->price != NULL && m->how != PRICE_OWN)
		put_str(o, "pricedAs", m->price->model);
	if (m->estimated != 0)
		put(o, "estimated", m->estimated);
	return o;
}

struct json_object *
budget_json(void)
{
	const struct budget_env *b = &budget_env;
	struct json_object *o = json_object_new_object(), *limits, *row, *list;
	uint64_t requests = 0, sent = 0, received = 0;
	const char *sid;

	limits = json_object_new_object();
	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		row = json_object_new_object();
		put_double(row, "used", budget_used((enum budget_key)i));
		if (b->limits.on[i])
			put_double(row, "max", b->limits.max[i]);
		else
			json_object_object_add(row, "max", NULL);
		sid = b->asks[i].id != 0 ? approvals_sid_of(b->asks[i].id)
					 : NULL;
		if (sid != NULL)
			put_str(row, "pending", sid);
		json_object_object_add(
		    limits, budget_name((enum budget_key)i), row);
	}
	json_object_object_add(o, "limits", limits);
	put(o, "warnThresholdPercent", b->limits.warn);
	for (unsigned i = 0; i < sup.providers.n; i++) {
		requests += b->keys[i].requests;
		sent += b->keys[i].sent;
		received += b->keys[i].received;
	}
	put(o, "toolCalls", b->calls);
	put(o, "modelTurns", budget_turns());
	put(o, "requests", requests);
	put(o, "bytesSent", sent);
	put(o, "bytesReceived", received);
	list = json_object_new_array();
	for (unsigned i = 0; i < b->nmodels; i++)
		json_object_array_add(list, budget_model_json(&b->models[i]));
	json_object_object_add(o, "models", list);
	return o;
}

static void
metric_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP ironcurtain_%s %s\n# TYPE ironcurtain_%s %s\n",
	    name, help, name, type);
}

static void
metric_tokens(struct buf *b, const struct budget_model *m)
{
	const struct {
		const char *kind;
		uint64_t n;
	} rows[] = {
	    {"input", m->sum.in},
	    {"output", m->sum.out},
	    {"cache_read", m->sum.cache_read},
	    {"cache_write", m->sum.cache_write},
	    {"reasoning", m->sum.reasoning},
	};

	/* Names are printable; quotes and backslashes were replaced. */
	for (size_t i = 0; i < nitems(rows); i++)
		buf_printf(b,
		    "ironcurtain_tokens_total{provider=\"%s\",model=\"%s\","
		    "kind=\"%s\"} %llu\n",
		    sup.providers.list[m->provider].name, m->name, rows[i].kind,
		    (unsigned long long)rows[i].n);
}

static void
metric_model(
    struct buf *b, const char *name, const struct budget_model *m, double n)
{
	buf_printf(b,
	    "ironcurtain_%s{provider=\"%s\",model=\"%s\"} %.15g\n", name,
	    sup.providers.list[m->provider].name, m->name, n);
}

static void
metric_models(struct buf *b)
{
	const struct budget_model *all = budget_env.models;
	const unsigned n = budget_env.nmodels;

	metric_head(b, "tokens_total", "counter",
	    "Tokens that answers named; reasoning is a part of output.");
	for (unsigned i = 0; i < n; i++)
		metric_tokens(b, &all[i]);
	metric_head(b, "cost_usd_total", "counter",
	    "Estimated cost, by the price file.");
	for (unsigned i = 0; i < n; i++)
		metric_model(b, "cost_usd_total", &all[i], all[i].usd);
	metric_head(b, "answers_total", "counter",
	    "Answers that named what they cost.");
	for (unsigned i = 0; i < n; i++)
		metric_model(
		    b, "answers_total", &all[i], (double)all[i].answers);
}

static void
metric_keys(struct buf *b)
{
	static const struct {
		const char *name, *help;
		size_t at;
	} rows[] = {
	    {"requests_total", "Requests that a keyd began.",
		offsetof(struct msg_SPENT, requests)},
	    {"turns_total", "Of them, those that start a model's turn.",
		offsetof(struct msg_SPENT, turns)},
	    {"sent_bytes_total", "Body bytes to the provider.",
		offsetof(struct msg_SPENT, sent)},
	    {"received_bytes_total", "Body bytes from the provider.",
		offsetof(struct msg_SPENT, received)},
	};
	uint64_t n;

	for (size_t r = 0; r < nitems(rows); r++) {
		metric_head(b, rows[r].name, "counter", rows[r].help);
		for (unsigned i = 0; i < sup.providers.n; i++) {
			memcpy(&n,
			    (const char *)&budget_env.keys[i] + rows[r].at,
			    sizeof(n));
			buf_printf(b, "ironcurtain_%s{provider=\"%s\"} %llu\n",
			    rows[r].name, sup.providers.list[i].name,
			    (unsigned long long)n);
		}
	}
}

void
budget_metrics(struct buf *b)
{
	const struct budget_env *e = &budget_env;

	metric_models(b);
	metric_keys(b);
	metric_head(b, "tool_calls_total", "counter", "Tool calls of agents.");
	buf_printf(b, "ironcurtain_tool_calls_total %llu\n",
	    (unsigned long long)e->calls);
	metric_head(b, "budget_used", "gauge", "Used of a resourceBudget key.");
	for (unsigned i = 0; i < BUDGET_KEYS; i++)
		buf_printf(b, "ironcurtain_budget_used{key=\"%s\"} %.9g\n",
		    budget_name((enum budget_key)i),
		    budget_used((enum budget_key)i));
	metric_head(b, "budget_limit", "gauge", "Its limit; none when null.");
	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		if (e->limits.on[i])
			buf_printf(b,
			    "ironcurtain_budget_limit{key=\"%s\"} %.15g\n",
			    budget_name((enum budget_key)i), e->limits.max[i]);
	}
}
