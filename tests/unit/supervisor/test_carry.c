/* SPDX-License-Identifier: ISC */
/*
 * Tests how the spending of earlier runs is added up from a log. A state may
 * lack records that stand before it, because icsupervisor hears of them later.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/base/report.h"
#include "supervisor/budget/priv.h"
#include "supervisor/resume/carry_priv.h"
#include "supervisor/resume/carry_report.h"
#include "tap.h"

static struct carry c;

static void __attribute__((format(printf, 1, 2)))
line(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	carry_line(&c, span_str(text));
}

static void
start(unsigned ms)
{
	line("{\"event\":\"start\",\"mono\":%u000,\"detail\":{}}", ms);
}

static unsigned open_tokens;

static void
state(unsigned ms, unsigned steps, unsigned tokens)
{
	line("{\"event\":\"state\",\"mono\":%u000,\"detail\":{\"steps\":%u,"
	     "\"tokens\":%u,\"microUsd\":0,\"openTokens\":%u,\"ms\":%u}}",
	    ms, steps, tokens, open_tokens, ms);
}

/* A call, and a request that took a token. */
static void
spend(unsigned ms)
{
	line("{\"event\":\"call\",\"mono\":%u000,\"id\":1}", ms);
	line("{\"event\":\"modelRequest\",\"mono\":%u000}", ms);
	line("{\"event\":\"usage\",\"mono\":%u000,\"model\":\"m\",\"in\":1,"
	     "\"out\":0}",
	    ms);
}

static void
spent(int64_t steps, int64_t tokens, const char *what)
{
	memset(&budget_env.base, 0, sizeof(budget_env.base));
	budget_carry(&c);
	is_int((int64_t)budget_env.base.steps, steps, "%s: steps", what);
	is_int((int64_t)budget_env.base.tokens, tokens, "%s: tokens", what);
}

static void
request(unsigned ms, const char *more)
{
	line("{\"event\":\"modelRequest\",\"mono\":%u000%s}", ms, more);
}

static void
whole(unsigned ms, const char *routes)
{
	line("{\"event\":\"state\",\"mono\":%u000,\"detail\":{\"steps\":0,"
	     "\"boot\":\"b\"%s}}",
	    ms, routes);
}

/* Requests on routes that are no steps are not counted. */
static void
test_routes(void)
{
	carry_free(&c);
	start(100);
	whole(110, ",\"turnRoutes\":[[0,2],null]");
	request(500, ",\"provider\":0,\"route\":1");
	request(500, ",\"provider\":0,\"route\":8");
	spent(0, 0, "routes that are no steps");
	request(510, ",\"provider\":0,\"route\":2");
	request(510, ",\"provider\":0,\"route\":0");
	spent(2, 0, "routes that are");
	request(520, ",\"provider\":1,\"route\":1");
	request(520, ",\"provider\":2,\"route\":1");
	request(520, ",\"provider\":0");
	request(520, ",\"route\":1");
	request(520, ",\"provider\":0,\"route\":\"1\"");
	spent(7, 0, "what cannot be told counts");
	carry_free(&c);
	start(100);
	whole(110, "");
	request(500, ",\"provider\":0,\"route\":1");
	spent(1, 0, "and so does all of an earlier version");
	carry_free(&c);
}

static void
test_states(void)
{
	carry_free(&c);
	start(100);
	state(110, 0, 0);
	spend(500);
	spent(2, 1, "no state yet");
	state(1500, 2, 1);
	spent(2, 1, "a state that has all");
	spend(2400);
	state(2500, 2, 1);
	spent(4, 2, "a state that lacks what stands just before it");
	state(2600, 3, 2);
	spent(4, 2, "and another one, soon after it");
	spend(2700);
	spent(6, 3, "what comes later counts, too");
	state(4000, 6, 3);
	state(5000, 6, 3);
	spent(6, 3, "and nothing counts twice");
}

/* Every state lacks what stands just before it. */
static void
test_lacking(void)
{
	carry_free(&c);
	start(100);
	state(110, 0, 0);
	spend(1490);
	state(1500, 0, 0);
	spend(2990);
	state(3000, 2, 1);
	spent(4, 2, "both states lack something");
	spend(3100);
	spent(6, 3, "and what follows counts");
	open_tokens = 7;
	state(4200, 6, 10);
	spent(6, 10, "an answer in progress");
	spend(4210);
	spent(8, 11, "and another one after it");
	open_tokens = 0;
}

/* Only the end of a run was read: what may be lacking counts twice. */
static void
test_end_alone(void)
{
	carry_free(&c);
	state(1500, 10, 10);
	spend(2990);
	state(3000, 10, 10);
	spent(12, 11, "the last state lacks what stands just before it");
	spend(3100);
	state(3200, 12, 11);
	spent(16, 13, "it cannot be told whether it does");
	spend(3300);
	state(5000, 16, 13);
	state(6000, 16, 13);
	spent(16, 13, "a second without anything makes it certain");
}

/* Messages of WebSockets have no records. */
static void
test_messages(void)
{
	carry_free(&c);
	start(100);
	whole(110, ",\"turnMessages\":true");
	request(500, "");
	state(1500, 5, 0);
	state(3000, 5, 0);
	spent(5, 0, "messages count as the states say");
	request(4000, "");
	state(4010, 7, 0);
	spent(8, 0, "and the state may lack the request, too");
}

static void
test_runs(void)
{
	carry_free(&c);
	start(100);
	state(110, 0, 0);
	spend(1900);
	state(2000, 0, 0);
	spent(2, 1, "the end of a run lacks its last moment");
	/* The next run begins with what it was given. */
	start(50);
	state(60, 2, 1);
	spent(2, 1, "the next run begins with it");
	spend(70);
	state(80, 2, 1);
	spent(4, 2, "its first second");
}

static void
test_base(void)
{
	static const char *const lines[] = {
	    "{\"event\":\"state\",\"mono\":5000000,\"detail\":{\"grants\":[]}}",
	    "{\"event\":\"call\",\"mono\":4990000}",
	    "{\"event\":\"state\",\"mono\":4980000,\"detail\":{}}",
	    "{\"event\":\"state\",\"mono\":4000001,\"detail\":{}}",
	    "{\"event\":\"state\",\"mono\":4000000,\"detail\":{}}",
	    ("{\"event\":\"call\",\"toolName\":\"\",\"arguments\":"
	     "{\"event\":\"start\"}}"),
	    "{\"event\":\"start\",\"mono\":1000000}",
	};
	struct carry_base b = {.found = false};
	unsigned n = 0;

	ok(!carry_base_line(&b, span_str(lines[2])) && !b.found,
	    "a state without approvals is none to begin with");
	ok(!carry_base_line(&b, span_str(lines[6])) && !b.older,
	    "nor is a run without a state");
	for (; n < 4; n++)
		ok(!carry_base_line(&b, span_str(lines[n])) && !b.older,
		    "line %u: nothing is certain yet", n);
	ok(b.found, "the last whole state is found");
	ok(!carry_base_line(&b, span_str(lines[4])) && b.older,
	    "a state that is a second older");
	ok(!carry_base_line(&b, span_str(lines[5])),
	    "an agent's arguments are no start");
	ok(carry_base_line(&b, span_str(lines[6])), "the run's start");
}

static struct buf told;
static struct carry taken;

static void
tell(int letter, const char *text)
{
	report_add(&told, letter, text);
}

/* Hand the state over as ic-carry does. Returns false if it is refused. */
static bool
hand_over(void)
{
	struct span rest;
	const char *text;
	int letter;

	buf_reset(&told, 0);
	carry_tell(&c, tell);
	rest = buf_span(&told);
	carry_free(&taken);
	while (report_next(&rest, &letter, &text))
		if (!carry_take(&taken, letter, text))
			return false;
	return rest.len == 0;
}

/* Set members of every kind, and fill the lists. */
static void
fill(void)
{
	carry_free(&c);
	c.any = c.orphan = c.whole_run = c.open_known = true;
	c.status = -7;
	c.turn = UINT32_MAX;
	c.ms = UINT64_MAX;
	c.last.more_usd = 0.1;
	c.run.more_tokens = 1e15;
	memset(c.why, 'w', sizeof(c.why) - 1);
	c.limited[1] = true;
	c.limits[1] = 2.5;
	while (c.nlocked < CARRY_LOCKED)
		(void)strlcpy(c.locked[c.nlocked++], "provider",
		    sizeof(c.locked[0]));
	while (c.nholds < CARRY_HOLDS) {
		c.holds[c.nholds].id = c.nholds;
		memset(c.holds[c.nholds].server, ' ', 64);
		memset(c.holds[c.nholds++].tool, 't', 256);
	}
	line("{\"event\":\"grant\",\"seq\":9,\"id\":4,\"state\":\"made\","
	     "\"time\":\"2026-01-02T03:04:05\",\"forSession\":{\"a\":1.50},"
	     "\"bound\":{\"b\":\"\\u00e9/\"}}");
}

static void
test_handed_over(void)
{
	char before[SHA256_HEX], after[SHA256_HEX];
	struct buf first;

	fill();
	is_int(c.ngrants, 1, "there is an approval");
	carry_grant_hash(&c.grants[0], before);
	ok(hand_over(), "the state is handed over");
	first = told;
	buf_init(&told, 1U << 20);
	carry_free(&c);
	c = taken;
	memset(&taken, 0, sizeof(taken));
	carry_grant_hash(&c.grants[0], after);
	is_str(after, before, "the approval has the same digest");
	ok(hand_over(), "it is handed over again");
	ok(span_eq(buf_span(&first), buf_span(&told)),
	    "and nothing is lost or changed");
	buf_free(&first);
}

/* ic-carry may be another's: nothing that it says goes too far. */
static void
test_refused(void)
{
	static const struct {
		int letter;
		const char *text, *what;
	} rows[] = {{'A', "2", "no truth value"}, {'A', "", "an empty one"},
	    {'B', "true", "a word"}, {'E', "-9999999999999999999", "too low"},
	    {'K', "18446744073709551616", "too large a count"},
	    {'K', "-1", "a negative count"}, {'P', "nan", "no sum"},
	    {'P', "-0x1p+3", "a negative sum"}, {'P', "1 ", "more than a sum"},
	    {0x80, "99 0x1p+0", "no such limit"}, {0x80, "", "an empty limit"},
	    {0x83, "server", "a server of no call"},
	    {0x85, "1 2", "an approval without its time"},
	    {0x86, "{}", "a text of no approval"}, {0x8f, "", "no such letter"},
	    {'@', "", "nor this"}};
	char text[2048];

	for (size_t i = 0; i < nitems(rows); i++) {
		carry_free(&taken);
		ok(!carry_take(&taken, rows[i].letter, rows[i].text),
		    "refused: %s", rows[i].what);
	}
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ok(!carry_take(&taken, 'D', text), "refused: a text that is too long");
	carry_free(&taken);
	fill();
	ok(hand_over(), "full lists are taken");
	ok(!carry_take(&taken, 0x81, "one"), "refused: a provider too many");
	ok(!carry_take(&taken, 0x82, "1"), "refused: a call too many");
	ok(!carry_take(&taken, 0x86, "[]"), "refused: a text that is a list");
	while (taken.ngrants < CARRY_GRANTS)
		if (!carry_take(&taken, 0x85, "1 2 3"))
			break;
	is_int(taken.ngrants, CARRY_GRANTS, "approvals are taken");
	ok(!carry_take(&taken, 0x85, "1 2 3"), "refused: one too many");
	carry_free(&taken);
}

int
main(void)
{
	test_routes();
	test_states();
	test_lacking();
	test_end_alone();
	test_messages();
	test_runs();
	test_base();
	buf_init(&told, 1U << 20);
	test_handed_over();
	test_refused();
	buf_free(&told);
	carry_free(&c);
	return tap_done();
}
