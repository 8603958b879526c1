/* SPDX-License-Identifier: ISC */
/*
 * Tests grants for calls without a path or URL: the same arguments, or a number
 * of calls of the tool; the offers, the uses, and the ends.
 */
#include "common/sha256.h"
#include "policyd/approval/grants_plain.h"
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define CLOSED(text)                                                           \
	"[{\"name\":\"say\",\"description\":\"" text                           \
	"\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":"    \
	"{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},\"url\":{"         \
	"\"type\":\"string\"}},\"additionalProperties\":false}},"              \
	"{\"name\":\"open\",\"inputSchema\":{\"type\":\"object\"}}]"

static struct ring ring;

struct shown {
	uint64_t id;
	uint8_t digest[HOLD_DIGEST];
	char session[2049];
};

static void
server(unsigned index, const char *name, const char *tools)
{
	rig_server(&ring.rig, index, name, false, "");
	view_free(&ring.env.engine.servers[index].view);
	ring_ready_json(&ring, index, name, tools);
	ring_clear(&ring);
}

static void
begin(void)
{
	ring_init(&ring, true);
	ring.env.engine.unknown = PROTO_UNKNOWN_HOLD;
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, "{\"rules\":[]}");
	server(5, "mine", CLOSED("A"));
	server(6, "other", CLOSED("A"));
}

static struct shown
call(unsigned at, const char *tool, const char *args)
{
	const union proto_any *m;
	struct shown s = {.id = 0};

	ring_clear(&ring);
	s.id = ring_call(&ring, at, tool, args);
	if ((m = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		return s;
	memcpy(s.digest, m->HOLD.digest.p, sizeof(s.digest));
	(void)span_copy(m->HOLD.session, s.session, sizeof(s.session));
	return s;
}

static void
approve(const struct shown *s, unsigned times)
{
	uint8_t shown[SHA256_SIZE];
	struct msg_VERDICT_GO m = {.id = s->id,
	    .digest = span_of(s->digest, sizeof(s->digest)),
	    .session = span_of(shown, sizeof(shown)),
	    .times = (uint8_t)times,
	    .approve = 1};

	sha256_span(span_str(s->session), shown);
	ring_clear(&ring);
	call_verdict(&ring.env, &m);
}

/* Returns the number of calls sent. */
static unsigned
released(void)
{
	const union proto_any *m;
	unsigned n = 0;

	for (unsigned i = 0; (m = ring_find(&ring, MSG_RELEASE, i)) != NULL;
	     i++)
		n += m->RELEASE.forward;
	return n;
}

/* Returns true if a call with these arguments needs no person. */
static bool
passes(unsigned at, const char *args)
{
	struct shown s = call(at, "say", args);
	bool out = released() == 1;
	const char *why;

	if (!out)
		ring_verdict(&ring, s.id, span_of(s.digest, sizeof(s.digest)),
		    false, "");
	if (call_ended(&ring.env, s.id, false, &why) == -1)
		errx(1, "%s", why);
	return out;
}

static void
granted(unsigned at, const char *args, unsigned times)
{
	struct shown s = call(at, "say", args);
	const char *why;

	approve(&s, times);
	if (released() != 1)
		errx(1, "the approved call did not go out");
	(void)call_ended(&ring.env, s.id, false, &why);
}

static bool
counted(unsigned at, const char *args)
{
	struct shown s = call(at, "say", args);
	bool offered = strstr(s.session, "\"times\":20") != NULL;
	const char *why;

	ring_verdict(
	    &ring, s.id, span_of(s.digest, sizeof(s.digest)), false, "");
	if (call_ended(&ring.env, s.id, false, &why) == -1)
		errx(1, "%s", why);
	return offered;
}

static void
test_offer(void)
{
	static const char *const bad[] = {"a/b", "a\\\\b", "me@x", "~", "a\\nb",
	    "http://x", "x:y", "..", "a.b", "%2f", "\\uff0f", "\\u2215",
	    "\\uff20", "a\\u0000b", "-x", "$x", "`x`", "a|b", "a\\u202eb",
	    "a\\u2024b", "&#47;"};
	static const char *const good[] = {"two words", "It works.",
	    "Gr\\u00fc\\u00dfe, Welt!", "\\u4f60\\u597d", "", "7"};
	char args[300];
	struct shown s;

	begin();
	s = call(5, "say", "{\"text\":\"a b\"}");
	is_str(s.session,
	    "{\"description\":\"Allow mine/say with exactly these "
	    "arguments\",\"exact\":true,\"rule\":\"unknown-tool-hold\","
	    "\"times\":20}",
	    "a plain call may be repeated, or the tool used some times");
	s = call(5, "open", "{\"x\":{}}");
	is_str(s.session,
	    "{\"description\":\"Allow mine/open with exactly these "
	    "arguments\",\"exact\":true,\"rule\":\"unknown-tool-hold\"}",
	    "an open schema: these arguments only");
	for (size_t i = 0; i < nitems(bad); i++) {
		snprintf(args, sizeof(args), "{\"text\":\"%s\"}", bad[i]);
		ok(!counted(5, args), "not so many times: %s", bad[i]);
	}
	for (size_t i = 0; i < nitems(good); i++) {
		snprintf(args, sizeof(args), "{\"text\":\"%s\"}", good[i]);
		ok(counted(5, args), "so many times: %s", good[i]);
	}
	ok(!counted(5, "{\"url\":\"x\"}"), "a name that means a place");
	ok(counted(5, "{\"n\":3}"), "a number");
	ring.env.engine.servers[5].reach = PROTO_REACH_NETWORK;
	ok(!counted(5, "{\"n\":3}"), "not with a network");
	ring.env.engine.servers[5].reach = PROTO_REACH_SECRET;
	ok(!counted(5, "{\"n\":3}"), "not with a credential");
	ring.env.engine.servers[5].reach = 0;
	ring_free(&ring);
	begin();
	rig_row(&ring.rig, 5, "/data", "@D/out");
	ring.env.engine.servers[5].view.rows[0].kind = PROTO_VIEW_WRITE;
	ok(!counted(5, "{\"n\":3}"), "not with a place to write");
	ring_free(&ring);
}

static void
test_names(void)
{
	static const struct {
		const char *args;
		bool plain;
	} rows[] = {{"{\"filePath\":\"x\"}", false},
	    {"{\"FILE_PATH\":\"x\"}", false}, {"{\"sql\":\"x\"}", false},
	    {"{\"run-command\":\"x\"}", false}, {"{\"To\":\"x\"}", false},
	    {"{\"hostName\":\"x\"}", false}, {"{\"total\":\"x\"}", true},
	    {"{\"profile\":\"x\"}", true}, {"{\"name\":\"x\"}", true},
	    {"{\"list\":[]}", false}, {"{\"o\":{}}", false},
	    {"{\"z\":null}", false}, {"{\"path\":3}", true}};

	ring_init(&ring, true);
	for (size_t i = 0; i < nitems(rows); i++)
		ok(plain_arguments(rig_tree(&ring.rig, rows[i].args)) ==
			rows[i].plain,
		    "%s is %splain", rows[i].args, rows[i].plain ? "" : "not ");
	ring_free(&ring);
}

static void
test_same(void)
{
	struct shown s;

	begin();
	granted(5, "{\"text\":\"a/b\"}", 0);
	for (unsigned i = 0; i < 5; i++)
		ok(passes(5, "{\"text\":\"a/b\"}"), "the same again");
	ok(!passes(5, "{\"text\":\"a/c\"}"), "not another argument");
	ok(!passes(6, "{\"text\":\"a/b\"}"), "not the same at another server");
	s = call(5, "say", "{\"text\":\"x y\"}");
	memcpy(s.session, "{\"x\":1}", 8);
	approve(&s, 0);
	ok(!passes(5, "{\"text\":\"x y\"}"), "not what was never shown");
	session_fail(&ring.env, 5, SPAN("it fell"));
	server(7, "third", CLOSED("A"));
	ok(!passes(7, "{\"text\":\"a/b\"}"), "not at an heir");
	ok(ring.env.grants.n == 0, "a server that is gone leaves none");
	ring_free(&ring);
}

/* The maximum number of calls at once. */
static void
test_race(void)
{
	struct shown first = {.id = 0}, s;
	const char *why;

	begin();
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		char args[40];

		snprintf(args, sizeof(args), "{\"n\":%u}", i);
		s = call(5, "say", args);
		if (i == 0)
			first = s;
	}
	approve(&first, 3);
	is_int(released(), 3, "64 calls at once, 3 allowed: 3 went out");
	if (call_ended(&ring.env, first.id, false, &why) == -1)
		errx(1, "%s", why);
	ok(!passes(5, "{\"n\":99}"), "and none after them");
	ok(ring.env.grants.n == 0, "it is used up");
	ring_free(&ring);
}

static void
test_count(void)
{
	const union proto_any *m;
	struct shown s;

	begin();
	s = call(5, "say", "{\"n\":1}");
	approve(&s, 3);
	m = ring_find(&ring, MSG_GRANT, 0);
	ok(m != NULL && m->GRANT.state == PROTO_GRANT_MADE &&
		m->GRANT.left == 3 && m->GRANT.ms == PROTO_GRANT_MS,
	    "it is told");
	m = ring_find(&ring, MSG_GRANT, 1);
	ok(m != NULL && m->GRANT.state == PROTO_GRANT_USED &&
		m->GRANT.left == 2,
	    "and its first use");
	m = ring_find(&ring, MSG_RELEASE, 0);
	ok(m != NULL && m->RELEASE.grant == s.id && m->RELEASE.left == 2,
	    "the record of the call has the count");
	ok(!passes(5, "{\"text\":\"a/b\"}"), "values that are not plain ask");
	ok(ring.env.grants.n == 0, "and their denial ends it");
	granted(5, "{\"n\":1}", 3);
	ok(passes(5, "{\"text\":\"words\"}"), "plain ones pass");
	ring.loop.now += PROTO_GRANT_MS;
	ok(!passes(5, "{\"n\":2}"), "for an hour");
	s = call(5, "say", "{\"text\":\"a/b\"}");
	approve(&s, 3);
	ok(!passes(5, "{\"n\":2}"), "a count that was not offered is no grant");
	ring_free(&ring);
}

static void
test_ends(void)
{
	struct shown s;
	const char *why;
	uint64_t id;

	begin();
	/* Revoked. */
	granted(5, "{\"n\":1}", 20);
	id = ring.env.grants.list[0].id;
	ok(tool_grant_end(&ring.env, id, false, "revoked"), "revoked");
	ok(!passes(5, "{\"n\":2}"), "nothing passes after that");
	ok(!tool_grant_end(&ring.env, id, false, "revoked"), "once");
	/* A subscription to its lists ends, which changes nothing. */
	granted(5, "{\"n\":1}", 20);
	ring.env.sessions[5].modern = true;
	ring.env.sessions[5].listen = PROTO_LISTEN_TOOLS;
	ring.env.sessions[5].listen_seq = 1;
	session_listen_end(&ring.env, 5, 1, 0);
	ok(ring.env.grants.n == 1 && ring.env.sessions[5].again,
	    "the end of a subscription asks for the list and ends nothing");
	ring.env.sessions[5].modern = false;
	/* The server's list changes. */
	session_list_changed(&ring.env, 5, PROTO_CHANGED_TOOLS);
	ok(ring.env.grants.n == 0, "a server that changes its list ends it");
	granted(5, "{\"n\":1}", 20);
	((struct session_tool *)(uintptr_t)tools_find(
	     &ring.env.sessions[5].tools, SPAN("say")))
	    ->digest[31] ^= 1;
	ok(!passes(5, "{\"n\":2}"), "one byte of the definition is enough");
	/* A call fails. */
	granted(5, "{\"n\":1}", 20);
	s = call(5, "say", "{\"n\":2}");
	ok(released() == 1 && call_ended(&ring.env, s.id, true, &why) == 0,
	    "a call that fails");
	ok(!passes(5, "{\"n\":3}"), "ends it");
	/* The server is gone. */
	granted(5, "{\"n\":1}", 20);
	ok(passes(5, "{\"n\":2}"), "one of them");
	session_fail(&ring.env, 5, SPAN("it fell"));
	ok(ring.env.grants.n == 0, "nothing is left of a server that crashed");
	ring_free(&ring);
}

int
main(void)
{
	test_offer();
	test_names();
	test_same();
	test_race();
	test_count();
	test_ends();
	return tap_done();
}
