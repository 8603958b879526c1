/* SPDX-License-Identifier: ISC */
/* Prints sums: as a table, as CSV, and as JSON with the names of ccusage. */
#include "icctl/past/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/json_put.h"
#include "common/plural.h"
#include "icctl/table.h"

#define OUT_KEY 37U /* bytes of a name */

/* The name of a group, of a list of them, and the heading of a table. */
static const struct {
	const char *key, *list, *heading;
} out_names[PAST_BYS] = {
    {"date", "daily", "DAY"},
    {"week", "weekly", "WEEK OF"},
    {"month", "monthly", "MONTH"},
    {"model", "models", "MODEL"},
    {"project", "projects", "PROJECT"},
    {"sessionId", "sessions", "SESSION"},
    {"agent", "agents", "AGENT"},
};

static uint64_t
all_tokens(const struct report_row *r)
{
	return r->in + r->out + r->cache_read + r->cache_write;
}

/* Returns the text that a table shows for a key: a path has ~. */
static const char *
out_key(const struct past_sums *u, const char *key, char shown[ICCTL_PATH])
{
	return u->by == PAST_PROJECT ? icctl_path(key, shown) : key;
}

static void
put_sum(struct table *t, const char *key, const struct past_sum *s)
{
	const double usd = (double)s->all.micro_usd / 1e6;
	const uint64_t counts[] = {s->sessions, s->all.answers, s->all.in,
	    s->all.out, s->all.cache_read, s->all.cache_write};
	const size_t n = strlen(key);
	char text[OUT_KEY + 4];

	/* The end of a path says more than its beginning. */
	if (n > OUT_KEY)
		key += n - OUT_KEY;
	while (n > OUT_KEY && ((unsigned char)*key & 0xc0) == 0x80)
		key++;
	snprintf(text, sizeof(text), "%s%s", n > OUT_KEY ? "..." : "", key);
	table_text(t, span_str(text), sizeof(text));
	for (size_t i = 0; i < nitems(counts); i++)
		table_print(t, "%llu", (unsigned long long)counts[i]);
	table_print(t, "%.*f", amount_places(usd, 2), usd);
}

void
past_put_table(const struct past_sums *u)
{
	const struct table_column columns[] = {
	    {out_names[u->by].heading, false}, {"SESSIONS", true},
	    {"ANSWERS", true}, {"IN", true}, {"OUT", true}, {"CACHED", true},
	    {"WRITTEN", true}, {"USD", true}};
	const struct report_row *all = &u->total.all;
	char shown[ICCTL_PATH];
	struct table t;

	if (u->n == 0) {
		puts("there is no usage in these sessions");
		return;
	}
	table_begin(&t, columns, nitems(columns));
	for (size_t i = 0; i < u->n; i++)
		put_sum(&t, out_key(u, u->groups[i].key, shown), &u->groups[i]);
	put_sum(&t, "all", &u->total);
	table_put(&t);
	table_free(&t);
	if (all->failed != 0)
		printf("%llu request%s to models failed\n",
		    (unsigned long long)all->failed, plural(all->failed));
}

static void
csv_line(const char *key, const char *model, const struct past_sum *s)
{
	const struct report_row *r = &s->all;

	past_csv(stdout, span_str(key));
	putchar(',');
	past_csv(stdout, span_str(model));
	printf(",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%.6f,%llu,%llu,%llu,"
	       "%llu\n",
	    (unsigned long long)s->sessions, (unsigned long long)r->answers,
	    (unsigned long long)r->failed, (unsigned long long)r->in,
	    (unsigned long long)r->out, (unsigned long long)r->cache_write,
	    (unsigned long long)r->cache_read,
	    (unsigned long long)all_tokens(r), (double)r->micro_usd / 1e6,
	    (unsigned long long)r->allowed, (unsigned long long)r->denied,
	    (unsigned long long)r->approved, (unsigned long long)r->refused);
}

void
past_put_csv(const struct past_sums *u)
{
	const struct past_sum *g;

	printf("%s,model,sessions,answers,failed,inputTokens,outputTokens,"
	       "cacheCreationTokens,cacheReadTokens,totalTokens,totalCost,"
	       "callsAllowed,callsDenied,callsApproved,callsRefused\n",
	    out_names[u->by].key);
	for (size_t i = 0; i < u->n; i++) {
		g = &u->groups[i];
		csv_line(g->key, "", g);
		for (size_t k = 0; k < g->n && u->by != PAST_MODEL; k++)
			csv_line(g->key, g->parts[k].model, &g->parts[k]);
	}
}

/* Add an amount with six decimals: what was counted, no more and no less. */
static void
put_usd(json_object *o, const char *key, uint64_t micro)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu.%06llu",
	    (unsigned long long)(micro / 1000000),
	    (unsigned long long)(micro % 1000000));
	json_object_object_add(
	    o, key, json_object_new_double_s((double)micro / 1e6, text));
}

static void
put_tokens(json_object *o, const struct report_row *r)
{
	put_int(o, "inputTokens", (int64_t)r->in);
	put_int(o, "outputTokens", (int64_t)r->out);
	put_int(o, "cacheCreationTokens", (int64_t)r->cache_write);
	put_int(o, "cacheReadTokens", (int64_t)r->cache_read);
}

static void
put_models(json_object *o, const struct past_sum *g)
{
	json_object *used = json_object_new_array(),
		    *list = json_object_new_array(), *m;

	for (size_t i = 0; i < g->n; i++) {
		json_object_array_add(used, json_text(g->parts[i].model));
		m = json_object_new_object();
		put_str(m, "modelName", g->parts[i].model);
		put_tokens(m, &g->parts[i].all);
		put_usd(m, "cost", g->parts[i].all.micro_usd);
		json_object_array_add(list, m);
	}
	json_object_object_add(o, "modelsUsed", used);
	json_object_object_add(o, "modelBreakdowns", list);
}

static json_object *
sum_json(const struct past_sum *g)
{
	json_object *o = json_object_new_object();

	put_tokens(o, &g->all);
	put_int(o, "totalTokens", (int64_t)all_tokens(&g->all));
	put_usd(o, "totalCost", g->all.micro_usd);
	put_int(o, "sessions", (int64_t)g->sessions);
	put_int(o, "answers", (int64_t)g->all.answers);
	put_int(o, "failedRequests", (int64_t)g->all.failed);
	put_int(o, "callsAllowed", (int64_t)g->all.allowed);
	put_int(o, "callsDenied", (int64_t)g->all.denied);
	put_int(o, "callsApproved", (int64_t)g->all.approved);
	put_int(o, "callsRefused", (int64_t)g->all.refused);
	return o;
}

void
past_put_json(const struct past_sums *u)
{
	json_object *o = json_object_new_object(),
		    *list = json_object_new_array(), *g;

	for (size_t i = 0; i < u->n; i++) {
		g = sum_json(&u->groups[i]);
		put_str(g, out_names[u->by].key, u->groups[i].key);
		if (u->by != PAST_MODEL)
			put_models(g, &u->groups[i]);
		json_object_array_add(list, g);
	}
	put_bool(o, "ok", u->unread == 0);
	json_object_object_add(o, out_names[u->by].list, list);
	json_object_object_add(o, "totals", sum_json(&u->total));
	put_int(o, "brokenLogs", (int64_t)u->broken);
	put_int(o, "unreadLogs", (int64_t)u->unread);
	icctl_put_json(o);
	json_object_put(o);
}
