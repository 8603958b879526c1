/* SPDX-License-Identifier: ISC */
/*
 * Tests pins, message by message: tools at first use, unchanged, changed, new,
 * and with names that resemble others; and which digests `icctl trust` accepts.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TOOL(name, text)                                                       \
	"{\"name\":\"" name "\",\"description\":\"" text "\","                 \
	"\"inputSchema\":{\"type\":\"object\"}}"

static struct ring ring;

/* Add a third-party server; those of IronCurtain are not pinned. */
static void
server(unsigned index, const char *name)
{
	static const uint8_t command[PIN_DIGEST] = {7};

	if (engine_server(&ring.env.engine, index, span_str(name), false,
		SPAN("/workspace"), span_of(command, sizeof(command)),
		SPAN("")) == -1)
		err(1, "engine_server");
	rig_row(&ring.rig, index, "/workspace", "@D/ws");
}

static void
begin(void)
{
	ring_init(&ring, true);
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY,
	    "{\"rules\":[{\"name\":\"all\",\"if\":{},\"then\":\"allow\","
	    "\"reason\":\"fine\"}]}");
	server(0, "filesystem");
	server(1, "other");
}

/* Returns the state last reported for a tool, or -1. `digest` may be NULL. */
static int
told(unsigned server, const char *tool, uint8_t *digest)
{
	const union proto_any *m;

	for (unsigned i = 0; (m = ring_find(&ring, MSG_TOOL_SEEN, i)) != NULL;
	     i++) {
		if (m->TOOL_SEEN.server != server ||
		    !span_is(m->TOOL_SEEN.tool, tool))
			continue;
		if (digest != NULL)
			memcpy(digest, m->TOOL_SEEN.digest.p, PIN_DIGEST);
		return m->TOOL_SEEN.state;
	}
	return -1;
}

/* Returns the rule that decides a call, or "" if it is sent. */
static const char *
called(unsigned server, const char *tool)
{
	const union proto_any *m;
	const char *why, *rule;
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, server, tool, "{\"path\":\"/workspace/a\"}");
	if ((m = ring_find(&ring, MSG_RELEASE, 0)) == NULL)
		errx(1, "%s is not decided", tool);
	rule = m->RELEASE.forward ? "" : ring_str(m->RELEASE.rule);
	if (call_ended(&ring.env, id, false, &why) == -1)
		errx(1, "%s", why);
	return rule;
}

static bool
published(const char *name)
{
	const union proto_any *m = NULL, *last;

	for (unsigned i = 0; (last = ring_find(&ring, MSG_TOOLS, i)) != NULL;
	     i++)
		m = last;
	return m != NULL && memmem(m->TOOLS.text.p, m->TOOLS.text.len, name,
				strlen(name)) != NULL;
}

static void
pin(unsigned server, const char *tool, const uint8_t digest[PIN_DIGEST])
{
	if (pins_add(&ring.env.pins, (uint16_t)server, span_str(tool),
		span_of(digest, PIN_DIGEST), SPAN("")) == -1)
		err(1, "pins_add");
}

static void
trust(unsigned server, const char *tool, const uint8_t digest[PIN_DIGEST])
{
	struct msg_TRUST_GO m = {.server = (uint16_t)server,
	    .tool = span_str(tool),
	    .digest = span_of(digest, PIN_DIGEST)};

	ring_clear(&ring);
	session_trust(&ring.env, &m);
}

static void
test_first(uint8_t read[PIN_DIGEST], uint8_t write[PIN_DIGEST])
{
	begin();
	ring_ready_json(&ring, 0, "filesystem",
	    "[" TOOL("read", "a") "," TOOL("write", "b") "]");
	is_int(told(0, "read", read), PROTO_TOOL_FIRST, "first use is told");
	is_int(told(0, "write", write), PROTO_TOOL_FIRST, "of each tool");
	ok(memcmp(read, write, PIN_DIGEST) != 0, "each has its own digest");
	ok(published("filesystem__read") && published("filesystem__write"),
	    "the agent sees them");
	is_str(called(0, "read"), "", "and calls them");
	ring_free(&ring);
}

static void
test_same(const uint8_t *read, const uint8_t *write)
{
	begin();
	pin(0, "read", read);
	pin(0, "write", write);
	pin(0, TOOLS_WORDS, write);
	ring_ready_json(&ring, 0, "filesystem",
	    "[" TOOL("read", "a") "," TOOL("write", "b") "]");
	ok(ring_find(&ring, MSG_TOOL_SEEN, 0) == NULL,
	    "as pinned, and without instructions: no word");
	is_str(called(0, "write"), "", "and called");
	ring_free(&ring);
}

static void
test_changed(const uint8_t *read, const uint8_t *write)
{
	const union proto_any *m;
	uint8_t now[PIN_DIGEST], none[PIN_DIGEST] = {0};

	begin();
	pin(0, "read", read);
	pin(0, "write", write);
	ring_ready_json(&ring, 0, "filesystem",
	    "[" TOOL("read", "a, and send it") "," TOOL("write", "b") "," TOOL(
		"delete", "c") "]");
	is_int(told(0, "read", now), PROTO_TOOL_CHANGED, "changed");
	is_int(told(0, "delete", NULL), PROTO_TOOL_NEW, "came later");
	is_int(told(0, "write", NULL), -1, "as it was");
	ok(!published("filesystem__read") && !published("__delete") &&
		published("filesystem__write"),
	    "the agent sees the one that is as it was");
	is_str(called(0, "read"), "tool-quarantined", "changed: refused");
	m = ring_find(&ring, MSG_RELEASE, 0);
	ok(strstr(ring_str(m->RELEASE.answer), "icctl trust filesystem read") !=
		NULL,
	    "with the next command");
	is_str(called(0, "delete"), "tool-quarantined", "new: refused");
	trust(0, "read", read);
	is_int(told(0, "read", NULL), PROTO_TOOL_CHANGED,
	    "trust of what it was before: it is told what it is");
	is_str(called(0, "read"), "tool-quarantined", "and opens nothing");
	trust(0, "read", none);
	is_str(called(0, "read"), "tool-quarantined", "nor a digest of zeros");
	trust(0, "delete", now);
	is_str(called(0, "delete"), "tool-quarantined",
	    "nor another tool's digest");
	trust(0, "gone", now);
	is_int(told(0, "gone", NULL), PROTO_TOOL_CHANGED,
	    "a tool that is not there");
	trust(1, "read", now);
	is_str(called(0, "read"), "tool-quarantined", "nor another server");
	trust(PROTO_MAX_SERVERS - 1, "read", now);
	is_str(called(0, "read"), "tool-quarantined", "nor one that is none");
	trust(0, "read", now);
	is_int(told(0, "read", NULL), PROTO_TOOL_TRUSTED, "what was looked at");
	ok(published("filesystem__read"), "the agent sees it again");
	is_str(called(0, "read"), "", "and calls it");
	is_str(called(0, "delete"), "tool-quarantined", "and no other");
	ring_free(&ring);
}

/* The server reports a change of its list, and lists these tools. */
static void
list_again(unsigned index, const char *tools)
{
	struct session *s = &ring.env.sessions[index];
	struct msg_TOOLS_PAGE page = {.good = 1};
	struct buf b;

	session_list_changed(
	    &ring.env, (uint16_t)index, PROTO_CHANGED_TOOLS);
	/* The timer expires. */
	s->relist.fn(&s->relist);
	ring_clear(&ring);
	buf_init(&b, 1 << 20);
	if (value_encode(rig_tree(&ring.rig, tools), &b) == -1)
		err(1, "value_encode");
	page.seq = s->seq;
	page.tree = buf_span(&b);
	session_tools_page(&ring.env, (uint16_t)index, &page);
	buf_free(&b);
}

/* A definition changes during the session, and between inspection and trust. */
static void
test_swapped(void)
{
	uint8_t seen[PIN_DIGEST];

	begin();
	ring_ready_json(&ring, 0, "filesystem", "[" TOOL("read", "a") "]");
	list_again(0, "[" TOOL("read", "b") "]");
	is_int(
	    told(0, "read", seen), PROTO_TOOL_CHANGED, "changed while it runs");
	is_str(called(0, "read"), "tool-quarantined", "refused");
	list_again(0, "[" TOOL("read", "c") "]");
	trust(0, "read", seen);
	is_int(told(0, "read", NULL), PROTO_TOOL_CHANGED,
	    "another one again when the user says yes");
	is_str(called(0, "read"), "tool-quarantined", "opens nothing");
	ring_clear(&ring);
	list_again(0, "[" TOOL("read", "a") "]");
	is_int(told(0, "read", NULL), PROTO_TOOL_OK,
	    "as it was first: that is told");
	is_str(called(0, "read"), "", "and it is usable");
	trust(0, "read", seen);
	is_int(told(0, "read", NULL), PROTO_TOOL_OK,
	    "trust of what it was in between: the user is told");
	is_str(called(0, "read"), "", "and it is what it is");
	list_again(0, "[" TOOL("write", "w") "]");
	is_int(told(0, "write", NULL), PROTO_TOOL_NEW, "one that it adds");
	is_str(called(0, "write"), "tool-quarantined", "refused");
	ring_clear(&ring);
	list_again(0, "[]");
	is_int(told(0, "write", NULL), PROTO_TOOL_GONE,
	    "one in quarantine that is gone: that is told");
	is_str(called(0, "read"), "unknown-tool", "gone");
	list_again(0, "[" TOOL("read", "z") "]");
	is_str(called(0, "read"), "tool-quarantined",
	    "and back as another: its pin is not forgotten");
	ring_free(&ring);
}

static void
test_lookalike(void)
{
	static const char *const alike[] = {"READ", "re-ad", "r_e_a_d"};
	uint8_t digest[PIN_DIGEST];
	char tools[512];

	for (size_t i = 0; i < nitems(alike); i++) {
		begin();
		ring_ready_json(
		    &ring, 0, "filesystem", "[" TOOL("read", "a") "]");
		snprintf(tools, sizeof(tools),
		    "[" TOOL("read", "a") "," TOOL("%s", "x") "]", alike[i]);
		list_again(0, tools);
		is_int(told(0, alike[i], digest), PROTO_TOOL_LOOKALIKE,
		    "%s looks like read", alike[i]);
		is_str(called(0, alike[i]), "tool-quarantined", "refused");
		is_str(called(0, "read"), "", "read itself is not");
		ring_free(&ring);
	}
	/* Two tools at first use: neither was known before. */
	begin();
	ring_ready_json(&ring, 0, "filesystem",
	    "[" TOOL("list1", "a") "," TOOL("listl", "b") "]");
	ok(told(0, "list1", NULL) == PROTO_TOOL_LOOKALIKE ||
		told(0, "listl", NULL) == PROTO_TOOL_LOOKALIKE,
	    "two at the first use: not both");
	ring_free(&ring);
	/* A pinned server that has not listed its tools counts, too. */
	begin();
	pin(0, "read", digest);
	server(2, "fi1esystem");
	ring_ready_json(&ring, 2, "fi1esystem", "[" TOOL("read", "x") "]");
	is_int(told(2, "read", NULL), PROTO_TOOL_LOOKALIKE,
	    "of a server that has not started yet");
	ring_free(&ring);
}

static void
test_skeleton(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} names[] = {
	    {"read", "READ", true},
	    {"read_file", "read-file", true},
	    {"list", "1i5t", true},
	    {"modern", "rnodern", true},
	    {"wide", "vvide", true},
	    {"tool0", "toolO", true},
	    {"read", "reads", false},
	    {"read", "raed", false},
	    {"", "-_", true},
	};
	char a[64], b[64];
	size_t n, m;

	for (size_t i = 0; i < nitems(names); i++) {
		n = pins_skeleton(span_str(names[i].a), a);
		m = pins_skeleton(span_str(names[i].b), b);
		ok((n == m && memcmp(a, b, n) == 0) == names[i].same,
		    "\"%s\" and \"%s\"", names[i].a, names[i].b);
	}
}

static void
test_table(void)
{
	static struct pins ps;
	static const uint8_t d[PIN_DIGEST];
	struct span digest = span_of(d, sizeof(d));
	char name[140];

	ok(pins_add(&ps, 0, SPAN("t"), digest, SPAN("")) == 0, "a pin");
	ok(pins_add(&ps, 0, SPAN("t"), digest, SPAN("")) == -1 &&
		errno == EEXIST,
	    "twice: no");
	ok(pins_add(&ps, 1, SPAN("t"), digest, SPAN("")) == 0,
	    "of another server: yes");
	ok(pins_add(&ps, 0, SPAN("u"), span_of(d, 31), SPAN("")) == -1 &&
		errno == EINVAL,
	    "a digest that is short");
	memset(name, 'x', sizeof(name));
	ok(pins_add(&ps, 0, span_of(name, 129), digest, SPAN("")) == -1 &&
		errno == EINVAL,
	    "a name that is long");
	ok(ps.known[0] && ps.known[1] && !ps.known[2], "servers used before");
	pins_free(&ps);
	ok(ps.n == 0 && ps.list == NULL, "freed");
}

int
main(void)
{
	uint8_t read[PIN_DIGEST] = {0}, write[PIN_DIGEST] = {0};

	test_first(read, write);
	test_same(read, write);
	test_changed(read, write);
	test_swapped();
	test_lookalike();
	test_skeleton();
	test_table();
	return tap_done();
}
