/* SPDX-License-Identifier: ISC */
/*
 * Tests sessions with MCP servers: the lines sent in each state, the published
 * list, and that a misbehaving server harms only itself.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static struct ring ring;

static void
page(unsigned server, uint32_t seq, bool good, const char *cursor,
    const char *tools)
{
	struct msg_TOOLS_PAGE m = {
	    .seq = seq, .good = good, .cursor = span_str(cursor)};
	struct buf b;

	buf_init(&b, 32 << 20);
	if (value_encode(rig_tree(&ring.rig, tools), &b) == -1)
		err(1, "value_encode");
	m.tree = buf_span(&b);
	session_tools_page(&ring.env, (uint16_t)server, &m);
	buf_free(&b);
}

static void
init_result(unsigned server, bool good, const char *version, const char *text)
{
	struct msg_INIT_RESULT m = {.good = good,
	    .tools = 1,
	    .version = span_str(version),
	    .text = span_str(text)};

	session_init_result(&ring.env, (uint16_t)server, &m);
}

static void
discovered(unsigned server, enum proto_discovered how, const char *text)
{
	struct msg_DISCOVERED m = {.how = (uint8_t)how,
	    .tools = 1,
	    .listen = PROTO_LISTEN_TOOLS,
	    .version = SPAN(""),
	    .text = span_str(text),
	    .instructions = SPAN("")};

	session_discovered(&ring.env, (uint16_t)server, &m);
}

/* Start a server that does not know server/discover. */
static void
start_old(unsigned server)
{
	session_start(&ring.env, (uint16_t)server);
	discovered(server, PROTO_DISCOVERED_INITIALIZE, "");
}

static void
said(unsigned n, const char *what, const char *line)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, n);

	ok(m != NULL && span_is(m->SESSION.what, what), "says %s", what);
	if (m != NULL)
		is_str(ring_str(m->SESSION.line), line, "the line");
}

static void
published(bool complete, const char *text)
{
	const union proto_any *m = NULL, *next;

	for (unsigned i = 0; (next = ring_find(&ring, MSG_TOOLS, i)) != NULL;
	     i++)
		m = next;
	ok(m != NULL && m->TOOLS.complete == complete, "published, %s",
	    complete ? "complete" : "not complete");
	if (m != NULL)
		is_str(ring_str(m->TOOLS.text), text, "the list");
}

static void
state(unsigned server, enum proto_state want, const char *text)
{
	const union proto_any *m = NULL, *next;

	for (unsigned i = 0; (next = ring_find(&ring, MSG_STATE, i)) != NULL;
	     i++)
		m = next;
	ok(m != NULL && m->STATE.server == server && m->STATE.state == want,
	    "server %u is in state %d", server, (int)want);
	if (m != NULL)
		is_str(ring_str(m->STATE.text), text, "and why");
}

static void
test_start(void)
{
	session_start(&ring.env, 0);
	session_start(&ring.env, 1);
	said(0, "initialize",
	    "{\"id\":\"i\",\"jsonrpc\":\"2.0\",\"method\":\"initialize\","
	    "\"params\":{\"capabilities\":{\"elicitation\":{\"form\":{},\"url\":{}}},\"clientInfo\":{\"name\":"
	    "\"ironcurtain\",\"version\":\"" IC_VERSION "\"},"
	    "\"protocolVersion\":\"2025-11-25\"}}\n");
	ring_clear(&ring);
	page(0, 0, true, "", "[]");
	page(0, 1, true, "", "[]");
	session_list_changed(&ring.env, 0, PROTO_CHANGED_TOOLS);
	ok(ring.n == 0, "a page before its time is nothing");
	init_result(0, true, "2025-06-18", "one\x1b");
	said(0, "initialized",
	    "{\"jsonrpc\":\"2.0\","
	    "\"method\":\"notifications/initialized\"}\n");
	said(1, "tools/list",
	    "{\"id\":\"t1\",\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}\n");
	state(0, PROTO_STATE_LISTING, "one\\x1b");
	ring_clear(&ring);
	init_result(0, true, "2025-06-18", "again");
	ok(ring.n == 0, "a second answer to initialize is nothing");
	page(0, 1, true, "n\"ext",
	    "[{\"name\":\"b\",\"description\":\"B\",\"inputSchema\":{\"type\":"
	    "\"object\"},\"_meta\":{\"x\":1},\"evil\":1},{\"name\":\"b\"},"
	    "{\"name\":\"no good\"},{\"name\":7},7,{\"title\":\"x\"}]");
	said(0, "tools/list",
	    "{\"id\":\"t2\",\"jsonrpc\":\"2.0\",\"method\":\"tools/list\","
	    "\"params\":{\"cursor\":\"n\\\"ext\"}}\n");
	ring_clear(&ring);
	page(0, 1, true, "", "[]");
	ok(ring.n == 0, "a page that was not asked for is nothing");
	page(0, 2, true, "",
	    "[{\"name\":\"a\",\"description\":7,\"inputSchema\":[],"
	    "\"title\":\"A\",\"annotations\":{\"readOnlyHint\":true}}]");
	state(0, PROTO_STATE_READY, "");
	published(false,
	    "[{\"annotations\":{\"readOnlyHint\":true},\"inputSchema\":"
	    "{\"type\":\"object\"},\"name\":\"one__a\",\"title\":\"A\"},"
	    "{\"description\":\"B\",\"inputSchema\":{\"type\":\"object\"},"
	    "\"name\":\"one__b\"}]");
	ring_clear(&ring);
}

static void
test_bad(void)
{
	init_result(1, true, "1999-01-01", "two");
	state(1, PROTO_STATE_GONE,
	    "speaks MCP version 1999-01-01, which IronCurtain does not "
	    "support");
	published(true,
	    "[{\"annotations\":{\"readOnlyHint\":true},\"inputSchema\":"
	    "{\"type\":\"object\"},\"name\":\"one__a\",\"title\":\"A\"},"
	    "{\"description\":\"B\",\"inputSchema\":{\"type\":\"object\"},"
	    "\"name\":\"one__b\"}]");
	ring_clear(&ring);
	init_result(1, true, "2025-06-18", "two");
	session_list_changed(&ring.env, 1, PROTO_CHANGED_TOOLS);
	ok(ring.n == 0, "a server that is gone stays so");
	session_start(&ring.env, 2);
	ring_clear(&ring);
	init_result(2, false, "", "exploded");
	state(2, PROTO_STATE_GONE, "refused initialize: exploded");
	session_start(&ring.env, 3);
	init_result(3, true, "2024-11-05", "four");
	ring_clear(&ring);
	page(3, 1, false, "", "[]");
	state(3, PROTO_STATE_GONE, "tools/list failed");
	ring_clear(&ring);
}

static void
test_relist(void)
{
	uint32_t seq = ring.env.sessions[0].seq;

	session_list_changed(&ring.env, 0, PROTO_CHANGED_TOOLS);
	session_list_changed(&ring.env, 0, PROTO_CHANGED_TOOLS);
	ok(ring.n == 0, "list_changed waits a moment");
	/* The timer expires. */
	ring.env.sessions[0].relist.fn(&ring.env.sessions[0].relist);
	ok(ring_find(&ring, MSG_SESSION, 0) != NULL &&
		ring_find(&ring, MSG_SESSION, 1) == NULL,
	    "then it is asked once");
	ok(tools_find(&ring.env.sessions[0].tools, SPAN("a")) != NULL,
	    "meanwhile the old tools are there");
	ring_clear(&ring);
	page(0, seq + 1, false, "", "[]");
	ok(tools_find(&ring.env.sessions[0].tools, SPAN("a")) != NULL &&
		ring.n == 0,
	    "a listing that fails changes nothing");
	session_list_changed(&ring.env, 0, PROTO_CHANGED_TOOLS);
	ring.env.sessions[0].relist.fn(&ring.env.sessions[0].relist);
	ring_clear(&ring);
	page(0, seq + 2, true, "", "[{\"name\":\"c\"}]");
	published(true,
	    "[{\"inputSchema\":{\"type\":\"object\"},\"name\":\"one__c\"}]");
	ok(tools_find(&ring.env.sessions[0].tools, SPAN("a")) == NULL,
	    "the old tools are gone");
	ring_clear(&ring);
}

static void
request(bool string, const char *rid, const char *method)
{
	struct msg_SERVER_REQUEST m = {
	    .string = string, .rid = span_str(rid), .method = span_str(method)};

	ring_clear(&ring);
	policyd_session_request(&ring.env, 0, &m);
}

static void
test_requests(void)
{
	unsigned n = 0;

	request(true, "p\"1", "ping");
	said(0, "pong",
	    "{\"id\":\"p\\\"1\",\"jsonrpc\":\"2.0\",\"result\":{}}\n");
	request(false, "7", "sampling/createMessage");
	said(0, "unknown-method",
	    "{\"error\":{\"code\":-32601,\"message\":\"Method not found\"},"
	    "\"id\":7,\"jsonrpc\":\"2.0\"}\n");
	request(false, "7,\"x\":1", "ping");
	ok(ring.n == 0, "an id that is no number is not answered");
	request(false, "", "ping");
	ok(ring.n == 0, "nor one that is nothing");
	for (unsigned i = 0; i < 1000; i++) {
		request(false, "1", "ping");
		n += ring.n;
	}
	is_int(n, 96, "a flood is answered 100 times in all");
	ring.loop.now += 1000;
	n = 0;
	for (unsigned i = 0; i < 1000; i++) {
		request(false, "1", "ping");
		n += ring.n;
	}
	is_int(n, 20, "and 20 times a second");
}

static void
test_pages(void)
{
	uint32_t seq;
	char cursor[32];

	ring_clear(&ring);
	session_start(&ring.env, 4);
	init_result(4, true, "2025-03-26", "five");
	seq = ring.env.sessions[4].seq;
	for (unsigned i = 0; i < 99; i++) {
		ring_clear(&ring);
		snprintf(cursor, sizeof(cursor), "c%u", i);
		page(4, seq + i, true, cursor, "[]");
	}
	ok(ring.env.sessions[4].state == PROTO_STATE_LISTING,
	    "100 pages are asked for");
	ring_clear(&ring);
	page(4, seq + 99, true, "more", "[{\"name\":\"z\"}]");
	ok(ring.env.sessions[4].state == PROTO_STATE_READY,
	    "and no more: what there is counts");
	ring_clear(&ring);
}

static void
test_gone(void)
{
	session_fail(&ring.env, 0, SPAN("it died"));
	state(0, PROTO_STATE_GONE, "it died");
	published(true,
	    "[{\"inputSchema\":{\"type\":\"object\"},\"name\":\"five__z\"}]");
	ring_clear(&ring);
	session_fail(&ring.env, 0, SPAN("again"));
	ok(ring.n == 0, "it dies once");
	request(false, "1", "ping");
	ok(ring.n == 0, "and is not answered any more");
}

/* Answer an initialize and a tools/list as server 5. */
static void
listed(void)
{
	init_result(5, true, "2025-06-18", "six");
	page(5, ring.env.sessions[5].seq, true, "", "[{\"name\":\"x\"}]");
}

static void
test_died(void)
{
	struct session *s = &ring.env.sessions[5];

	ring.env.engine.servers[5].own = false;
	start_old(5);
	session_died(&ring.env, 5, SPAN("early"));
	state(5, PROTO_STATE_GONE, "early");
	memset(s, 0, sizeof(*s));
	start_old(5);
	listed();
	for (unsigned i = 0; i < 2; i++) {
		ring_clear(&ring);
		session_died(&ring.env, 5, SPAN("closed its output"));
		state(5, PROTO_STATE_DIED, "closed its output");
		ok(ring_find(&ring, MSG_TOOLS, 0) == NULL,
		    "the agent's list stays as it is");
		ring_clear(&ring);
		session_list_changed(&ring.env, 5, PROTO_CHANGED_TOOLS);
		ok(ring.n == 0, "nothing is said to one that died");
		session_again(&ring.env, 5);
		ok(ring_find(&ring, MSG_SESSION, 0) != NULL,
		    "it is greeted again");
		state(5, PROTO_STATE_STARTING, "closed its output");
		session_publish(&ring.env);
		published(true,
		    "[{\"inputSchema\":{\"type\":\"object\"},\"name\":"
		    "\"five__z\"},{\"inputSchema\":{\"type\":\"object\"},"
		    "\"name\":\"six__x\"}]");
		listed();
		state(5, PROTO_STATE_READY, "");
	}
	session_died(&ring.env, 5, SPAN("closed its output"));
	state(5, PROTO_STATE_GONE,
	    "it ended 3 times; the last time it closed its output");
	ring_clear(&ring);
	session_again(&ring.env, 5);
	ok(ring.n == 0, "and is greeted no more");
}

static void
test_own(void)
{
	struct session *s = &ring.env.sessions[5];

	session_free(s);
	memset(s, 0, sizeof(*s));
	ring.env.engine.servers[5].own = true;
	start_old(5);
	listed();
	session_died(&ring.env, 5, SPAN("closed its output"));
	state(5, PROTO_STATE_GONE, "closed its output");
}

/* Check that this call was released, and by which rule. */
static void
released(uint64_t id, const char *rule, const char *name)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);

	ok(m != NULL && m->RELEASE.id == id &&
		ring_find(&ring, MSG_RELEASE, 1) == NULL &&
		span_is(m->RELEASE.rule, rule),
	    "%s: %s", name, rule);
	ring_clear(&ring);
}

/* A call waits for its server to list its tools. */
static void
test_early(void)
{
	uint64_t early, cancelled;

	ring.env.engine.servers[6].own = false;
	start_old(6);
	ring_clear(&ring);
	early = ring_call(&ring, 6, "x", "{\"a\":1}");
	cancelled = ring_call(&ring, 6, "x", "{}");
	init_result(6, true, "2025-06-18", "seven");
	ok(ring_find(&ring, MSG_RELEASE, 0) == NULL, "it waits");
	ring_clear(&ring);
	call_cancel(&ring.env, cancelled);
	released(cancelled, "server-starting", "the agent gave it up");
	page(6, ring.env.sessions[6].seq, true, "", "[{\"name\":\"x\"}]");
	released(early, "missing-annotation", "the tools are known");
	session_died(&ring.env, 6, SPAN("closed its output"));
	ring_clear(&ring);
	early = ring_call(&ring, 6, "x", "{}");
	session_again(&ring.env, 6);
	ok(ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "a server that is started again");
	ring_clear(&ring);
	session_fail(&ring.env, 6, SPAN("no more"));
	released(early, "server-gone", "it does not come back");
}

int
main(void)
{
	static const char *const names[] = {
	    "one", "two", "three", "four", "five", "six", "seven"};

	ring_init(&ring, true);
	for (unsigned i = 0; i < 7; i++)
		rig_server(&ring.rig, i, names[i], false, "");
	test_start();
	test_bad();
	test_relist();
	test_requests();
	test_pages();
	test_gone();
	test_died();
	test_own();
	test_early();
	ring_free(&ring);
	return tap_done();
}
