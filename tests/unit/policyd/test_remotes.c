/* SPDX-License-Identifier: ISC */
/*
 * Tests git's remotes: what icgit is asked, the effect of its answer on a
 * decision, and that without an answer, or with a late, foreign or malformed
 * one, the remote stays unknown, which escalates.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIT 0U
#define ICGIT 1U
#define OTHER 2U

static const char rules[] =
    "{\"rules\":[{\"name\":\"listed\",\"if\":{\"server\":[\"git\"],"
    "\"domains\":{\"allowed\":[\"github.com\"],\"roles\":[\"git-remote-url\"]}}"
    ","
    "\"then\":\"allow\",\"reason\":\"It is listed.\"},"
    "{\"name\":\"ask\",\"if\":{\"server\":[\"git\"],\"tool\":[\"pull\"]},"
    "\"then\":\"escalate\",\"reason\":\"A pull.\"}]}";
static const char annotations[] =
    "{\"servers\":{\"git\":{\"tools\":["
    "{\"toolName\":\"push\",\"args\":{\"path\":[\"read-path\"],"
    "\"remote\":[\"git-remote-url\"]}},"
    "{\"toolName\":\"pull\",\"args\":{\"path\":[\"read-path\"],"
    "\"remote\":[\"git-remote-url\"]}},"
    "{\"toolName\":\"git_clone\",\"args\":{\"path\":[\"write-path\"],"
    "\"url\":[\"git-remote-url\"]}}]}}}";

static struct ring ring;

static void
setup(void)
{
	struct msg_INIT_RESULT init = {.good = 1,
	    .tools = 1,
	    .version = SPAN("2025-06-18"),
	    .text = SPAN("icgit")};

	ring_init(&ring, true);
	rig_server(&ring.rig, GIT, "git", false, "");
	if (engine_server(ring.rig.engine, ICGIT, SPAN("git.remotes"), false,
		SPAN("/"), SPAN(""), SPAN("")) == -1)
		err(1, "engine_server");
	ring.env.engine.servers[ICGIT].internal = true;
	rig_server(&ring.rig, OTHER, "other", false, "");
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, annotations);
	ring_ready(&ring, GIT, "git", "push pull git_clone");
	ring_ready(&ring, OTHER, "other", "push");
	session_start(&ring.env, ICGIT);
	session_init_result(&ring.env, ICGIT, &init);
	ok(ring.env.sessions[ICGIT].state == PROTO_STATE_READY &&
		!ring.env.sessions[ICGIT].listing,
	    "icgit is ready and not asked for tools");
	ring_clear(&ring);
}

/* Expect this question for the last call, without its number. */
static bool
asked(const char *want)
{
	const union proto_any *m = ring_find(&ring, MSG_SESSION, 0);
	char text[2000];
	const char *args;

	if (m == NULL || m->SESSION.server != ICGIT ||
	    !span_is(m->SESSION.what, "remotes"))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)m->SESSION.line.len,
	    (const char *)m->SESSION.line.p);
	args = strstr(text, "\"arguments\":");
	return args != NULL && strstr(args, want) != NULL;
}

static void
tell(unsigned server, uint32_t seq, bool good, const char *urls)
{
	struct msg_REMOTES m = {.seq = seq,
	    .good = good,
	    .urls = span_str(urls),
	    .text = SPAN("no remote")};

	remotes_answer(&ring.env, (uint16_t)server, &m);
}

static uint32_t
seq(void)
{
	return ring.env.remotes.seq;
}

/* Returns the deciding rule, or "" while the call waits. */
static const char *
came_out(void)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);
	static char text[300];

	if (m != NULL)
		snprintf(text, sizeof(text), "%s%s",
		    m->RELEASE.forward ? "" : "refused ",
		    ring_str(m->RELEASE.rule));
	else if ((m = ring_find(&ring, MSG_HOLD, 0)) != NULL)
		snprintf(text, sizeof(text), "held %s", ring_str(m->HOLD.rule));
	else
		text[0] = '\0';
	return text;
}

static uint64_t
push(const char *args)
{
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, GIT, "push", args);
	return id;
}

static void
over(uint64_t id)
{
	struct call *c = calls_table_find(&ring.env.calls, id);

	if (c != NULL && c->state == CALL_HELD)
		call_cancel(&ring.env, id);
	if (c != NULL && (c = calls_table_find(&ring.env.calls, id)) != NULL)
		calls_table_end(&ring.env.calls, c);
}

#define AT "\"path\":\"/workspace\""

static void
test_answers(void)
{
	static const struct {
		const char *args, *question, *urls, *rule;
	} cases[] = {
	    {"{" AT ",\"remote\":\"origin\"}", "\"remotes\":[\"origin\"]",
		"https://github.com/a/b\n", "listed"},
	    {"{" AT "}", "\"remotes\":[\"\"]", "https://github.com/a/b\n",
		"listed"},
	    {"{" AT ",\"remote\":null}", "\"remotes\":[\"\"]",
		"git@github.com:a/b\n", "listed"},
	    {"{" AT ",\"remote\":\"origin\"}", "\"path\":\"/workspace\"",
		"https://github.com/a/b\nhttps://evil.example/\n",
		"refused default-deny"},
	    {"{" AT ",\"remote\":\"https://github.com/a/b\"}",
		"\"remotes\":[\"https://github.com/a/b\"]",
		"https://github.com/a/b\nhttps://github.com/a/b\n", "listed"},
	    {"{" AT ",\"remote\":\"https://github.com/a/b\"}", "github",
		"https://evil.example/a\n", "refused default-deny"},
	    {"{" AT ",\"remote\":\"https://evil.example/a\"}", "evil",
		"https://github.com/a\n", "refused default-deny"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "ext::sh -c x\n",
		"refused structural-invalid-url"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin",
		"https://u:p@github.com/\n", "refused structural-invalid-url"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "-x\n",
		"refused structural-invalid-url"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "/srv/repo\n",
		"held structural-unknown-remote"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin",
		"https://github.com/a\norigin\n",
		"held structural-unknown-remote"},
	    /* answers that no icgit sends */
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "",
		"held structural-unknown-remote"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "\n",
		"held structural-unknown-remote"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin", "https://github.com/a",
		"held structural-unknown-remote"},
	    {"{" AT ",\"remote\":\"origin\"}", "origin",
		"https://github.com/a\n\n", "held structural-unknown-remote"},
	};
	uint64_t id;

	for (size_t i = 0; i < nitems(cases); i++) {
		id = push(cases[i].args);
		ok(asked(cases[i].question) && came_out()[0] == '\0',
		    "asked, and the call waits: %s", cases[i].args);
		tell(ICGIT, seq(), true, cases[i].urls);
		is_str(came_out(), cases[i].rule, "it goes on");
		over(id);
	}
}

static void
test_too_many(void)
{
	struct buf b;
	uint64_t id;

	buf_init(&b, 1 << 16);
	for (unsigned i = 0; i < 65; i++)
		buf_printf(&b, "https://github.com/%u\n", i);
	buf_addc(&b, '\0');
	id = push("{" AT ",\"remote\":\"origin\"}");
	tell(ICGIT, seq(), true, (const char *)buf_span(&b).p);
	is_str(came_out(), "held structural-unknown-remote", "65 URLs: no");
	over(id);
	buf_free(&b);
	id = push(
	    "{" AT ",\"remote\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\","
	    "\"8\",\"9\"]}");
	is_str(came_out(), "held structural-unknown-remote",
	    "nine remotes: not asked");
	over(id);
}

static void
test_foreign(void)
{
	uint64_t id = push("{" AT ",\"remote\":\"origin\"}");

	tell(GIT, seq(), true, "https://github.com/a\n");
	tell(OTHER, seq(), true, "https://github.com/a\n");
	is_str(came_out(), "", "another server's answer is none");
	tell(ICGIT, seq() - 1, true, "https://github.com/a\n");
	tell(ICGIT, seq() + 1, true, "https://github.com/a\n");
	is_str(came_out(), "", "nor is one to another question");
	tell(ICGIT, seq(), false, "");
	is_str(came_out(), "held structural-unknown-remote",
	    "icgit does not know: a person decides");
	ring_clear(&ring);
	tell(ICGIT, seq(), true, "https://github.com/a\n");
	is_int(ring.n, 0, "a second answer is none");
	over(id);
	ok(ring_call(&ring, ICGIT, "remotes", "{}") == 0,
	    "a call to icgit breaks the protocol");
}

static void
test_late(void)
{
	uint64_t id = push("{" AT ",\"remote\":\"origin\"}");

	ring.loop.now = ring.env.remotes.list[0].due - 1;
	ring.env.remotes.timer.fn(&ring.env.remotes.timer);
	is_str(came_out(), "", "it waits");
	ring.loop.now++;
	ring.env.remotes.timer.fn(&ring.env.remotes.timer);
	is_str(came_out(), "held structural-unknown-remote",
	    "nobody answers in time: a person decides");
	over(id);
	id = push("{" AT ",\"remote\":\"origin\"}");
	call_cancel(&ring.env, id);
	ok(ring.env.remotes.n == 0 &&
		calls_table_find(&ring.env.calls, id)->state == CALL_RELEASED &&
		ring.env.holds.n == 0,
	    "a cancelled call waits for nobody");
	over(id);
}

static void
test_full(void)
{
	uint64_t ids[REMOTES_MAX + 1];

	ring_clear(&ring);
	for (unsigned i = 0; i < REMOTES_MAX; i++)
		ids[i] = ring_call(&ring, GIT, "push", "{" AT "}");
	is_int(ring.env.remotes.n, REMOTES_MAX, "sixteen wait");
	ring_clear(&ring);
	ids[REMOTES_MAX] = ring_call(&ring, GIT, "push", "{" AT "}");
	is_str(came_out(), "held structural-unknown-remote",
	    "one more is not looked up");
	/* Answer in another order. */
	tell(ICGIT, seq() - 3, true, "https://github.com/a\n");
	is_int(ring.env.remotes.n, REMOTES_MAX - 1, "one is answered");
	ok(calls_table_find(&ring.env.calls, ids[REMOTES_MAX - 4])->state ==
		CALL_RELEASED,
	    "the one that was meant");
	for (unsigned i = 0; i < REMOTES_MAX; i++)
		tell(ICGIT, seq() - i, true, "https://github.com/a\n");
	is_int(ring.env.remotes.n, 0, "none waits");
	for (unsigned i = 0; i <= REMOTES_MAX; i++)
		over(ids[i]);
}

static void
test_clone(void)
{
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, GIT, "git_clone",
	    "{\"path\":\"/workspace/new\",\"url\":\"https://github.com/a\"}");
	is_str(came_out(), "listed", "a clone's URL is the one it is given");
	over(id);
}

/* Approve a held call: the URLs must still be those shown. */
static void
approved(const char *now, bool good, const char *rule)
{
	const union proto_any *hold;
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, GIT, "pull", "{" AT ",\"remote\":\"o\"}");
	tell(ICGIT, seq(), true, "https://gitlab.com/a\n");
	hold = ring_find(&ring, MSG_HOLD, 0);
	if (hold == NULL)
		errx(1, "not held");
	ok(strstr(ring_str(hold->HOLD.reason),
	       "A pull (the remote leads to https://gitlab.com/a)") != NULL,
	    "the reason says where it leads");
	ring_verdict(&ring, id, hold->HOLD.digest, true, "");
	ok(ring_find(&ring, MSG_RELEASE, 0) == NULL && ring.env.remotes.n == 1,
	    "approved: asked once more");
	ring_verdict(&ring, id, hold->HOLD.digest, true, "");
	ok(ring_find(&ring, MSG_LATE, 0) != NULL,
	    "another verdict meanwhile is too late");
	tell(ICGIT, seq(), good, now);
	is_str(came_out(), rule, "then it ends");
	is_int(ring.env.holds.n, 0, "and is held no more");
	over(id);
}

static void
test_approve(void)
{
	approved("https://gitlab.com/a\n", true, "ask");
	approved("https://evil.example/\n", true, "refused approval-changed");
	approved("", false, "refused approval-changed");
}

static void
test_gone(void)
{
	uint64_t id = push("{" AT ",\"remote\":\"origin\"}");

	session_fail(&ring.env, ICGIT, SPAN("killed"));
	is_str(came_out(), "held structural-unknown-remote",
	    "icgit is gone: what waited goes on");
	over(id);
	id = push("{" AT ",\"remote\":\"origin\"}");
	is_str(came_out(), "held structural-unknown-remote",
	    "and nobody is asked any more");
	over(id);
}

int
main(void)
{
	setup();
	test_answers();
	test_too_many();
	test_foreign();
	test_late();
	test_full();
	test_clone();
	test_approve();
	test_gone();
	ring_free(&ring);
	return tap_done();
}
