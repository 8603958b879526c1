/* SPDX-License-Identifier: ISC */
/*
 * Tests calls outside the views: what policyd requests, when and where the call
 * is sent, and that each requested instance is dropped once.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <sys/stat.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct ring ring;

static const char rules[] =
    "{\"rules\":[{\"name\":\"free\",\"if\":{\"paths\":{\"roles\":"
    "[\"read-path\"],\"within\":\"@D/home/docs/deep\"}},\"then\":\"allow\","
    "\"reason\":\"no mount for it\"},"
    "{\"name\":\"ask\",\"if\":{\"roles\":[\"read-path\",\"write-path\","
    "\"delete-path\"]},\"then\":\"escalate\",\"reason\":\"it is outside\"}]}";

#define OUT "{\"path\":\"@D/out/o\"}"
#define FIRST PROTO_FIRST_INSTANCE

static void
in(const char *path, char *dst, size_t cap)
{
	if ((size_t)snprintf(dst, cap, "%s/%s", ring.rig.dir, path) >= cap)
		errx(1, "%s: too long", path);
}

static struct stat
stat_of(const char *path)
{
	char name[512];
	struct stat st;

	in(path, name, sizeof(name));
	if (lstat(name, &st) == -1)
		err(1, "%s", name);
	return st;
}

/* Make a call that is held and approved, and waits for its instance. */
static uint64_t
approved(const char *tool, const char *args)
{
	uint64_t id;
	const union proto_any *hold;

	ring_clear(&ring);
	id = ring_call(&ring, 0, tool, args);
	if ((hold = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "%s %s is not held", tool, args);
	ring_verdict(&ring, id, hold->HOLD.digest, true, "");
	return id;
}

static const struct msg_INSTANCE *
asked(unsigned n)
{
	const union proto_any *m = ring_find(&ring, MSG_INSTANCE, n);

	return m == NULL ? NULL : &m->INSTANCE;
}

static const struct msg_RELEASE *
released(void)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);

	return m == NULL ? NULL : &m->RELEASE;
}

static unsigned
count(enum msg_type type)
{
	unsigned n = 0;

	while (ring_find(&ring, type, n) != NULL)
		n++;
	return n;
}

static void
go(uint64_t id, unsigned index)
{
	struct msg_INSTANCE_GO m = {.call = id, .server = (uint16_t)index};

	if (instance_go(&ring.env, &m) == -1)
		errx(1, "INSTANCE_GO %u", index);
}

static void
moved(uint64_t id, unsigned index)
{
	struct msg_MOVED m = {.id = id, .server = (uint16_t)index};

	instance_moved(&ring.env, &m);
}

static void
greeted(unsigned index)
{
	struct msg_INIT_RESULT m = {
	    .good = 1, .version = SPAN("2025-06-18"), .text = SPAN("x")};

	instance_init_result(&ring.env, (uint16_t)index, &m);
}

static void
no(uint64_t id, bool changed, const char *text)
{
	struct msg_INSTANCE_FAIL_GO m = {
	    .call = id, .changed = changed, .text = span_str(text)};

	instance_no(&ring.env, &m);
}

/* Expect that the instance was dropped once and is gone. */
static void
over(uint64_t id, const char *what)
{
	const char *why;

	ok(call_ended(&ring.env, id, false, &why) == 0 &&
		count(MSG_INSTANCE_DROP) == 1 &&
		ring_find(&ring, MSG_INSTANCE_DROP, 0)->INSTANCE_DROP.call ==
		    id,
	    "%s: dropped once", what);
	ok(instance_room(&ring.env) == 0 && instance_room(&ring.env) == -1,
	    "%s: gone once", what);
}

static void
test_way(void)
{
	struct stat st = stat_of("out/o");
	const struct msg_INSTANCE *m;
	const struct msg_RELEASE *r;
	struct msg_INSTANCE_GO twice = {.call = 1, .server = FIRST};
	uint64_t id = approved("read", OUT);

	m = asked(0);
	ok(m != NULL && count(MSG_INSTANCE) == 1 && m->call == id &&
		m->server == 0 && m->kind == PROTO_OBJECT_FILE &&
		m->writable == 0 && m->left == 0 && m->dev == st.st_dev &&
		m->ino == st.st_ino,
	    "asked for the file, to be read");
	is_str(ring_str(m->path), rig_text(&ring.rig, "@D/out/o"), "its path");
	ok(count(MSG_APPROVED) == 1 && released() == NULL,
	    "the hold is over, the call is not out");
	go(id, FIRST);
	ok(count(MSG_SESSION) == 1 &&
		ring_find(&ring, MSG_SESSION, 0)->SESSION.server == FIRST,
	    "greeted");
	twice.call = id;
	ok(instance_go(&ring.env, &twice) == -1, "an index is one instance's");
	greeted(FIRST);
	ok(count(MSG_SESSION) == 2 && released() == NULL,
	    "answers must be taken from it before the call goes out");
	moved(id, FIRST + 1);
	ok(released() == NULL, "from it, not from another");
	moved(id, FIRST);
	r = released();
	ok(r != NULL && r->forward && r->server == FIRST && r->over &&
		r->hold == PROTO_HOLD_APPROVED &&
		r->status == PROTO_ESCALATE && span_is(r->rule, "ask") &&
		span_is(r->server_name, "filesystem"),
	    "released to the instance, in the server's name");
	is_str(ring_str(span_of(r->payload.p + r->args_off, r->args_len)),
	    rig_text(&ring.rig, OUT), "with the arguments that were shown");
	call_cancel(&ring.env, id);
	ok(ring_find(&ring, MSG_SESSION, 2)->SESSION.server == FIRST &&
		ring_find(&ring, MSG_SESSION, 2)->SESSION.id == id,
	    "a cancellation goes there, too");
	over(id, "answered");
}

static void
test_objects(void)
{
	const struct msg_INSTANCE *m;
	struct stat dir = stat_of("out"), file = stat_of("out/o");
	uint64_t id = approved("write", "{\"path\":\"@D/out/new\"}");

	m = asked(0);
	ok(m->kind == PROTO_OBJECT_NAME && m->writable &&
		m->ino == dir.st_ino && m->own_ino == 0,
	    "a new file: a name in its directory");
	is_str(ring_str(m->path), rig_text(&ring.rig, "@D/out/new"), "whole");
	no(id, false, "x");
	over(id, "not served");
	id = approved("write", "{\"path\":\"@D/out/n1/n2/n3\"}");
	is_str(ring_str(asked(0)->path), rig_text(&ring.rig, "@D/out/n1"),
	    "of several new ones: the first");
	no(id, false, "x");
	over(id, "not served");
	id = approved("write", OUT);
	m = asked(0);
	ok(m->kind == PROTO_OBJECT_FILE && m->writable &&
		m->ino == file.st_ino,
	    "a file that is written: itself, writable");
	no(id, false, "x");
	over(id, "not served");
	id = approved("read", "{\"path\":\"@D/out\"}");
	m = asked(0);
	ok(m->kind == PROTO_OBJECT_DIR && !m->writable &&
		m->ino == dir.st_ino,
	    "a directory: itself");
	no(id, false, "x");
	over(id, "not served");
	id = approved("move",
	    "{\"source\":\"@D/out/o\",\"destination\":\"@D/out/q\"}");
	ok(count(MSG_INSTANCE) == 2 && asked(0)->left == 1 &&
		asked(1)->left == 0,
	    "a move: two names");
	ok(asked(0)->kind == PROTO_OBJECT_NAME && asked(0)->writable &&
		asked(0)->ino == dir.st_ino &&
		asked(0)->own_ino == file.st_ino && asked(1)->own_ino == 0,
	    "of which one is there");
	no(id, false, "x");
	over(id, "not served");
	id = approved(
	    "move", "{\"source\":\"a\",\"destination\":\"@D/out/q\"}");
	ok(count(MSG_INSTANCE) == 2 && asked(0)->kind == PROTO_OBJECT_NAME &&
		asked(0)->ino == stat_of("ws").st_ino &&
		asked(0)->own_ino == stat_of("ws/a").st_ino &&
		asked(1)->kind == PROTO_OBJECT_NAME &&
		asked(1)->ino == dir.st_ino,
	    "out of the workspace: a name of it, and one outside");
	no(id, false, "x");
	over(id, "not served");
	id = approved("many",
	    "{\"paths\":[\"@D/out/o\",\"@D/out/o\",\"@D/home/private\"]}");
	ok(count(MSG_INSTANCE) == 2, "one named twice is one object");
	no(id, false, "x");
	over(id, "not served");
}

static void
refused(const char *tool, const char *args, const char *what)
{
	uint64_t id;
	const char *why;

	ring_clear(&ring);
	id = ring_call(&ring, 0, tool, args);
	ok(released() != NULL && !released()->forward &&
		span_is(released()->rule, "structural-outside-view") &&
		count(MSG_HOLD) == 0 && count(MSG_INSTANCE) == 0,
	    "%s: refused, not held", what);
	(void)call_ended(&ring.env, id, false, &why);
}

static void
test_refused(void)
{
	char args[2048] = "{\"paths\":[", one[64];

	refused("many", "{\"paths\":[\"a\",\"@D/out/o\"]}", "in and out");
	ok(span_starts(released()->answer,
	       span_str(rig_text(&ring.rig, "DENIED: @D/out/o is outside"))),
	    "and says which");
	refused("move", "{\"source\":\"a\",\"destination\":\"@D/out/o\"}",
	    "a move onto a file");
	ok(span_starts(released()->answer,
	       span_str(rig_text(&ring.rig, "DENIED: @D/out/o exists"))),
	    "and says that it is there");
	for (int i = 0; i < 9; i++) {
		snprintf(one, sizeof(one), "%s\"@D/out/x%d\"",
		    i == 0 ? "" : ",", i);
		strcat(args, one);
	}
	refused("many", strcat(args, "]}"), "nine of them");
}

static void
changed(uint64_t id, const char *what)
{
	const struct msg_RELEASE *r = released();

	ok(r != NULL && !r->forward && r->hold == PROTO_HOLD_CHANGED &&
		span_is(r->rule, "approval-changed") &&
		span_starts(r->answer, SPAN("ESCALATION CHANGED: ")),
	    "%s: changed", what);
}

static void
test_changed(void)
{
	char a[512], b[512];
	const union proto_any *hold;
	const char *why;
	uint64_t id;

	/* Another file takes its name before the approval. */
	in("out/o", a, sizeof(a));
	in("out/other", b, sizeof(b));
	rig_file(&ring.rig, "out/other");
	ring_clear(&ring);
	id = ring_call(&ring, 0, "read", OUT);
	hold = ring_find(&ring, MSG_HOLD, 0);
	if (rename(b, a) == -1)
		err(1, "rename");
	ring_verdict(&ring, id, hold->HOLD.digest, true, "");
	changed(id, "renamed over");
	ok(count(MSG_INSTANCE) == 0 && count(MSG_APPROVED) == 0,
	    "nothing is asked for");
	ok(call_ended(&ring.env, id, false, &why) == 0, "ended");
	/* The file to be written has a second name. */
	ring_clear(&ring);
	id = ring_call(&ring, 0, "write", OUT);
	hold = ring_find(&ring, MSG_HOLD, 0);
	if (link(a, b) == -1)
		err(1, "link");
	ring_verdict(&ring, id, hold->HOLD.digest, true, "");
	changed(id, "hard link");
	(void)call_ended(&ring.env, id, false, &why);
	(void)unlink(b);
	/* The file changes while the instance starts. */
	id = approved("read", OUT);
	go(id, FIRST);
	if (unlink(a) == -1)
		err(1, "unlink");
	rig_link(&ring.rig, "@D/prot/p", "out/o");
	moved(id, FIRST);
	greeted(FIRST);
	changed(id, "a link while it starts");
	over(id, "changed");
	if (unlink(a) == -1)
		err(1, "unlink");
	rig_file(&ring.rig, "out/o");
	/* icsupervisor finds another object. */
	id = approved("read", OUT);
	no(id, true, "it is another one");
	changed(id, "seen by icsupervisor");
	over(id, "changed");
}

static void
test_failures(void)
{
	struct msg_INIT_RESULT bad = {.good = 0, .text = SPAN("no")};
	uint64_t id = approved("read", OUT);

	go(id, FIRST);
	instance_gone(&ring.env, FIRST, SPAN("closed its output"));
	ok(released() != NULL && !released()->forward &&
		span_is(released()->rule, "instance-failed"),
	    "it dies: refused");
	over(id, "died");
	id = approved("read", OUT);
	go(id, FIRST);
	instance_init_result(&ring.env, FIRST, &bad);
	ok(released() != NULL && !released()->forward, "it refuses: refused");
	over(id, "refused");
	id = approved("read", OUT);
	go(id, FIRST);
	ring.loop.now += INSTANCE_MS;
	ring.env.instance_timer.fn(&ring.env.instance_timer);
	ok(released() != NULL && !released()->forward &&
		released()->over,
	    "it does not answer: refused after 10 s");
	over(id, "late");
	greeted(FIRST);
	moved(id, FIRST);
	go(id, FIRST);
	ok(count(MSG_RELEASE) == 1, "what comes later is nothing");
	id = approved("read", OUT);
	call_cancel(&ring.env, id);
	ok(released() != NULL && !released()->forward &&
		released()->hold == PROTO_HOLD_APPROVED,
	    "cancelled before it is ready");
	over(id, "cancelled");
}

static void
test_allowed(void)
{
	uint64_t id;

	ring_clear(&ring);
	/* No row of server 2 shows it, but a rule allows it. */
	id = ring_call(&ring, 2, "read", "{\"path\":\"@D/home/docs/deep/e\"}");
	ok(count(MSG_HOLD) == 0 && count(MSG_INSTANCE) == 1 &&
		released() == NULL,
	    "allowed without a mount: an instance, nobody is asked");
	go(id, FIRST + 3);
	greeted(FIRST + 3);
	moved(id, FIRST + 3);
	ok(released() != NULL && released()->forward &&
		released()->server == FIRST + 3 &&
		released()->status == PROTO_ALLOW &&
		released()->hold == PROTO_HOLD_NONE && !released()->over &&
		span_is(released()->rule, "free"),
	    "released by its rule");
	over(id, "answered");
}

static void
test_requests(void)
{
	struct msg_SERVER_REQUEST m = {
	    .rid = SPAN("7"), .method = SPAN("roots/list")};
	uint64_t id = approved("read", OUT);

	go(id, FIRST);
	ring_clear(&ring);
	instance_request(&ring.env, FIRST, &m);
	m.method = SPAN("ping");
	instance_request(&ring.env, FIRST, &m);
	instance_request(&ring.env, FIRST + 1, &m);
	m.rid = SPAN("7,");
	instance_request(&ring.env, FIRST, &m);
	ok(count(MSG_SESSION) == 2, "two answers");
	m.rid = SPAN("8");
	for (unsigned i = 0; i < INSTANCE_ANSWERS + 5; i++) {
		instance_request(&ring.env, FIRST, &m);
		if (i % 40 == 0)
			ring_clear(&ring);
	}
	ring_clear(&ring);
	instance_request(&ring.env, FIRST, &m);
	ok(count(MSG_SESSION) == 0, "it asks without end: no answer");
	no(id, false, "x");
	over(id, "over");
}

static void
test_limits(void)
{
	uint64_t ids[INSTANCE_MAX + 1];
	const char *why;
	unsigned n = 0;

	for (unsigned i = 0; i < INSTANCE_MAX; i++) {
		ids[i] = approved("read", OUT);
		n += count(MSG_INSTANCE);
		ring.loop.now += 70000; /* let the circuit breaker forget */
		/* Move the clock only now: these instances are ready. */
		if (i < PROTO_MAX_INSTANCES) {
			go(ids[i], FIRST + i);
			greeted(FIRST + i);
			moved(ids[i], FIRST + i);
		}
	}
	is_int(n, PROTO_MAX_INSTANCES, "8 are asked for, the others wait");
	ids[INSTANCE_MAX] = approved("read", OUT);
	ok(released() != NULL && !released()->forward &&
		span_is(released()->rule, "instance-limit") &&
		!released()->over &&
		released()->hold == PROTO_HOLD_APPROVED,
	    "one more is refused");
	(void)call_ended(&ring.env, ids[INSTANCE_MAX], false, &why);
	ring_clear(&ring);
	(void)call_ended(&ring.env, ids[3], false, &why);
	ok(count(MSG_INSTANCE_DROP) == 1 && count(MSG_INSTANCE) == 0,
	    "one ends: the next waits until it is gone");
	(void)instance_room(&ring.env);
	ok(count(MSG_INSTANCE) == 1 &&
		asked(0)->call == ids[PROTO_MAX_INSTANCES],
	    "then comes the oldest");
	go(ids[PROTO_MAX_INSTANCES], FIRST + 3);
	ok(count(MSG_SESSION) == 1 &&
		span_starts(ring_find(&ring, MSG_SESSION, 0)->SESSION.line,
		    SPAN("{\"id\":\"i\",")),
	    "and is greeted");
	for (unsigned i = 0; i < INSTANCE_MAX; i++) {
		if (i == 3)
			continue;
		ring_clear(&ring);
		if (i < PROTO_MAX_INSTANCES) {
			(void)call_ended(&ring.env, ids[i], false, &why);
		} else {
			no(ids[i], false, "x");
			(void)call_ended(&ring.env, ids[i], false, &why);
		}
		(void)instance_room(&ring.env);
	}
	is_int(ring.env.calls.n, 0, "no call is left");
	ok(instance_room(&ring.env) == -1, "nor an instance");
}

static void
test_index(void)
{
	ring_clear(&ring);
	instance_lost(&ring.env, FIRST + 2, false);
	ok(count(MSG_INSTANCE_GONE) == 0, "closed here alone");
	instance_lost(&ring.env, FIRST + 3, true);
	ok(count(MSG_INSTANCE_GONE) == 0, "another there");
	instance_lost(&ring.env, FIRST + 2, true);
	ok(count(MSG_INSTANCE_GONE) == 1 &&
		ring_find(&ring, MSG_INSTANCE_GONE, 0)->INSTANCE_GONE.server ==
		    FIRST + 2,
	    "closed in both: the index left");
	instance_lost(&ring.env, 0, true);
	instance_lost(&ring.env, 0, false);
	ok(count(MSG_INSTANCE_GONE) == 1, "a server is no instance");
	instance_lost(&ring.env, FIRST + 3, false);
}

int
main(void)
{
	ring_init(&ring, true);
	rig_server(&ring.rig, 0, "filesystem", false, "");
	if (engine_server(&ring.env.engine, 2, SPAN("other"), false,
		SPAN("/workspace"), SPAN(""), SPAN("")) == -1)
		err(1, "engine_server");
	rig_row(&ring.rig, 2, "/workspace", "@D/ws");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	ring_ready(&ring, 0, "filesystem", "read write delete many move");
	ring_ready(&ring, 2, "other", "read");
	test_way();
	test_objects();
	test_refused();
	test_changed();
	test_failures();
	test_allowed();
	test_requests();
	test_limits();
	test_index();
	ring_free(&ring);
	return tap_done();
}
