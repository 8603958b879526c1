/* SPDX-License-Identifier: ISC */
/*
 * Tests the budget's table of answers: each is charged once, however similar
 * their stream numbers and however many there are.
 */
#include <stdio.h>
#include <string.h>

#include "supervisor/base/amount.h"
#include "supervisor/budget/priv.h"
#include "supervisor/core/sup.h"
#include "tap.h"

static uint64_t
tokens(void)
{
	return (uint64_t)budget_used(BUDGET_TOKENS);
}

static void
told(uint32_t stream, uint32_t exchange, uint64_t in, bool last)
{
	const struct msg_USAGE_SHOW u = {.stream = stream,
	    .exchange = exchange,
	    .last = last,
	    .model = SPAN("m"),
	    .in = in};

	budget_usage(&u);
}

static void
answer(const uint8_t digest[32], bool approve)
{
	const struct msg_VERDICT_GO m = {
	    .id = budget_env.asks[BUDGET_TOKENS].id,
	    .digest = span_of(digest, 32),
	    .approve = approve};

	budget_verdict(&m);
}

/* At 80 % the person is asked, once until the limit changes. */
static void
test_ask(void)
{
	const struct budget_env *b = &budget_env;
	const struct budget_ask *q = &b->asks[BUDGET_TOKENS];
	uint8_t other[32] = {0}, digest[32];
	uint64_t base = tokens();

	sup.opt.ask = true;
	budget_start();
	budget_change(BUDGET_TOKENS, true, (double)(base * 2));
	ok(q->id == 0, "half of it is used: no question");
	told(3, 2, base / 2, true);
	ok(q->id == 0, "three quarters");
	told(3, 3, base / 5, true);
	ok(q->id != 0 && budget_asks(q->id), "more than 80 %%: a question");
	is_int((int64_t)q->to, (int64_t)(4 * base),
	    "whether to raise it by its original amount");
	memcpy(digest, q->digest, sizeof(digest));
	answer(other, true);
	ok(q->id != 0 && b->limits.max[BUDGET_TOKENS] == (double)(2 * base),
	    "another digest answers nothing");
	answer(digest, true);
	ok(q->id == 0 && b->limits.max[BUDGET_TOKENS] == (double)(4 * base),
	    "approved: it is raised");
	told(3, 4, 3 * base / 2 + base / 10, true);
	ok(q->id != 0 && q->to == (double)(6 * base) &&
		memcmp(q->digest, digest, sizeof(digest)) != 0,
	    "it is asked again, by the same amount");
	memcpy(digest, q->digest, sizeof(digest));
	answer(digest, false);
	told(3, 5, base, true);
	ok(q->id == 0 && b->over[BUDGET_TOKENS] &&
		b->limits.max[BUDGET_TOKENS] == (double)(4 * base),
	    "denied: the limit stays, and nothing asks again");
	budget_change(BUDGET_TOKENS, true, (double)(5 * base));
	ok(q->id != 0 && q->to == (double)(10 * base),
	    "until it is set: its new amount counts");
	budget_change(BUDGET_TOKENS, true, (double)(100 * base));
	ok(q->id == 0, "a limit that is far away withdraws the question");
	sup.opt.ask = false;
	budget_change(BUDGET_TOKENS, true, (double)(5 * base));
	ok(q->id == 0, "where nobody is asked there is none");
}

/* Small amounts of money are not shown as 0. */
static void
test_amounts(void)
{
	static const struct {
		double n;
		const char *shown;
	} rows[] = {{0, "0"}, {0.009, "0.009"}, {0.0099999, "0.00999"},
	    {0.00123456, "0.00123"}, {0.5, "0.5"}, {0.123456, "0.123"},
	    {4.239, "4.23"}, {360, "360"}, {99.999, "99.99"}, {1e-12, "0"}};
	const struct msg_USAGE_SHOW u = {
	    .stream = 4, .exchange = 1, .last = 1, .cost = 9000000};
	char text[40];

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(text, sizeof(text), "%.15g", amount_floor(rows[i].n));
		is_str(text, rows[i].shown, "%.15g", rows[i].n);
	}
	is_int(amount_places(0.009, 2), 5, "places of 0.009");
	is_int(amount_places(0, 4), 4, "places of nothing");
	is_int(amount_places(12, 2), 2, "places of 12");
	budget_usage(&u);
	snprintf(text, sizeof(text), "%.15g", budget_shown(BUDGET_USD));
	is_str(text, "0.009", "a cost that the provider states, as shown");
}

static void
test_turn(void)
{
	double before;

	is_int((int64_t)budget_used(BUDGET_TURN), 0, "no turn");
	sup.loop.now += 5000;
	budget_turn();
	sup.loop.now += 2000;
	is_int((int64_t)budget_used(BUDGET_TURN), 2, "a turn of two seconds");
	before = budget_used(BUDGET_SECONDS);
	budget_waiting(true);
	sup.loop.now += 60000;
	is_int((int64_t)budget_used(BUDGET_TURN), 2, "waiting does not count");
	budget_waiting(false);
	sup.loop.now += 1000;
	is_int((int64_t)budget_used(BUDGET_TURN), 3, "and goes on afterwards");
	is_int((int64_t)(budget_used(BUDGET_SECONDS) - before), 1,
	    "so does the session's time");
}

static void
spent(unsigned keyd, bool asks, uint64_t held, uint64_t want)
{
	const struct msg_SPENT m = {.share = budget_env.shares[keyd].number,
	    .asks = asks,
	    .held_tokens = held,
	    .want_tokens = want};

	budget_spent(keyd, &m);
}

/* All shares together are within what is left. */
static void
test_shares(void)
{
	const struct budget_share *h = budget_env.shares;
	uint64_t base;

	budget_change(BUDGET_TOKENS, false, 0);
	ok(spend_unlimited(h[0].sent) && spend_unlimited(h[1].sent),
	    "no limit of tokens or money: nothing is reserved");
	base = tokens();
	budget_change(BUDGET_TOKENS, true, (double)(base + 20000));
	spent(0, false, 0, 0);
	spent(1, false, 0, 0);
	ok(h[0].given.tokens + h[1].given.tokens <= 20000,
	    "a limit: together they have no more than it");
	budget_change(BUDGET_TOKENS, true, (double)(base + 10000));
	spent(0, false, 0, 0);
	spent(1, false, 0, 0);
	ok(h[0].given.tokens + h[1].given.tokens <= 10000,
	    "a lower one: they have less");
	spent(0, true, 0, 6000);
	spent(1, false, 0, 0);
	ok(h[0].given.tokens >= 6000 &&
		h[0].given.tokens + h[1].given.tokens <= 10000,
	    "one that needs more gets what the other does not use");
	spent(0, false, 6000, 0);
	spent(1, true, 0, 5000);
	spent(0, false, 6000, 0);
	is_int((int64_t)h[0].given.tokens, 6000, "it keeps what it reserved");
	is_int((int64_t)h[1].given.tokens, 4000, "the rest is the other's");
	told(77, 1, 1000, true);
	spent(0, false, 0, 0);
	ok(h[1].given.tokens >= 5000 &&
		h[0].given.tokens + h[1].given.tokens <= 9000,
	    "what is counted is given back, less what it was");
	for (uint32_t i = 0; i < 3 * PROTO_MAX_SETTLED; i++) {
		told(78, i, 0, true);
		told(78, i, 0, true);
	}
	ok(h[0].nsettled < PROTO_MAX_SETTLED, "the list has a limit");
	told(79, 1, 20000, true);
	spent(0, false, 0, 0);
	spent(1, false, 0, 0);
	ok(h[0].given.tokens == 0 && h[1].given.tokens == 0,
	    "an answer beyond the limit: nothing is left to reserve");
	budget_change(BUDGET_TOKENS, false, 0);
}

int
main(void)
{
	const struct budget_limits limits = {.warn = 80};
	struct fault fault = {""};
	uint64_t before;

	ok(loop_init(&sup.loop, 16) == 0, "a loop");
	/*
	 * Ignore its result: the installed prices, looked up last, do not
	 * matter here.
	 */
	(void)budget_open(&limits, &sup.paths, &fault);
	for (unsigned i = 1; i <= 10; i++) {
		told(7, 1, 10 * i, i == 10);
		told(7 + 4096, 1, 10 * i, i == 10);
		told(7 + 256, 1, 10 * i, i == 10);
	}
	is_int((int64_t)tokens(), 300,
	    "three answers at once whose streams differ by 4096 and 256");
	told(7, 1, 100, true);
	is_int((int64_t)tokens(), 300, "told twice of an end, charged once");
	told(7, 2, 100, true);
	is_int((int64_t)tokens(), 400, "the next exchange is another answer");

	/* An unfinished entry outlives any number of finished ones. */
	told(1, 1, 5, false);
	for (uint32_t i = 0; i < 2 * BUDGET_LIVE; i++)
		told(1000 + i, 9, 1, true);
	before = tokens();
	told(1, 1, 6, true);
	is_int((int64_t)(tokens() - before), 1,
	    "an answer that goes on is not charged again");
	is_int((int64_t)before, 400 + 5 + 2 * BUDGET_LIVE,
	    "and each of the others once");
	test_ask();
	test_amounts();
	test_turn();
	sup.providers.n = 2;
	sup.providers.list[0].name = "a";
	sup.providers.list[1].name = "b";
	test_shares();
	return tap_done();
}
