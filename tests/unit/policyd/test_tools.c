/* SPDX-License-Identifier: ISC */
/*
 * Lists of tools of several servers: what is left out of them and how that is
 * told, limits that no server uses up for another, and names that agents take.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define GOOD "{\"name\":\"good\",\"inputSchema\":{\"type\":\"object\"}}"

static struct ring ring;

static void
begin(unsigned servers)
{
	static const char *const names[] = {
	    "one", "two", "three", "a-server-with-a-name-of-forty-letters-xx"};

	ring_init(&ring, true);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY,
	    "{\"rules\":[{\"name\":\"all\",\"if\":{},\"then\":\"allow\","
	    "\"reason\":\"fine\"}]}");
	for (unsigned i = 0; i < servers; i++)
		rig_server(&ring.rig, i, names[i], false, "");
}

/* Returns the last message of the type, or NULL. */
static const union proto_any *
last(enum msg_type type)
{
	const union proto_any *m = NULL, *next;

	for (unsigned i = 0; (next = ring_find(&ring, type, i)) != NULL; i++)
		m = next;
	return m;
}

static bool
published(const char *text)
{
	const union proto_any *m = last(MSG_TOOLS);

	return m != NULL && memmem(m->TOOLS.text.p, m->TOOLS.text.len, text,
				strlen(text)) != NULL;
}

static const char *
noted(void)
{
	const union proto_any *m = last(MSG_TOOLS_NOTED);

	return m == NULL ? "" : ring_str(m->TOOLS_NOTED.text);
}

static void
test_notes(void)
{
	const union proto_any *m;

	begin(1);
	ring_ready_json(&ring, 0, "one", "[" GOOD "]");
	is_str(noted(), "", "honest tools: no word");
	ring_free(&ring);
	begin(1);
	ring_ready_json(&ring, 0, "one",
	    "[" GOOD ",{\"name\":\"php\",\"inputSchema\":{\"type\":\"object\","
	    "\"properties\":[]},\"title\":1},{\"name\":\"bad\",\"inputSchema\":"
	    "7},{\"name\":\"no \\u200bgood\"},{\"name\":7},7,{\"name\":\"a.b\"}"
	    "," GOOD "]");
	is_str(noted(),
	    "[{\"left\":false,\"tool\":\"php\",\"why\":\"inputSchema/"
	    "properties: [] became {} (and 1 more)\"},{\"left\":true,\"tool\":"
	    "\"bad\",\"why\":\"inputSchema: is a number, not an object\"},"
	    "{\"left\":true,\"tool\":\"no \\\\u{200b}good\",\"why\":\"a name "
	    "has letters, digits, _, - and . only\"},{\"left\":true,\"tool\":"
	    "\"(number 5)\",\"why\":\"its name is no string\"},{\"left\":true,"
	    "\"tool\":\"(number 6)\",\"why\":\"it has no name\"},{\"as\":"
	    "\"one__a_b_cjyb2s\",\"left\":false,\"tool\":\"a.b\",\"why\":\"\"},"
	    "{\"left\":true,\"tool\":\"good\",\"why\":\"it is listed "
	    "twice\"}]",
	    "what is left out, mended and renamed is told by name");
	ok(published("one__good") && published("one__php") &&
		!published("one__bad"),
	    "and costs no other tool");
	m = last(MSG_STATE);
	ok(m != NULL && m->STATE.tools == 3, "three tools are counted");
	ring_clear(&ring);
	session_publish(&ring.env);
	is_str(noted(), "", "the same is told once");
	ring_free(&ring);
}

static void
test_many(void)
{
	const union proto_any *m;
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_addc(&b, '[');
	for (unsigned i = 0; i < 300; i++)
		buf_printf(&b, "{\"name\":\"t%03u\",\"title\":1},", i);
	for (unsigned i = 0; i < 120; i++)
		buf_printf(&b, "{\"name\":\"b%03u\",\"inputSchema\":7},", i);
	buf_adds(&b, GOOD "]");
	buf_addc(&b, '\0');
	begin(1);
	ring_ready_json(&ring, 0, "one", (const char *)buf_span(&b).p);
	m = last(MSG_TOOLS_NOTED);
	ok(m != NULL && m->TOOLS_NOTED.more == 320, "100 are named");
	ok(strstr(noted(), "\"b099\"") != NULL &&
		strstr(noted(), "\"t000\"") == NULL,
	    "first those that are left out");
	ring_free(&ring);
	buf_free(&b);
}

/* Write a tool whose definition has about that many bytes. */
static void
put_tool(struct buf *b, const char *name, size_t bytes)
{
	buf_printf(b, "%s{\"name\":\"%s\",\"description\":\"",
	    b->len == 0 ? "[" : ",", name);
	for (size_t i = 0; i < bytes; i++)
		buf_addc(b, 'x');
	buf_adds(b, "\"}");
}

static void
ready(unsigned index, const char *name, struct buf *b)
{
	char *text;

	buf_addc(b, ']');
	if ((text = span_dup(buf_span(b))) == NULL)
		err(1, "span_dup");
	ring_ready_json(&ring, index, name, text);
	free(text);
	buf_free(b);
}

static void
test_limits(void)
{
	char name[32];
	struct buf b;

	begin(1);
	buf_init(&b, 64U << 20);
	put_tool(&b, "large", (128U << 10) - 200);
	put_tool(&b, "larger", 128U << 10);
	put_tool(&b, "small", 10);
	ready(0, "one", &b);
	ok(published("one__large") && published("one__small"),
	    "a definition of almost 128 KiB");
	ok(!published("one__larger") &&
		strstr(noted(), "\"larger\",\"why\":\"its definition has more "
				"than 128 KiB") != NULL,
	    "and one of more is left out by name");
	ring_free(&ring);
	begin(1);
	for (unsigned i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		put_tool(&b, name, 100U << 10);
	}
	put_tool(&b, "small", 10);
	ready(0, "one", &b);
	ok(published("one__t4") && !published("one__t5") &&
		published("one__small"),
	    "512 KiB of one server");
	ok(strstr(noted(), "\"t5\",\"why\":\"the definitions of its server "
			   "have more than 512 KiB") != NULL,
	    "and what exceeds them is named");
	ring_free(&ring);
}

/* A server that is listed first does not push out another one's tools. */
static void
test_room(void)
{
	const union proto_any *m;
	uint64_t id;
	char name[32];
	struct buf b;

	begin(2);
	ring.env.limits.all = 300U << 10;
	buf_init(&b, 64U << 20);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		put_tool(&b, name, 100U << 10);
	}
	ready(0, "one", &b);
	ok(published("one__t1") && !published("one__t2"),
	    "alone it has all of it");
	put_tool(&b, "mine", 100U << 10);
	put_tool(&b, "too", 100U << 10);
	ready(1, "two", &b);
	ok(published("one__t0") && !published("one__t1") &&
		published("two__mine") && !published("two__too"),
	    "a second server has its share");
	ok(strstr(noted(), "\"too\",\"why\":\"the definitions of all servers "
			   "have no room") != NULL,
	    "what has no room is named");
	m = last(MSG_STATE);
	ok(m != NULL && m->STATE.tools == 1, "and not counted");
	ring_clear(&ring);
	id = ring_call(&ring, 0, "t3", "{}");
	m = ring_find(&ring, MSG_RELEASE, 0);
	ok(id != 0 && m != NULL && !m->RELEASE.forward &&
		span_is(m->RELEASE.rule, "tool-left-out"),
	    "a call of it is refused with the reason");
	session_fail(&ring.env, 1, SPAN("it died"));
	ok(published("one__t1"), "the room of a server that is gone is free");
	ring_free(&ring);
}

static void
call_as(unsigned server, const char *shown, const char *own)
{
	const union proto_any *m;

	ring_clear(&ring);
	if (ring_call(&ring, server, shown, "{}") == 0)
		errx(1, "%s is not decided", shown);
	m = ring_find(&ring, MSG_RELEASE, 0);
	ok(m != NULL && span_is(m->RELEASE.tool, own) &&
		span_is(m->RELEASE.rule, "missing-annotation"),
	    "%s is %s for the policy", shown, own);
}

static void
test_names(void)
{
	char *shown;

	begin(4);
	ring_ready_json(&ring, 0, "one",
	    "[{\"name\":\"with.dot\"},{\"name\":\"with_dot\"},{\"name\":"
	    "\"a_tool_with_a_name_of_more_than_forty_six_letters\"}]");
	ok(published("\"one__with_dot_") && published("\"one__with_dot\""),
	    "a dot and an underscore are two names");
	ok(published("\"one__a_tool_with_a_name_of_more_than_fo_"),
	    "a long name is shortened");
	call_as(0, "with_dot", "with_dot");
	shown = span_dup(
	    tools_find(&ring.env.sessions[0].tools, SPAN("with.dot"))->shown);
	call_as(0, shown, "with.dot");
	free(shown);
	ring_ready_json(&ring, 3, "four",
	    "[{\"name\":\"tool\"},{\"name\":"
	    "\"longer.tool\"}]");
	ok(published("\"a-server-with-a-name-of-forty-letters-xx__tool\""),
	    "a long server's name stays where there is room");
	ok(published("\"a-server-wi_"), "and is shortened where there is none");
	ring_free(&ring);
}

int
main(void)
{
	test_notes();
	test_many();
	test_limits();
	test_room();
	test_names();
	return tap_done();
}
