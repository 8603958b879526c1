/* SPDX-License-Identifier: ISC */
/*
 * Tests questions of servers: when they are shown, what of them, every end of
 * one, the limits, and answers that no honest icsupervisor passes on.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define FORM                                                                   \
	"{\"message\":\"Seat?\",\"requestedSchema\":{\"type\":\"object\","     \
	"\"properties\":{\"seat\":{\"type\":\"string\",\"enum\":[\"a\","       \
	"\"b\"]}},\"required\":[\"seat\"]}}"
#define PAGE                                                                   \
	"{\"message\":\"Log in\",\"mode\":\"url\",\"url\":"                    \
	"\"https://id.example.org/x\"}"

static struct ring ring;

/* Begin a session anew, with two servers and a call to the first. */
static uint64_t
begin(void)
{
	ring_init(&ring, true);
	ring.env.engine.hold_ms = 60000;
	for (uint16_t i = 0; i < 2; i++) {
		if (engine_server(&ring.env.engine, i,
			span_str(i == 0 ? "notes" : "other"), true,
			span_str("/"), span_of((uint8_t[32]){1}, 32),
			SPAN("")) == -1)
			errx(1, "engine_server");
		ring_ready(&ring, i, i == 0 ? "notes" : "other", "book");
	}
	return ring_call(&ring, 0, "book", "{\"a\":1}");
}

static void
end(void)
{
	ring_free(&ring);
}

static void
asks(uint16_t server, enum proto_asked kind, uint64_t call, const char *params,
    uint64_t done)
{
	struct msg_ASKED m = {.kind = (uint8_t)kind,
	    .call = call,
	    .string = 1,
	    .rid = kind == PROTO_ASKED_REQUEST ? SPAN("q7") : SPAN("")};
	struct buf b;

	ring_clear(&ring);
	buf_init(&b, 1 << 20);
	if (params != NULL &&
	    value_encode(rig_tree(&ring.rig, params), &b) == -1)
		err(1, "value_encode");
	m.tree = buf_span(&b);
	m.done = span_of(&done, done != 0 ? sizeof(done) : 0);
	questions_asked(&ring.env, server, &m);
	buf_free(&b);
}

static const struct msg_HOLD *
hold(void)
{
	const union proto_any *m = ring_find(&ring, MSG_HOLD, 0);

	return m == NULL ? NULL : &m->HOLD;
}

/* Returns the id of the question that was just shown, and its digest. */
static uint64_t
shown(uint8_t digest[32])
{
	if (hold() == NULL)
		errx(1, "nothing is shown");
	memcpy(digest, hold()->digest.p, 32);
	return hold()->id;
}

static void
answer(uint64_t id, const uint8_t digest[32], bool approve, const char *text)
{
	const struct msg_VERDICT_GO v = {.id = id,
	    .digest = span_of(digest, 32),
	    .approve = approve,
	    .answer = span_str(text)};

	ring_clear(&ring);
	questions_verdict(&ring.env, &v);
}

/* The server gets this, after it was recorded. */
static void
sent(const char *line, const char *what)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, 0);
	int record = -1, told = -1;

	for (unsigned i = 0; i < ring.n; i++) {
		if (ring.sent[i].type == MSG_QUESTION_END)
			record = (int)i;
		else if (ring.sent[i].type == MSG_SESSION)
			told = (int)i;
	}
	is_str(m == NULL ? "" : ring_str(m->SESSION.line), line, "%s", what);
	ok(record != -1 && record < told, "and the log has it first");
}

static void
refused(const char *why, const char *what)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, 0);

	ok(hold() == NULL && m != NULL &&
		strstr(ring_str(m->SESSION.line), why) != NULL &&
		strstr(ring_str(m->SESSION.line), "-32602") != NULL,
	    "%s: %s", what, m == NULL ? "" : ring_str(m->SESSION.line));
}

static void
test_form(void)
{
	const union proto_any *m;
	uint8_t digest[32];
	uint64_t call = begin(), id;

	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	id = shown(digest);
	ok((id & PROTO_ASK_ID) != 0 && (id & PROTO_QUESTION_ID) != 0 &&
		hold()->automatic == 0 && hold()->session.len == 0 &&
		hold()->ms == 60000,
	    "an id of its kind, for as long as a call is pending");
	ok(span_is(hold()->server_name, "notes") &&
		span_is(hold()->tool, "book"),
	    "the server and the call");
	is_str(ring_str(hold()->effect),
	    "Asks you to fill in 1 field, and says \"Seat?\"", "what it asks");
	m = ring_find(&ring, MSG_CALL_HELD, 0);
	ok(m != NULL && m->CALL_HELD.id == call && m->CALL_HELD.question == 1 &&
		m->CALL_HELD.ms == 60000,
	    "the agent is told that its call waits");
	answer(id, digest, true, "{\"seat\":\"c\"}");
	ok(ring_find(&ring, MSG_LATE, 0) != NULL &&
		ring_find(&ring, MSG_SESSION, 0) == NULL,
	    "an answer that does not fit changes nothing");
	answer(id, (uint8_t[32]){0}, true, "{\"seat\":\"a\"}");
	ok(ring_find(&ring, MSG_LATE, 0) != NULL, "nor does another digest");
	answer(id, digest, true, "{ \"seat\" : \"a\" }");
	sent("{\"id\":\"q7\",\"jsonrpc\":\"2.0\",\"result\":{\"action\":"
	     "\"accept\",\"content\":{\"seat\":\"a\"}}}\n",
	    "the answer is composed anew");
	m = ring_find(&ring, MSG_QUESTION_END, 0);
	ok(m != NULL && m->QUESTION_END.call == call &&
		m->QUESTION_END.action == PROTO_ACTION_ACCEPT &&
		m->QUESTION_END.state == PROTO_HOLD_APPROVED &&
		span_is(m->QUESTION_END.answer, "{\"seat\":\"a\"}"),
	    "with its call");
	m = ring_find(&ring, MSG_CALL_HELD, 0);
	ok(m != NULL && m->CALL_HELD.ms == 0, "and the call waits no longer");
	answer(id, digest, true, "{\"seat\":\"a\"}");
	ok(ring_find(&ring, MSG_LATE, 0) != NULL, "a second answer is late");
	end();
}

static void
test_ends(void)
{
	const char *const decline =
	    "{\"id\":\"q7\",\"jsonrpc\":\"2.0\",\"result\":{\"action\":"
	    "\"decline\"}}\n";
	uint8_t digest[32];
	uint64_t call = begin(), id;
	const char *why;

	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	id = shown(digest);
	answer(id, digest, false, "");
	sent(decline, "no is no");
	asks(0, PROTO_ASKED_REQUEST, call, FORM, 0);
	(void)shown(digest);
	ring_clear(&ring);
	ring.loop.now += 60001;
	questions_verdict(
	    &ring.env, &(struct msg_VERDICT_GO){.digest = span_of(digest, 32)});
	sent(decline, "nobody answers");
	asks(0, PROTO_ASKED_REQUEST, 0, PAGE, 0);
	id = shown(digest);
	ring_clear(&ring);
	is_int(call_ended(&ring.env, call, false, &why), 0, "its call ends");
	sent("{\"id\":\"q7\",\"jsonrpc\":\"2.0\",\"result\":{\"action\":"
	     "\"cancel\"}}\n",
	    "and the question with it");
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	refused("only while a call", "without a call");
	end();
}

/* Two questions of one call wait at the same time. */
static void
test_both(void)
{
	uint8_t first[32], second[32];
	uint64_t a, b;

	(void)begin();
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	a = shown(first);
	asks(0, PROTO_ASKED_REQUEST, 0, PAGE, 0);
	b = shown(second);
	ok(a != b, "the second is shown beside the first");
	answer(b, second, true, "");
	sent("{\"id\":\"q7\",\"jsonrpc\":\"2.0\",\"result\":{\"action\":"
	     "\"accept\"}}\n",
	    "either is answered first");
	ok(ring_find(&ring, MSG_CALL_HELD, 0) == NULL,
	    "and their call still waits");
	answer(a, first, true, "{\"seat\":\"b\"}");
	sent("{\"id\":\"q7\",\"jsonrpc\":\"2.0\",\"result\":{\"action\":"
	     "\"accept\",\"content\":{\"seat\":\"b\"}}}\n",
	    "the other one afterwards");
	ok(ring_find(&ring, MSG_CALL_HELD, 0) != NULL, "and now it goes on");
	end();
}

static void
test_limits(void)
{
	uint8_t digest[32];
	uint64_t call = begin();

	asks(1, PROTO_ASKED_REQUEST, 0, FORM, 0);
	refused("only while a call", "a call of another server");
	asks(1, PROTO_ASKED_REQUEST, call, FORM, 0);
	refused("only while a call", "and that call by its id");
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, call);
	refused("only while a call", "a call that was answered");
	asks(0, PROTO_ASKED_REQUEST, 0, NULL, 0);
	refused("cannot be read", "no parameters");
	for (int i = 0; i < 3; i++) {
		asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
		answer(shown(digest), digest, false, "");
	}
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	refused("3 times", "a fourth in one call");
	ring_clear(&ring);
	(void)ring_call(&ring, 0, "book", "{\"a\":2}");
	for (int i = 0; i < 3; i++) {
		asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
		(void)shown(digest);
	}
	(void)ring_call(&ring, 0, "book", "{\"a\":3}");
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	refused("Other questions of this server wait", "a fourth at once");
	ring_clear(&ring);
	questions_server_gone(&ring.env, 0);
	ok(ring_find(&ring, MSG_QUESTION_END, 2) != NULL &&
		ring_find(&ring, MSG_SESSION, 0) == NULL,
	    "a server that ended is told nothing");
	ring.env.engine.servers[0].reach |= PROTO_REACH_SILENT;
	asks(0, PROTO_ASKED_REQUEST, 0, FORM, 0);
	ok(hold() == NULL, "one that may not ask");
	end();
}

static void
test_wanted(void)
{
	const char *why;
	uint8_t digest[32];
	uint64_t call = begin(), id;

	is_int(call_ended(&ring.env, call, true, &why), 0, "the call fails");
	asks(0, PROTO_ASKED_WANTED, call, PAGE, 0);
	id = shown(digest);
	ok(ring_find(&ring, MSG_CALL_HELD, 0) == NULL, "nothing waits for it");
	answer(id, digest, true, "{}");
	ok(ring_find(&ring, MSG_LATE, 0) != NULL, "an address has no values");
	answer(id, digest, true, "");
	ok(ring_find(&ring, MSG_QUESTION_END, 0) != NULL &&
		ring_find(&ring, MSG_SESSION, 0) == NULL,
	    "its end is recorded, and the server hears nothing");
	asks(0, PROTO_ASKED_WANTED, call + 9, PAGE, 0);
	ok(hold() == NULL && ring.n == 0, "not for a call that never was");
	asks(1, PROTO_ASKED_WANTED, call, PAGE, 0);
	ok(hold() == NULL && ring.n == 0, "nor for another server's");
	end();
}

static void
test_session(void)
{
	uint8_t digest[32];
	unsigned n = 0;

	(void)begin();
	for (unsigned i = 0; i < 200; i++) {
		ring_clear(&ring);
		/* Other arguments each time, or the breaker trips. */
		char args[32];

		snprintf(args, sizeof(args), "{\"a\":%u}", i);
		(void)ring_call(&ring, 0, "book", args);
		ring.loop.now += 1000;
		asks(0, PROTO_ASKED_REQUEST, ring.id, FORM, 0);
		if (hold() == NULL)
			break;
		n++;
		answer(shown(digest), digest, false, "");
		ring_clear(&ring);
		(void)call_ended(
		    &ring.env, ring.id, false, &(const char *){NULL});
	}
	is_int(n, QUESTIONS_EACH, "a server asks so often in a session");
	refused("any more", "and then no more");
	end();
	ring_init(&ring, true);
	ring_free(&ring);
}

int
main(void)
{
	test_form();
	test_ends();
	test_both();
	test_limits();
	test_wanted();
	test_session();
	return tap_done();
}
