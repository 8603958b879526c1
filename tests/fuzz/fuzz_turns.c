/* SPDX-License-Identifier: ISC */
/*
 * The output of an agent's turn through termd's rules. The first byte selects
 * lines or JSON, and the stream. Each text must be well-formed, of a size that
 * a message holds, and without characters that act on a terminal; a turn must
 * not give more than its limit; cutting the input must make no difference.
 */
#include <string.h>

#include "check.h"
#include "common/json/text.h"
#include "workers/termd/termd_turns.h"

static uint64_t sum; /* checksum over the texts of one run */
static size_t given;

static void
on_text(enum proto_turn kind, struct span s)
{
	const uint8_t *end = s.p + s.len;
	size_t n;

	CHECK((unsigned)kind <= PROTO_TURN_LAST);
	CHECK(s.len <= PROTO_MAX_TEXT);
	for (const uint8_t *p = s.p; p < end; p += n) {
		n = text_utf8_len(p, end);
		CHECK(n != 0);
		CHECK(*p >= 0x20 || *p == '\n' || *p == '\t');
		CHECK(*p != 0x7f);
		/* U+0080 to U+009F, and those that change the direction */
		CHECK(n != 2 || p[0] != 0xc2 || p[1] >= 0xa0);
		CHECK(n != 3 || p[0] != 0xe2 || p[1] != 0x80 || p[2] < 0xa8 ||
		      p[2] > 0xae);
		for (size_t i = 0; i < n; i++)
			sum = (sum * 31 + p[i]) * 7 + (unsigned)kind;
	}
	given += s.len;
}

/* Like the rules of the shipped adapters. */
static void
rules(void)
{
	static const struct msg_TURN_RULE list[] = {
	    {.kind = PROTO_TURN_TEXT,
		.when = SPAN("type=say"),
		.each = SPAN("content"),
		.part = SPAN("type=text"),
		.text = SPAN("text"),
		.whole = 1},
	    {.kind = PROTO_TURN_TOOL,
		.when = SPAN("type=say,n=1"),
		.each = SPAN("a.b"),
		.text = SPAN("text")},
	    {.kind = PROTO_TURN_ERROR,
		.when = SPAN("bad=true"),
		.text = SPAN("error.message")},
	    {.kind = PROTO_TURN_RESULT, .text = SPAN("result")},
	};

	for (size_t i = 0; i < nitems(list); i++)
		CHECK(turns_rule(&list[i]) == 0);
}

/* Feed the text in pieces of `step` bytes. Returns its checksum. */
static uint64_t
run(unsigned mode, const uint8_t *p, size_t len, size_t step)
{
	size_t n;

	sum = given = 0;
	turns_start(mode & 1 ? PROTO_TURNS_JSON : PROTO_TURNS_LINES, on_text);
	for (size_t at = 0; at < len; at += n) {
		n = len - at < step ? len - at : step;
		turns_bytes(mode >> 1 & 1, span_of(p + at, n));
	}
	turns_over();
	CHECK(!turns_partial());
	CHECK(given <= TURNS_TEXT_MAX + 1024);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static int begun;
	uint64_t whole;

	if (len < 1)
		return 0;
	if (!begun++)
		rules();
	whole = run(p[0], p + 1, len - 1, SIZE_MAX);
	CHECK(run(p[0], p + 1, len - 1, 1) == whole);
	CHECK(run(p[0], p + 1, len - 1, 1 + p[0] % 7U) == whole);
	return 0;
}
