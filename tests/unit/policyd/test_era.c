/* SPDX-License-Identifier: ISC */
/*
 * The revision of a server: what policyd says to it, and what it makes of each
 * answer; and questions about calls, with peers that ask what they may not.
 */
#include "policyd.h"
#include "ring.h"
#include "tap.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

static struct ring ring;

static void
discovered(unsigned server, enum proto_discovered how, const char *text)
{
	struct msg_DISCOVERED m = {.how = (uint8_t)how,
	    .tools = how != PROTO_DISCOVERED_INITIALIZE,
	    .listen = PROTO_LISTEN_TOOLS,
	    .version = SPAN(""),
	    .text = span_str(text),
	    .instructions = SPAN("")};

	session_discovered(&ring.env, (uint16_t)server, &m);
}

static void
greeted(unsigned server, bool good)
{
	struct msg_INIT_RESULT m = {.good = good,
	    .tools = good,
	    .version = SPAN("2025-06-18"),
	    .text = SPAN("x"),
	    .instructions = SPAN("")};

	session_init_result(&ring.env, (uint16_t)server, &m);
}

/* List these tools as the server. */
static void
listed(unsigned server, const char *tools)
{
	struct msg_TOOLS_PAGE m = {.seq = ring.env.sessions[server].seq,
	    .good = 1,
	    .ttl = 70,
	    .cursor = SPAN("")};
	struct buf b;

	buf_init(&b, 1 << 20);
	if (value_encode(rig_tree(&ring.rig, tools), &b) == -1)
		err(1, "value_encode");
	m.tree = buf_span(&b);
	session_tools_page(&ring.env, (uint16_t)server, &m);
	buf_free(&b);
}

/* Check that the n-th line to a server is this message. */
static void
said(unsigned n, const char *what)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, n);

	is_str(m == NULL ? "nothing" : ring_str(m->SESSION.what), what,
	    "policyd says");
}

static bool
state_is(unsigned server, enum proto_state state)
{
	return ring.env.sessions[server].state == state;
}

static void
due(unsigned server)
{
	struct loop_timer *t = &ring.env.sessions[server].era_timer;

	loop_timer_clear(&ring.loop, t);
	t->fn(t);
}

static void
test_probe(void)
{
	session_start(&ring.env, 0);
	said(0, "server/discover");
	ok(ring_find(&ring, MSG_SESSION, 1) == NULL, "and nothing else");
	ring_clear(&ring);
	greeted(0, true);
	ok(ring.n == 0, "an answer to what was not asked is nothing");
	discovered(0, PROTO_DISCOVERED_MODERN, "new");
	said(0, "subscriptions/listen");
	said(1, "tools/list");
	listed(0, "[{\"name\":\"a\"}]");
	ok(state_is(0, PROTO_STATE_READY) && ring.env.sessions[0].ttl == 70,
	    "a server of the newer revision is ready");
	ring_clear(&ring);
	discovered(0, PROTO_DISCOVERED_OTHER, "late");
	ok(ring.n == 0 && state_is(0, PROTO_STATE_READY),
	    "a second answer is nothing");

	session_start(&ring.env, 1);
	ring_clear(&ring);
	due(1);
	said(0, "initialize");
	discovered(1, PROTO_DISCOVERED_INITIALIZE, "");
	discovered(1, PROTO_DISCOVERED_OTHER, "x");
	ok(ring_find(&ring, MSG_SESSION, 1) == NULL &&
		state_is(1, PROTO_STATE_STARTING),
	    "after the time limit only a good answer counts");
	greeted(1, true);
	ok(state_is(1, PROTO_STATE_LISTING) && !ring.env.sessions[1].modern,
	    "as this one to initialize does");

	session_start(&ring.env, 2);
	due(2);
	discovered(2, PROTO_DISCOVERED_MODERN, "slow");
	greeted(2, true);
	ok(state_is(2, PROTO_STATE_LISTING) && ring.env.sessions[2].modern,
	    "or a late one to the question");

	session_start(&ring.env, 3);
	discovered(3, PROTO_DISCOVERED_OTHER, "speaks another one");
	ok(state_is(3, PROTO_STATE_GONE), "one of which we speak none is gone");
	is_str(ring.env.sessions[3].text, "speaks another one", "and why");

	ring.env.engine.servers[3].reach = PROTO_REACH_AFAR;
	session_again(&ring.env, 3);
	discovered(3, PROTO_DISCOVERED_FAILED, "is out of order");
	ok(state_is(3, PROTO_STATE_STARTING) && ring.env.sessions[3].away == 1,
	    "a remote one that is away is asked again later");
	ok(ring.env.sessions[3].era_timer.at == 0 &&
		!ring.env.sessions[3].probing,
	    "and gets no initialize before that");
	ring_clear(&ring);
}

static void
test_died(void)
{
	session_start(&ring.env, 4);
	session_died(&ring.env, 4, SPAN("closed its output"));
	ok(state_is(4, PROTO_STATE_DIED), "one that ends is started again");
	ring_clear(&ring);
	session_again(&ring.env, 4);
	said(0, "initialize");
	session_died(&ring.env, 4, SPAN("closed its output"));
	ok(state_is(4, PROTO_STATE_GONE), "once");

	session_start(&ring.env, 8);
	session_died(&ring.env, 8, SPAN("closed its output"));
	session_again(&ring.env, 8);
	greeted(8, false);
	session_died(&ring.env, 8, SPAN("closed its output"));
	ok(state_is(8, PROTO_STATE_GONE),
	    "also if it refuses the older request first");
	ring_clear(&ring);
}

/* A server begins as earlier sessions have pinned it. */
static void
test_known(void)
{
	uint8_t digest[PIN_DIGEST] = {1};

	if (pins_add(&ring.env.pins, 5, SPAN("x"), span_of(digest, PIN_DIGEST),
		SPAN("")) == -1)
		err(1, "pins_add");
	session_start(&ring.env, 5);
	ring_clear(&ring);
	session_start(&ring.env, 5);
	said(0, "initialize");
	ring_clear(&ring);
	greeted(5, false);
	said(0, "server/discover");
	ok(state_is(5, PROTO_STATE_STARTING),
	    "one that refuses what it spoke before is asked");
	discovered(5, PROTO_DISCOVERED_MODERN, "new");
	listed(5, "[]");
	ok(pins_of_tool(&ring.env.pins, 5, SPAN(TOOLS_REVISION)) != NULL,
	    "its revision is pinned");
	ring_clear(&ring);
	session_start(&ring.env, 5);
	said(0, "server/discover");
	ok(ring.env.sessions[5].era == ERA_MODERN, "and known from then on");
	ring_clear(&ring);
}

/* One that refuses both requests is gone, for the reason that it gave. */
static void
test_refused(void)
{
	static const char reason[] = "refused initialize: x";
	const uint8_t digest[PIN_DIGEST] = {1};
	struct session *s = &ring.env.sessions[6];

	if (pins_add(&ring.env.pins, 6, SPAN("x"), span_of(digest, PIN_DIGEST),
		SPAN("")) == -1)
		err(1, "pins_add");
	session_start(&ring.env, 6);
	greeted(6, false);
	discovered(6, PROTO_DISCOVERED_INITIALIZE, "");
	ok(state_is(6, PROTO_STATE_GONE), "one that refuses both is gone");
	is_str(s->text, reason, "and why");
	s->state = PROTO_STATE_STARTING;
	session_start(&ring.env, 6);
	greeted(6, false);
	due(6);
	ok(state_is(6, PROTO_STATE_GONE),
	    "also if it does not answer the probe");
	is_str(s->text, reason, "and why");

	s->state = PROTO_STATE_STARTING;
	session_start(&ring.env, 6);
	greeted(6, false);
	session_died(&ring.env, 6, SPAN("closed its output"));
	ok(state_is(6, PROTO_STATE_GONE), "and if it ends then");
	is_str(s->text, reason, "and why");

	ring.env.engine.servers[7].reach = PROTO_REACH_AFAR;
	session_start(&ring.env, 7);
	due(7);
	greeted(7, false);
	ok(state_is(7, PROTO_STATE_STARTING),
	    "a remote one may still answer the probe");
	discovered(7, PROTO_DISCOVERED_MODERN, "new");
	ok(state_is(7, PROTO_STATE_LISTING), "which counts then");
	ring.env.sessions[7].state = PROTO_STATE_STARTING;
	session_start(&ring.env, 7);
	due(7);
	greeted(7, false);
	discovered(7, PROTO_DISCOVERED_INITIALIZE, "");
	ok(state_is(7, PROTO_STATE_GONE), "or not");
	ring_clear(&ring);
}

static void
wants(uint64_t id, unsigned server, unsigned round, const char *tree)
{
	struct msg_INPUT_WANTED m = {.id = id, .round = (uint8_t)round};
	struct buf b;

	buf_init(&b, 1 << 20);
	if (value_encode(rig_tree(&ring.rig, tree), &b) == -1)
		err(1, "value_encode");
	m.tree = buf_span(&b);
	ring_clear(&ring);
	round_wanted(&ring.env, (uint16_t)server, &m);
	buf_free(&b);
}

/* Check that the call goes on, or ends, and with which text or line. */
static void
round_is(enum proto_round how, const char *part, const char *name)
{
	const union proto_any *m = ring_find(&ring, MSG_ROUND, 0);
	const char *text = "";

	if (m != NULL)
		text = how == PROTO_ROUND_RETRY
			   ? ring_str(
				 span_of(m->ROUND.payload.p, m->ROUND.line_len))
			   : ring_str(m->ROUND.text);
	ok(m != NULL && m->ROUND.how == how && strstr(text, part) != NULL, "%s",
	    name);
	if (m == NULL || strstr(text, part) == NULL)
		fprintf(stderr, "%s\n", text);
}

static void
test_rounds(void)
{
	static const char *const bad[] = {"{\"inputRequests\":7}",
	    "{\"requestState\":7}", "{\"inputRequests\":{\"a\":7}}",
	    "{\"inputRequests\":{\"a\":{\"method\":7}}}",
	    ("{\"inputRequests\":{\"a\":{\"method\":\"sampling/"
	     "createMessage\"}}}")};
	uint64_t id;

	ring.env.engine.servers[0].trusted = true;
	id = ring_call(&ring, 0, "a", "{\"x\":1}");
	ok(ring_find(&ring, MSG_RELEASE, 0) != NULL, "a call is released");
	wants(id + 1, 0, 0, "{\"requestState\":\"s\"}");
	ok(ring.n == 0, "a question about no call is nothing");
	wants(id, 1, 0, "{\"requestState\":\"s\"}");
	ok(ring.n == 0, "nor is another server's");
	wants(id, 0, 1, "{\"requestState\":\"s\"}");
	ok(ring.n == 0, "nor one about a request that was not sent");
	wants(id, 0, 0,
	    "{\"requestState\":\"s\\\"\",\"inputRequests\":{\"k\\\"\":{"
	    "\"method\":\"elicitation/create\"},\"r\":{\"method\":"
	    "\"roots/list\"}}}");
	round_is(PROTO_ROUND_RETRY,
	    "\"arguments\":{\"x\":1},\"inputResponses\":{\"k\\\"\":{\"action\":"
	    "\"decline\"},\"r\":{\"roots\":[{\"name\":\"workspace\",\"uri\":"
	    "\"file:///workspace\"}]}},\"requestState\":\"s\\\"\"}}\n",
	    "the same request with the answer and the state");
	wants(id, 0, 0, "{\"requestState\":\"s\"}");
	ok(ring.n == 0, "the first request is over");
	for (unsigned n = 1; n < PROTO_MAX_ROUNDS; n++)
		wants(id, 0, n, "{\"requestState\":\"s\"}");
	round_is(PROTO_ROUND_RETRY, "\"requestState\":\"s\"", "the last round");
	wants(id, 0, PROTO_MAX_ROUNDS, "{\"requestState\":\"s\"}");
	round_is(PROTO_ROUND_FAIL, "8 questions", "there is an end");
	for (size_t i = 0; i < nitems(bad); i++) {
		id = ring_call(&ring, 0, "a", "{}");
		wants(id, 0, 0, bad[i]);
		round_is(PROTO_ROUND_FAIL, "Do not retry", bad[i]);
	}
	id = ring_call(&ring, 0, "a", "{}");
	call_cancel(&ring.env, id);
	wants(id, 0, 0, "{\"requestState\":\"s\"}");
	ok(ring.n == 0, "a cancelled call does not go on");
}

/* Make the call as an agent that may give back a state. Returns its id. */
static uint64_t
call_with(const char *state)
{
	struct msg_CALL m = {.id = ++ring.id,
	    .tool = SPAN("a"),
	    .modern = 1,
	    .state = span_str(state)};
	const char *why;
	struct buf b;

	buf_init(&b, 1 << 20);
	if (value_encode(rig_tree(&ring.rig, "{}"), &b) == -1)
		err(1, "value_encode");
	m.args = buf_span(&b);
	ring_clear(&ring);
	if (call_take(&ring.env, &m, &why) == -1)
		errx(1, "%s", why);
	buf_free(&b);
	return m.id;
}

/* The agent goes on with a state, and its server asks again. */
static void
test_resumed(void)
{
	const union proto_any *m;
	char state[PROTO_MAX_STATE + 1];
	const char *line, *at;
	uint64_t id = call_with("");

	wants(id, 0, 0, "{\"requestState\":\"first\"}");
	round_is(PROTO_ROUND_AGENT, "", "the agent gets a state");
	m = ring_find(&ring, MSG_ROUND, 0);
	(void)span_copy(m->ROUND.text, state, sizeof(state));
	id = call_with(state);
	m = ring_find(&ring, MSG_RELEASE, 0);
	ok(m != NULL && m->RELEASE.forward &&
		strstr(ring_str(
			   span_of(m->RELEASE.payload.p, m->RELEASE.line_len)),
		    ",\"requestState\":\"first\"}}\n") != NULL,
	    "its server gets its own");
	wants(id, 0, 0,
	    "{\"inputRequests\":{\"r\":{\"method\":\"roots/list\"}},"
	    "\"requestState\":\"second\"}");
	round_is(PROTO_ROUND_RETRY, ",\"requestState\":\"second\"}}\n",
	    "it may ask again");
	m = ring_find(&ring, MSG_ROUND, 0);
	line = ring_str(span_of(m->ROUND.payload.p, m->ROUND.line_len));
	at = strstr(line, "\"requestState\"");
	ok(at != NULL && strstr(at + 1, "\"requestState\"") == NULL,
	    "and gets one state, the newer one: %s", line);
}

/* An answer of a person is masked in the log, and not for the server. */
static void
test_logged(void)
{
	const union proto_any *m;
	struct msg_VERDICT_GO v = {.approve = 1,
	    .answer = SPAN("{\"a\":\"sk-abcdefghijklmnopqrstuvwx\"}")};
	const char *text;

	ring.env.engine.hold_ms = 60000;
	wants(ring_call(&ring, 0, "a", "{}"), 0, 0,
	    "{\"inputRequests\":{\"k\":{\"method\":\"elicitation/create\","
	    "\"params\":{\"message\":\"Which?\",\"requestedSchema\":{"
	    "\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
	    "\"string\"}}}}}}}");
	if ((m = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "no question is shown");
	v.id = m->HOLD.id;
	v.digest = m->HOLD.digest;
	questions_verdict(&ring.env, &v);
	round_is(PROTO_ROUND_RETRY, "\"a\":\"sk-abcdefghijklmnopqrstuvwx\"",
	    "the server gets the answer");
	m = ring_find(&ring, MSG_ROUND, 0);
	text = ring_str(
	    span_of(m->ROUND.payload.p + m->ROUND.log_off, m->ROUND.log_len));
	is_str(text,
	    "{\"asked\":[{\"answer\":{\"action\":\"accept\",\"content\":{"
	    "\"a\":\"sk-a...uvwx\"}},\"key\":\"k\",\"method\":"
	    "\"elicitation/create\"}],\"stateBytes\":0}",
	    "and the log does not have its secret");
}

/* Two forms of one answer are both shown, and the call goes on with both. */
static void
test_two_forms(void)
{
#define TWO_FORM                                                               \
	"{\"method\":\"elicitation/create\",\"params\":{\"message\":"          \
	"\"Which?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":"  \
	"{\"a\":{\"type\":\"string\"}}}}}"
	struct msg_VERDICT_GO v[2];
	uint8_t digests[2][32];
	const union proto_any *m;

	wants(ring_call(&ring, 0, "a", "{}"), 0, 0,
	    "{\"inputRequests\":{\"k\":" TWO_FORM ",\"l\":" TWO_FORM "}}");
	for (unsigned i = 0; i < nitems(v); i++) {
		if ((m = ring_find(&ring, MSG_HOLD, i)) == NULL)
			errx(1, "question %u is not shown", i);
		memcpy(digests[i], m->HOLD.digest.p, sizeof(digests[i]));
		v[i] = (struct msg_VERDICT_GO){.id = m->HOLD.id,
		    .digest = span_of(digests[i], sizeof(digests[i])),
		    .approve = 1,
		    .answer = span_str(
			i == 0 ? "{\"a\":\"one\"}" : "{\"a\":\"two\"}")};
	}
	ring_clear(&ring);
	questions_verdict(&ring.env, &v[0]);
	ok(ring_find(&ring, MSG_ROUND, 0) == NULL,
	    "one answer of two is not enough");
	questions_verdict(&ring.env, &v[1]);
	round_is(PROTO_ROUND_RETRY,
	    "\"inputResponses\":{\"k\":{\"action\":\"accept\",\"content\":{"
	    "\"a\":\"one\"}},\"l\":{\"action\":\"accept\",\"content\":{"
	    "\"a\":\"two\"}}}",
	    "each form gets its own answer");
#undef TWO_FORM
}

/* Returns true if the n-th line to a server has this text. */
static bool
line_has(unsigned n, const char *text)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, n);
	const struct span line = m == NULL ? SPAN("") : m->SESSION.line;

	return memmem(line.p, line.len, text, strlen(text)) != NULL;
}

/* Subscriptions to resources outlive a process, and their requests. */
static void
test_subscriptions(void)
{
	static const uint8_t one[HOLD_DIGEST] = {1}, two[HOLD_DIGEST] = {2};
	struct session *s = &ring.env.sessions[0];

	ring_clear(&ring);
	loop_timer_clear(&ring.loop, &s->era_timer);
	parts_sent(s, one, 71, SPAN("a://1"));
	parts_sent(s, two, 72, SPAN("a://2"));
	ok(parts_was_sent(s, one), "a subscription is known");
	parts_cancelled(&ring.env, 72);
	ok(line_has(0, "notifications/cancelled") && line_has(0, "72"),
	    "the server is told of its end");
	parts_cancelled(&ring.env, 72);
	ok(ring_find(&ring, MSG_SESSION, 1) == NULL, "once");
	parts_sent(s, two, 73, SPAN("a://3"));
	session_listen_end(&ring.env, 0, 0, 72);
	ok(s->era_timer.at == 0, "the end of one that nobody wants is no end");
	session_listen_end(&ring.env, 0, 0, 71);
	due(0);
	ok(line_has(1, "\"resourceSubscriptions\":[\"a://1\"],") &&
		line_has(1, "toolsListChanged"),
	    "one that its server ends is asked for again");
	ring_clear(&ring);
	parts_cancelled(&ring.env, 73);
	ok(line_has(0, "notifications/cancelled") && line_has(0, "73"),
	    "another one's request is still open");
	ring_clear(&ring);
	parts_cancelled(&ring.env, 71);
	ok(ring.n == 0 && !parts_was_sent(s, one),
	    "its request is not open any more");
	session_listen_end(&ring.env, 0, 0, 71);
	ok(s->era_timer.at == 0, "without one there is nothing to ask for");
	parts_sent(s, one, 74, SPAN("a://4"));
	for (unsigned i = 0; i < 2 * SESSION_SUBS; i++) {
		parts_sent(s, two, 100 + i, SPAN("a://5"));
		parts_given_up(s, 100 + i);
	}
	ok(parts_was_sent(s, one) && !parts_was_sent(s, two),
	    "those that failed take no place of another");
	parts_forget(s);
	/* A server of an older revision. */
	s = &ring.env.sessions[1];
	for (unsigned i = 0; i < 2; i++)
		parts_sent(s, one, 80 + i, SPAN("a://1"));
	s->parts = PROTO_PART_SUBSCRIBE;
	parts_resend(s);
	ok(line_has(0, "resources/subscribe") && line_has(0, "a://1") &&
		ring_find(&ring, MSG_SESSION, 1) == NULL,
	    "an older one is sent each address once");
	parts_unsent(s, SPAN("a://1"));
	ok(!parts_was_sent(s, one), "until it is ended");
	ring_clear(&ring);
}

int
main(void)
{
	static const char *const names[] = {"one", "two", "three", "four",
	    "five", "six", "seven", "eight", "nine"};

	ring_init(&ring, true);
	for (unsigned i = 0; i < nitems(names); i++) {
		rig_server(&ring.rig, i, names[i], false, "");
		ring.env.engine.servers[i].own = false;
	}
	test_probe();
	test_subscriptions();
	test_died();
	test_known();
	test_refused();
	test_rounds();
	test_resumed();
	test_logged();
	test_two_forms();
	ring_free(&ring);
	return tap_done();
}
