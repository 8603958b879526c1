/* SPDX-License-Identifier: ISC */
/*
 * The meter and the shipped prices together: each answer has its counts and its
 * cost, whole, byte by byte, and split in two at every place. test_costs FILE:
 * the price file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mitmd/body/meter.h"
#include "supervisor/files/prices.h"
#include "tap.h"
#include "unit/budget/cost_rows.h"
#include "unit/config/cover.h"

static struct prices prices;

static struct price_use
use_of(const struct meter_usage *u)
{
	return (struct price_use){.in = u->in,
	    .out = u->out,
	    .cache_read = u->cache_read,
	    .cache_write = u->cache_write,
	    .cache_write_1h = u->cache_write_1h,
	    .audio_in = u->audio_in,
	    .audio_out = u->audio_out,
	    .searches = u->searches,
	    .cost = u->cost,
	    .tier = u->tier,
	    .fast = u->fast,
	    .regional = u->regional};
}

/* Returns true if the answer, split like this, has its counts and its cost. */
static bool
right(const struct cost_row *row, size_t at, size_t step, bool show)
{
	struct span s = span_str(row->text);
	enum price_how how;
	struct meter_usage u;
	struct price_use use;
	struct meter m;
	double usd;
	size_t n;

	meter_begin(&m, meter_format_of(span_str(row->label)));
	for (size_t i = 0; i < s.len; i += n) {
		n = i < at && at - i < step ? at - i : step;
		n = n < s.len - i ? n : s.len - i;
		meter_feed(&m, span_of(s.p + i, n));
	}
	/* It was read to its end, so that nothing of it is an estimate. */
	meter_end(&m, 1000, true, &u);
	use = use_of(&u);
	usd = price_usd(prices_find(&prices, "", u.model, &how), &use);
	if (u.said == METER_MEASURED && u.in == row->want.in &&
	    u.out == row->want.out && u.cache_read == row->want.read &&
	    u.cache_write == row->want.write &&
	    u.cache_write_1h == row->want.hour && fabs(usd - row->usd) < 1e-9)
		return true;
	if (show)
		printf("# %s: in %llu out %llu read %llu write %llu hour %llu "
		       "said %d: %.9g USD, want %.9g\n",
		    u.model, (unsigned long long)u.in,
		    (unsigned long long)u.out, (unsigned long long)u.cache_read,
		    (unsigned long long)u.cache_write,
		    (unsigned long long)u.cache_write_1h, (int)u.said, usd,
		    row->usd);
	return false;
}

static void
test_rows(void)
{
	for (size_t i = 0; i < nitems(cost_rows); i++) {
		const struct cost_row *row = &cost_rows[i];
		size_t len = strlen(row->text);
		bool good;

		ok(right(row, 0, len, true), "%s", row->name);
		good = right(row, 0, 1, false);
		for (size_t at = 1; at < len; at++)
			good = good && right(row, at, len, false);
		ok(good, "... over any split");
	}
	ok(nitems(cost_rows) >= 60, "%zu answers", nitems(cost_rows));
}

/* Every row has what a price needs, and catches no model that is dearer. */
static void
test_prices(void)
{
	static const char *const own[] = {"claude-opus-4-6",
	    "claude-fable-5-20260601", "gpt-5.4", "gpt-5-nano-2025-08-07",
	    "gemini-2.5-flash-lite", "anthropic/claude-opus-4.1",
	    "vertex_ai/claude-sonnet-4@20250514",
	    ("bedrock/eu.anthropic."
	     "claude-sonnet-4-5-20250929-v1:0"),
	    "CLAUDE-HAIKU-4-5", "gpt-5-chat-latest", "openai.gpt-5.4",
	    "deepseek-chat:free", "us.anthropic.claude-opus-4-6-v1",
	    "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0",
	    "claude-opus-4-6[1m]", "openai.gpt-oss-120b-1:0",
	    "openai/gpt-oss-20b-maas", "us.deepseek.r1-v1:0", "deepseek.v3.2",
	    "openai/o3-mini-high", "qwen3-max-2025-09-23",
	    "amazon.nova-lite-v1:0:300k", "meta.llama3-70b-instruct-v1:0"};
	static const char *const not [] = {"claude-opus-4-9", "claude-opus-40",
	    "gpt-5.10", "gpt-5.4-max", "claude-fable-50"};
	enum price_how how;
	unsigned bad = 0;

	for (size_t i = 0; i < nitems(own); i++) {
		(void)prices_find(&prices, "", own[i], &how);
		is_int(how, PRICE_OWN, "%s has a row", own[i]);
	}
	for (size_t i = 0; i < nitems(not ); i++) {
		(void)prices_find(&prices, "", not [i], &how);
		is_int(how, PRICE_FAMILY, "%s has none", not [i]);
	}
	(void)prices_find(&prices, "", "some-model", &how);
	is_int(how, PRICE_REST, "a model of no family");
	for (unsigned i = 0; i < prices.n; i++) {
		const struct price *p = &prices.rows[i];
		char name[128];

		snprintf(name, sizeof(name), "%s", p->model);
		if (strchr(name, '*') != NULL)
			*strchr(name, '*') = '\0';
		if (p->rest || prices_find(&prices, p->host + (*p->host == '*'),
				   name, &how) == p)
			continue;
		printf("# the row %s is never reached\n", p->model);
		bad++;
	}
	is_int(bad, 0, "every row can be reached");
}

/* Returns the prices at a host for a million tokens, in and out together. */
static double
both(const char *host, const char *model)
{
	enum price_how how;
	const struct price *p = prices_find(&prices, host, model, &how);

	return p->set.in + p->set.out;
}

/* A model costs what its host takes, under each name of the host. */
static void
test_places(void)
{
	static const struct {
		const char *host, *model;
		double usd;
	} rows[] = {
	    {"api.deepseek.com", "deepseek-v4-pro", 5.28},
	    {"team.services.ai.azure.com", "DeepSeek-V4-Pro", 5.22},
	    {"TEAM.OPENAI.AZURE.COM", "deepseek-v4-pro", 5.22},
	    {"azure.com", "deepseek-v4-pro", 5.28},
	    {"team.azure.com.example.net", "deepseek-v4-pro", 5.28},
	    {"api.fireworks.ai", "accounts/fireworks/models/deepseek-v4-pro",
		5.22},
	    {"x.api.fireworks.ai", "deepseek-v4-pro", 5.28},
	    {"aiplatform.googleapis.com", "deepseek-ai/deepseek-v3.1-maas",
		2.3},
	    {"us-west2-aiplatform.googleapis.com", "deepseek-v3.1-maas", 2.3},
	    {"bedrock-runtime.us-east-1.amazonaws.com", "deepseek.v3.2", 2.47},
	    {"bedrock-runtime.eu-north-1.amazonaws.com", "deepseek.v3.2", 2.96},
	    {"team.openai.azure.com", "gpt-5.4-2026-03-05", 17.5},
	    {"team.openai.azure.com", "claude-opus-5", 30},
	    /* An unknown host has the price of the dearest row. */
	    {NULL, "deepseek-v3.2", 5.7},
	    {NULL, "gpt-oss-120b", 1.1},
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		double usd = both(rows[i].host, rows[i].model);

		ok(fabs(usd - rows[i].usd) < 1e-9, "%s at %s: %g",
		    rows[i].model, rows[i].host != NULL ? rows[i].host : "any",
		    usd);
	}
	ok(prices_regional(&prices, "eu.api.openai.com") &&
		prices_regional(&prices, "AU.api.openai.com") &&
		!prices_regional(&prices, "api.openai.com") &&
		!prices_regional(&prices, "eu.api.openai.com.example.net"),
	    "hosts that keep data in one place");
}

/* Test that hosts in a price file are taken, or refused by name. */
static void
test_hosts(void)
{
	static const struct {
		const char *text, *says; /* NULL: it is taken */
	} rows[] = {
	    {"{\"models\":[{\"model\":\"m\",\"host\":\"a.b\",\"in\":1,"
	     "\"out\":2}],\"regional\":[\"my.openai.azure.com\"]}",
		NULL},
	    {"{\"models\":[{\"model\":\"m\",\"host\":\"\",\"in\":1,"
	     "\"out\":2}]}",
		"models[0].host: must not be empty"},
	    {"{\"models\":[{\"model\":\"m\",\"host\":\"https://a.b\","
	     "\"in\":1,\"out\":2}]}",
		"models[0].host: must be a host"},
	    {"{\"models\":[{\"model\":\"m\",\"host\":\"a.*.b\",\"in\":1,"
	     "\"out\":2}]}",
		"models[0].host: must be a host"},
	    {"{\"models\":[{\"model\":\"m\",\"host\":7,\"in\":1,"
	     "\"out\":2}]}",
		"models[0].host"},
	    {"{\"models\":[],\"regional\":\"a.b\"}", "regional: must be"},
	    {"{\"models\":[],\"regional\":[1]}", "regional: must be"},
	};
	static struct prices ps;
	enum price_how how;

	for (size_t i = 0; i < nitems(rows); i++) {
		struct fault fault = {""};
		int rv;

		prices_clear(&ps);
		rv = prices_parse(&ps, "own.json", span_str(rows[i].text),
		    false, &fault);
		if (rows[i].says == NULL)
			ok(rv == 0 && prices_find(&ps, "a.b", "m", &how) &&
				!prices_find(&ps, "c", "m", &how) &&
				prices_regional(&ps, "my.openai.azure.com"),
			    "a host of the user's: %s", fault.text);
		else
			ok(rv == -1 && strstr(fault.text, rows[i].says),
			    "refused: %s", fault.text);
	}
}

/* The dearest row of a family is the dearest at that host. */
static void
test_host_families(void)
{
	static const char text[] =
	    "{\"families\":[[\"fam-\"]],\"models\":["
	    "{\"model\":\"fam-1\",\"in\":1,\"out\":1},"
	    "{\"model\":\"fam-2\",\"host\":\"*.b\",\"in\":5,\"out\":5}";
	struct fault fault = {""};
	static struct prices ps;
	enum price_how how;
	char all[400];

	prices_clear(&ps);
	snprintf(all, sizeof(all), "%s]}", text);
	is_int(prices_parse(&ps, "p.json", span_str(all), true, &fault), -1,
	    "a shipped file without a last row: %s", fault.text);
	prices_clear(&ps);
	snprintf(all, sizeof(all),
	    "%s,{\"model\":\"*\",\"in\":9,\"out\":9}]}", text);
	is_int(prices_parse(&ps, "p.json", span_str(all), true, &fault), 0,
	    "with one");
	is_int((int64_t)prices_find(&ps, "a.b", "fam-3", &how)->set.in, 5,
	    "the family's dearest row at this host");
	is_int((int64_t)prices_find(&ps, "a.c", "fam-3", &how)->set.in, 1,
	    "... and at another one");
	is_int((int64_t)prices_find(&ps, "b", "x", &how)->set.in, 9,
	    "a model of no family");
}

/* Test that a price file of an earlier version still counts as it did. */
static void
test_old(void)
{
	struct price_use u = {
	    .cache_write = 1000000, .cache_write_1h = 1000000};
	struct price p = {.set = {3, 15, .3, 3.75, 6},
	    .tiers = {1, 1, 1, 2},
	    .fast = 6,
	    .regional = 1};

	is_int((int64_t)(price_usd(&p, &u) * 100), 600,
	    "kept for an hour: twice the input");
	is_int((int64_t)price_tokens(&p, &u), 2000000, "... as tokens, too");
	u.tier = 99;
	is_int((int64_t)(price_usd(&p, &u) * 100), 600, "no such tier");
	is_int((int64_t)price_tokens(NULL, &u), 1000000, "without a price");
}

/* Returns what is taken of the packed prices, as ic-reader hands them over. */
static int
taken(struct prices *to, const struct prices *from, struct buf *packed)
{
	buf_drain(packed, packed->len);
	if (pack_put(packed, prices_rows, PRICES_ROWS, from) == -1)
		return -1;
	return prices_take(to, buf_span(packed));
}

/* icsupervisor has the prices as ic-reader packs them: nothing gets lost. */
static void
load(const char *path)
{
	static bool seen[sizeof(struct prices)];
	static struct prices read, bad;
	static char text[1U << 20];
	struct fault fault = {""};
	FILE *f = fopen(path, "r");
	struct span cut;
	struct buf b;
	size_t n = 0;

	if (f != NULL) {
		n = fread(text, 1, sizeof(text), f);
		fclose(f);
	}
	if (!is_int(prices_parse(&read, path, span_of(text, n), true, &fault),
		0, "the shipped prices: %s", fault.text))
		exit(tap_done());
	buf_init(&b, 8U << 20);
	is_int(taken(&prices, &read, &b), 0, "they are handed over");
	cover(seen, prices_rows, PRICES_ROWS, 0);
	covered(seen, sizeof(seen), "every member has a row");
	cut = span_of(buf_span(&b).p, b.len - 1);
	is_int(prices_take(&bad, cut), -1, "a cut answer is refused");
	bad = read;
	bad.rows[0].set.out = -1;
	is_int(taken(&bad, &bad, &b), -1, "a price below nothing is refused");
	bad = read;
	bad.own = bad.n + 1;
	is_int(taken(&bad, &bad, &b), -1, "more own rows than rows: refused");
	buf_free(&b);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	load(argv[1]);
	test_rows();
	test_prices();
	test_places();
	test_hosts();
	test_host_families();
	test_old();
	return tap_done();
}
