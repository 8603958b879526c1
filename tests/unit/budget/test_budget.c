/* SPDX-License-Identifier: ISC */
/*
 * Tests the budget's table of answers: each is charged once, however similar
 * their stream numbers and however many there are.
 */
#include <string.h>

#include "supervisor/budget/priv.h"
#include "supervisor/sup.h"
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
	test_turn();
	return tap_done();
}
