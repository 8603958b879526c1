/* SPDX-License-Identifier: ISC */
/*
 * Tests the budget's table of answers: each is charged once, however similar
 * their stream numbers and however many there are.
 */
#include "supervisor/budget_priv.h"
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
	return tap_done();
}
