/* SPDX-License-Identifier: ISC */
/*
 * The body filter: what it cuts, refuses and leaves alone, in each dialect. The
 * result contains nothing more to cut; depth, names and edits have limits;
 * names that would collide under a plain hash cost no more than others.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/json/value.h"
#include "tap.h"
#include "unit/body/rows.h"

static struct filter f;
static const uint64_t seed[2] = {7, 11};

static struct filter_rules
rules_of(const char *s)
{
	struct filter_rules r = filter_dflt;

	for (unsigned i = 0; s != NULL && i < FILTER_KINDS; i++)
		r.action[i] = s[i] == 's'   ? FILTER_STRIP
			      : s[i] == 'd' ? FILTER_DENY
					    : FILTER_ALLOW;
	return r;
}

static void
compose(struct buf *b)
{
	struct span s;
	unsigned at = 0;

	buf_reset(b, 0);
	while (filter_piece(&f, &at, &s))
		buf_addspan(b, s);
}

static void
test_row(const struct body_row *row, struct buf *b)
{
	struct filter_rules r = rules_of(row->act);
	enum filter_result got;
	char what[120];

	/*
	 * An allocation of the exact size, so that a read past the end is
	 * noticed.
	 */
	size_t len = strlen(row->in);
	uint8_t *copy = malloc(len + (len == 0));

	if (copy == NULL)
		abort();
	memcpy(copy, row->in, len);
	snprintf(what, sizeof(what), "%.100s", row->in);
	for (char *p = what; *p != '\0'; p++) {
		if (*p < 0x20 || *p > 0x7e)
			*p = '.';
	}
	got = filter_body(&f, &r, row->dialect, span_of(copy, len), seed);
	if (row->out == NULL) {
		is_int(got, FILTER_SAME, "unchanged: %s", what);
	} else if (row->out[0] == '?') {
		is_int(got, FILTER_BAD, "not strict: %s", what);
	} else if (row->out[0] == '!') {
		is_int(got, FILTER_REFUSED, "refused: %s", what);
		is_str(filter_kind_name(f.refused), row->out + 1, "... why");
	} else {
		is_int(got, FILTER_CHANGED, "changed: %s", what);
		compose(b);
		is_mem(b->p + b->off, b->len, row->out, strlen(row->out),
		    "... to %.60s", row->out);
		is_int(filter_length(&f), strlen(row->out), "... its length");
		is_int(
		    filter_body(&f, &r, row->dialect, span_str(row->out), seed),
		    FILTER_SAME, "... and is left alone then");
	}
	free(copy);
}

static enum filter_result
run(struct buf *b, enum filter_dialect d)
{
	return filter_body(&f, &filter_dflt, d, buf_span(b), seed);
}

static void
test_limits(struct buf *b)
{
	buf_reset(b, 0);
	buf_adds(b, "{\"a\":");
	for (int i = 0; i < 127; i++)
		buf_addc(b, '[');
	for (int i = 0; i < 127; i++)
		buf_addc(b, ']');
	buf_addc(b, '}');
	is_int(run(b, FILTER_CHAT), FILTER_SAME, "depth 128 passes");
	buf_reset(b, 0);
	buf_adds(b, "{\"a\":");
	for (int i = 0; i < 128; i++)
		buf_addc(b, '[');
	is_int(run(b, FILTER_CHAT), FILTER_BAD, "depth 129 does not");
	is_str(f.why, "too deep", "... and says so");

	buf_reset(b, 0);
	buf_adds(b, "{\"a\":{\"k\":0");
	for (unsigned i = 0; i < BODY_MAX_KEYS - 2; i++)
		buf_printf(b, ",\"%u\":0", i);
	buf_adds(b, "}}");
	is_int(
	    run(b, FILTER_CHAT), FILTER_SAME, "as many names as there may be");
	b->len -= 2;
	buf_adds(b, ",\"x\":0}}");
	is_int(run(b, FILTER_CHAT), FILTER_BAD, "one name more");

	buf_reset(b, 0);
	buf_adds(b, "{\"model\":\"m\",\"tools\":[0");
	for (unsigned i = 0; i <= FILTER_MAX_EDITS; i++)
		buf_adds(b, ",{\"type\":\"x\"},0");
	buf_adds(b, "]}");
	is_int(run(b, FILTER_CHAT), FILTER_LIMIT, "too many edits");
	buf_reset(b, 0);
	buf_adds(b, "{\"tools\":[0");
	for (unsigned i = 0; i < FILTER_MAX_EDITS; i++)
		buf_adds(b, ",{\"type\":\"x\"},0");
	buf_adds(b, "]}");
	is_int(run(b, FILTER_CHAT), FILTER_CHANGED, "as many as there may be");
	buf_reset(b, 0);
	buf_adds(b, "{\"a\":0");
	for (unsigned i = 0; i < FILTER_MAX_ROOT; i++)
		buf_printf(b, ",\"%u\":0", i);
	buf_addc(b, '}');
	is_int(run(b, FILTER_CHAT), FILTER_LIMIT, "too many outermost members");
}

/*
 * Every beginning of every row is refused as not strict, and the whole row has
 * its result.
 */
static void
test_cut_off(void)
{
	bool good = true;

	for (size_t i = 0; i < nitems(body_rows); i++) {
		struct span s = span_str(body_rows[i].in);
		struct filter_rules r = rules_of("aaaaa");

		if (body_rows[i].out != NULL && body_rows[i].out[0] == '?')
			continue;
		for (size_t n = 0; n < s.len; n++)
			good = good && filter_body(&f, &r, body_rows[i].dialect,
					   span_of(s.p, n), seed) == FILTER_BAD;
	}
	ok(good, "a body that is cut off anywhere is not strict");
}

/* The values of "usage" in a provider file. */
static void
test_usage(void)
{
	struct filter_rules r = rules_of("aaaaa");
	struct span s = SPAN("{\"stream\":true}");

	ok(filter_applies(&r, FILTER_CHAT) &&
		!filter_applies(&r, FILTER_RESPONSES),
	    "with all allowed a chat's usage is still asked for");
	r.usage = false;
	ok(!filter_applies(&r, FILTER_CHAT), "unless that is to be left");
	is_int(filter_body(&f, &r, FILTER_CHAT, s, seed), FILTER_SAME,
	    "left as it is");
}

/* The longest answer that a request asks for, wherever its dialect has that. */
static void
test_most(void)
{
	static const struct {
		enum filter_dialect dialect;
		const char *text;
		uint64_t most;
	} rows[] = {{FILTER_ANTHROPIC, "{\"max_tokens\":32000}", 32000},
	    {FILTER_CHAT, "{\"max_tokens\":7,\"max_completion_tokens\":900}",
		900},
	    {FILTER_RESPONSES, "{\"max_output_tokens\":5000}", 5000},
	    {FILTER_GEMINI, "{\"generationConfig\":{\"maxOutputTokens\":8192}}",
		8192},
	    {FILTER_BEDROCK, "{\"max_tokens\":10}", 10},
	    {FILTER_CONVERSE, "{\"inferenceConfig\":{\"maxTokens\":77}}", 77},
	    {FILTER_ANTHROPIC, "{\"max_tokens\":99999999999999999999999}",
		1000000000000},
	    {FILTER_ANTHROPIC, "{\"max_tokens\":\"many\"}", 0},
	    {FILTER_ANTHROPIC, "{\"max_tokens\":null}", 0},
	    {FILTER_ANTHROPIC, "{\"max_tokens\":-5}", 0},
	    {FILTER_CHAT, "{\"max_tokens\":1.5e3}", 2000},
	    {FILTER_CHAT, "{\"max_tokens\":1E+5}", 100000},
	    {FILTER_CHAT, "{\"max_tokens\":1e-5}", 1},
	    {FILTER_CHAT, "{\"max_tokens\":1e999999999}", 1000000000000},
	    {FILTER_ANTHROPIC, "{\"x\":{\"max_tokens\":5}}", 0}};

	for (size_t i = 0; i < nitems(rows); i++) {
		(void)filter_body(&f, &filter_dflt, rows[i].dialect,
		    span_str(rows[i].text), seed);
		is_int(
		    (int64_t)f.most, (int64_t)rows[i].most, "%s", rows[i].text);
	}
}

/* Every member that decides the price, also in an object of its own. */
static void
test_priced(void)
{
	static const struct {
		enum filter_dialect dialect;
		const char *text, *tier, *speed;
		uint64_t times;
	} rows[] = {{FILTER_CHAT, "{\"n\":128,\"service_tier\":\"flex\"}",
			"flex", "", 128},
	    {FILTER_GEMINI, "{\"generationConfig\":{\"candidateCount\":8}}", "",
		"", 8},
	    {FILTER_CONVERSE,
		"{\"serviceTier\":{\"type\":\"priority\"},"
		"\"performanceConfig\":{\"latency\":\"optimized\"}}",
		"priority", "optimized", 0},
	    {FILTER_ANTHROPIC, "{\"speed\":\"fast\"}", "", "fast", 0}};

	for (size_t i = 0; i < nitems(rows); i++) {
		(void)filter_body(&f, &filter_dflt, rows[i].dialect,
		    span_str(rows[i].text), seed);
		ok(span_is(f.tier, rows[i].tier) &&
			span_is(f.speed, rows[i].speed) &&
			f.times == rows[i].times,
		    "%s", rows[i].text);
	}
}

/* On a WebSocket the answer before is kept by the connection itself. */
static void
test_socket(void)
{
	const struct filter_rules r = filter_dflt;
	struct span s = SPAN("{\"type\":\"response.create\",\"store\":false,"
			     "\"previous_response_id\":\"r\",\"input\":[]}");

	f.socket = true;
	is_int(filter_body(&f, &r, FILTER_RESPONSES, s, seed), FILTER_SAME,
	    "previous_response_id on a WebSocket");
	ok(!f.other, "... asks for an answer");
	s = SPAN("{\"type\":\"response.create\",\"store\":false,"
		 "\"conversation\":\"c\",\"input\":[]}");
	is_int(filter_body(&f, &r, FILTER_RESPONSES, s, seed), FILTER_REFUSED,
	    "a conversation is kept in the account");
	f.socket = false;
	s = SPAN("{\"type\":\"response\\u002ecreate\",\"input\":[]}");
	is_int(filter_body(&f, &r, FILTER_RESPONSES, s, seed), FILTER_CHANGED,
	    "a type that is spelled with an escape is not stored either");
	s = SPAN("{\"model\":\"m\",\"input\":\"x\",\"store\":true,\"tools\":["
		 "{\"type\":\"function\",\"name\":\"f\"},{\"name\":\"w\","
		 "\"type\":\"web_search_preview\"}]}");
	is_int(filter_body(&f, &r, FILTER_RESPONSES, s, seed), FILTER_CHANGED,
	    "what is taken out has a name:");
	is_mem(f.what[FILTER_TOOLS].p, f.what[FILTER_TOOLS].len,
	    "web_search_preview", 18, "the tool");
	is_mem(f.what[FILTER_STORE].p, f.what[FILTER_STORE].len, "store", 5,
	    "the member");
}

int
main(void)
{
	struct buf b;

	buf_init(&b, 8U << 20);
	for (size_t i = 0; i < nitems(body_rows); i++)
		test_row(&body_rows[i], &b);
	test_limits(&b);
	test_cut_off();
	for (int i = 0; i < FILTER_KINDS; i++)
		is_int(filter_kind_find(
			   span_str(filter_kind_name((enum filter_kind)i))),
		    i, "a kind by its name");
	is_int(filter_kind_find(SPAN("tool")), -1, "no kind");
	is_int(filter_action_find(SPAN("deny")), FILTER_DENY, "an action");
	is_int(filter_dialect_find(SPAN("gemini")), FILTER_GEMINI, "a dialect");
	test_usage();
	test_most();
	test_priced();
	ok(!filter_applies(&filter_dflt, FILTER_NONE) &&
		filter_applies(&filter_dflt, FILTER_CHAT),
	    "a body without a dialect is nobody's to filter");
	buf_free(&b);
	test_socket();
	return tap_done();
}
