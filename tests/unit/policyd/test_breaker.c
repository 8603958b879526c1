/* SPDX-License-Identifier: ISC */
/*
 * Tests the circuit breaker: the limit, the window, and that many other calls
 * do not make it forget calls that are repeated.
 */
#include <stdio.h>

#include "policyd/breaker.h"
#include "tap.h"

#define HOT 10U
#define ROUNDS 20U
#define OTHERS 20U /* in each round */
#define TURNS 500U

static struct breaker *b;

static bool
call(const char *tool, unsigned n, uint64_t now)
{
	char args[64];

	snprintf(args, sizeof(args), "{\"n\":%u}", n);
	return breaker_allow(
	    b, SPAN("server"), span_str(tool), span_str(args), now);
}

/* Any 60 s contain at most twenty calls. */
static void
test_window(void)
{
	bool good = true;

	for (unsigned i = 0; i < BREAKER_CALLS; i++)
		good = good && call("slow", 0, 1000 + i * 1000);
	ok(good, "twenty, a second apart");
	ok(!call("slow", 0, 60999), "the first is 59.999 s ago");
	ok(call("slow", 0, 61000), "the first is 60 s ago");
	ok(!call("slow", 0, 61999), "now the second counts");
	ok(call("slow", 0, 62000), "60 s later");
	ok(call("slow", 1, 62000), "another call");
	good = true;
	for (unsigned i = 0; i < BREAKER_CALLS; i++)
		good = good && call("slow", 0, 200000);
	ok(good && !call("slow", 0, 200000), "all are long ago");
}

/* The boundaries between the parts are compared, too. */
static void
test_parts(void)
{
	bool good = true;

	for (unsigned i = 0; i < BREAKER_CALLS; i++)
		good = good && breaker_allow(b, SPAN("ab"), SPAN("c"),
				   SPAN("{}"), 300000);
	ok(good, "twenty");
	ok(breaker_allow(b, SPAN("a"), SPAN("bc"), SPAN("{}"), 300000),
	    "a part that begins earlier");
	ok(breaker_allow(b, SPAN("ab"), SPAN("c{"), SPAN("}"), 300000),
	    "a part that ends later");
	ok(breaker_allow(b, SPAN("ab"), SPAN("c"), SPAN("{}\0"), 300000),
	    "a NUL more");
	ok(!breaker_allow(b, SPAN("ab"), SPAN("c"), SPAN("{}"), 300000),
	    "the same");
}

/* There is room for about 2,000 calls; the oldest are forgotten. */
static void
test_forget(void)
{
	unsigned next = 0, refused = 0;
	uint64_t now = 400000;

	for (; next < 20000; next++)
		(void)call("fill", next, now);
	for (unsigned r = 0; r < ROUNDS; r++) {
		now += 10;
		for (unsigned i = 0; i < HOT; i++)
			(void)call("hot", i, now);
		for (unsigned i = 0; i < OTHERS; i++)
			(void)call("fill", next++, now);
	}
	for (unsigned i = 0; i < HOT; i++)
		refused += !call("hot", i, now);
	is_int(refused, HOT, "what comes again and again is remembered");
}

/* Many calls in turn: nearly all get an entry of their own. */
static void
test_turns(void)
{
	unsigned refused = 0;

	for (unsigned r = 0; r < BREAKER_CALLS; r++) {
		for (unsigned i = 0; i < TURNS; i++)
			(void)call("turn", i, 900000 + r);
	}
	for (unsigned i = 0; i < TURNS; i++)
		refused += !call("turn", i, 900100);
	ok(refused > TURNS * 9 / 10, "%u of %u calls in turn are refused",
	    refused, TURNS);
}

int
main(void)
{
	if ((b = breaker_new()) == NULL)
		return 1;
	test_window();
	test_parts();
	test_turns();
	test_forget();
	breaker_free(b);
	return tap_done();
}
