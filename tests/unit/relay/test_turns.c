/* SPDX-License-Identifier: ISC */
/* The output of an agent's turns becomes texts, by the rules of its adapter. */
#include "workers/termd/termd_turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static char got[4096]; /* "KIND:text|" for each text */
static size_t total;
static unsigned errors;

static void
on_text(enum proto_turn kind, struct span s)
{
	size_t n = strlen(got);

	total += s.len;
	errors += kind == PROTO_TURN_ERROR;
	if (n + s.len + 8 < sizeof(got))
		snprintf(got + n, sizeof(got) - n, "%u:%.*s|", (unsigned)kind,
		    (int)s.len, (const char *)s.p);
}

static const char *
turn(enum proto_turns mode, unsigned stream, const char *text)
{
	got[0] = '\0';
	total = errors = 0;
	turns_start(mode, on_text);
	turns_bytes(stream, span_str(text));
	turns_over();
	return got;
}

#define JSON(text) turn(PROTO_TURNS_JSON, 0, text)
#define LINES(text) turn(PROTO_TURNS_LINES, 0, text)
#define SAYS(s) "0:" s "|"

static void
rules(void)
{
	struct msg_TURN_RULE m = {.kind = PROTO_TURN_TEXT,
	    .when = SPAN("type=say"),
	    .each = SPAN("content"),
	    .part = SPAN("type=text"),
	    .text = SPAN("text"),
	    .whole = 1};
	struct msg_TURN_RULE whole = {.kind = PROTO_TURN_ERROR,
	    .when = SPAN("type=end,bad=true"),
	    .text = SPAN("error.message")};
	struct msg_TURN_RULE last = {
	    .kind = PROTO_TURN_TOOL, .when = SPAN("type=end"), .text = SPAN("n")};
	char big[PROTO_MAX_MATCH + 2];

	memset(big, 'x', sizeof(big));
	is_int(turns_rule(&m), 0, "a rule about parts");
	is_int(turns_rule(&whole), 0, "one about a line");
	is_int(turns_rule(&last), 0, "and another");
	m.when = span_of(big, sizeof(big));
	is_int(turns_rule(&m), -1, "a condition that is too long is refused");
	for (unsigned i = 3; i < PROTO_MAX_TURN_RULES; i++)
		if (turns_rule(&last) == -1)
			ok(false, "as many rules as the protocol allows");
	is_int(turns_rule(&last), -1, "and no more");
}

static void
json(void)
{
	is_str(JSON("{\"type\":\"say\",\"content\":[{\"type\":\"text\","
		    "\"text\":\"a\"},{\"type\":\"x\",\"text\":\"b\"},"
		    "{\"type\":\"text\",\"text\":\"c\"}]}\n"),
	    SAYS("a\n") SAYS("c\n"), "each part that fits");
	is_str(JSON("{\"type\":\"say\",\"content\":{\"type\":\"text\","
		    "\"text\":\"a\"}}"),
	    SAYS("a\n"), "one that is no array, in a line without its end");
	is_str(JSON("{\"type\":\"say\",\"content\":[{\"type\":\"text\","
		    "\"text\":1}]}\n{\"type\":\"other\"}\n\n"),
	    "", "nothing else");
	is_str(JSON("{\"type\":\"end\",\"bad\":true,\"error\":{\"message\":"
		    "\"m\"},\"n\":\"x\"}\n"),
	    "4:m|", "the first rule about a line is the last one");
	is_str(JSON("{\"type\":\"say\",\"content\":{\"type\":\"text\","
		    "\"text\":\"a\\u001b[2J\\u202eb\\u200bc\"}}\n"),
	    SAYS("a\xef\xbf\xbd[2J\xef\xbf\xbd"
		 "b\xef\xbf\xbd"
		 "c\n"),
	    "characters that act or hide are replaced");
}

static void
unreadable(void)
{
	static char line[TURNS_LINE_MAX + 16];

	(void)JSON("no JSON \033[31m\n");
	ok(errors == 1 && strstr(got, "\\x1b[31m") != NULL,
	    "a line that is no JSON is an error, escaped");
	(void)JSON("{\"a\":1,\"a\":2}\n[1]\n{\"a\":1e}\n");
	is_int(errors, 3, "members twice, an array, a bad number");
	memset(line, 'x', sizeof(line) - 2);
	line[sizeof(line) - 2] = '\n';
	(void)JSON(line);
	ok(errors == 1 && total < 1000 && strstr(got, "1 MiB") != NULL,
	    "a line of more than 1 MiB is one short error");
	is_str(JSON("{\"type\":\"end\",\"n\":\"after\"}\n"), "2:after|",
	    "and the next line is read");
}

static void
lines(void)
{
	is_str(LINES("one\r\ntwo\rthree\033[1m!\033[0m\n"),
	    SAYS("one\ntwo\nthree!\n"), "text without sequences");
	is_str(LINES("half"), SAYS("half"), "a line without its end");
	is_str(turn(PROTO_TURNS_LINES, 1, "err\n"), SAYS("err\n"),
	    "standard error is text, too");
	is_str(turn(PROTO_TURNS_JSON, 1, "warning\n"), "5:warning\n|",
	    "or belongs to the log, beside JSON");
	got[0] = '\0';
	turns_start(PROTO_TURNS_LINES, on_text);
	turns_bytes(0, span_str("wai"));
	ok(turns_partial(), "something waits");
	turns_flush();
	is_str(got, SAYS("wai"), "and can be shown");
	turns_over();
}

/* More than a turn may print is dropped, and the next turn may print again. */
static void
limit(void)
{
	static char much[1U << 20];

	memset(much, 'y', sizeof(much));
	got[0] = '\0';
	total = errors = 0;
	turns_start(PROTO_TURNS_LINES, on_text);
	for (unsigned i = 0; i < 20; i++)
		turns_bytes(0, span_of(much, sizeof(much)));
	turns_over();
	ok(total <= TURNS_TEXT_MAX + 200 && errors == 1,
	    "the rest of a turn is dropped, and that is told once");
	is_str(LINES("again\n"), SAYS("again\n"), "the next one is heard");
}

int
main(void)
{
	rules();
	json();
	unreadable();
	lines();
	limit();
	return tap_done();
}
