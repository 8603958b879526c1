/* SPDX-License-Identifier: ISC */
/*
 * Tests the details of a held call for a person: its effects, worst first;
 * every rule that asks; every value with a role, uncut however long the rest
 * is.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ring ring;

static const char rules[] =
    "{\"rules\":["
    "{\"name\":\"ask-read\",\"if\":{\"roles\":[\"read-path\"]},"
    "\"then\":\"escalate\",\"reason\":\"reading\"},"
    "{\"name\":\"ask-write\",\"if\":{\"roles\":[\"write-path\"]},"
    "\"then\":\"escalate\",\"reason\":\"writing\"},"
    "{\"name\":\"ask-delete\",\"if\":{\"roles\":[\"delete-path\"]},"
    "\"then\":\"escalate\",\"reason\":\"deleting\"},"
    "{\"name\":\"ask\",\"if\":{},\"then\":\"escalate\","
    "\"reason\":\"asks\"}]}";

static const struct msg_HOLD *
held(unsigned server, const char *tool, const char *args)
{
	const union proto_any *m;

	ring_clear(&ring);
	if (ring_call(&ring, server, tool, args) == 0 ||
	    (m = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "not held: %s %s", tool, args);
	return &m->HOLD;
}

static const char *
details(const struct msg_HOLD *h)
{
	return ring_str(
	    span_of(h->preview.p + h->args, h->preview.len - h->args));
}

static void
test_effect(void)
{
	static const struct {
		const char *tool, *args, *want;
	} cases[] = {
	    {"move",
		"{\"source\":\"@D/home/docs/a\","
		"\"destination\":\"@D/home/docs/b\"}",
		"Deletes ~/docs/a, writes ~/docs/b"},
	    {"edit", "{\"path\":\"@D/home/docs/a\",\"dryRun\":false}",
		"Writes ~/docs/a"},
	    {"edit", "{\"path\":\"@D/home/docs/a\",\"dryRun\":true}",
		"Reads ~/docs/a"},
	    {"many",
		"{\"paths\":[\"@D/home/docs/a\",\"@D/home/docs/b\","
		"\"@D/home/docs/c\",\"@D/home/docs/e\",\"@D/home/docs/f\"]}",
		"Reads ~/docs/a and ~/docs/b and ~/docs/c "
		"and 2 more"},
	    {"read", "{\"path\":\"@D/home/docs/x, writes y\"}",
		"Reads \"~/docs/x, writes y\""},
	    {"read", "{\"path\":\"@D/home/docs/\\u202ex\\n\"}",
		"Reads \"~/docs/\\u{202e}x\\n\""},
	    {"nothing", "{\"x\":\"y\"}",
		"Calls filesystem__nothing, which has no argument that names "
		"a resource"},
	};
	const struct msg_HOLD *h;
	char want[2048];

	for (size_t i = 0; i < nitems(cases); i++) {
		h = held(0, cases[i].tool, cases[i].args);
		snprintf(want, sizeof(want), "%s",
		    rig_text(&ring.rig, cases[i].want));
		is_str(ring_str(h->effect), want, "%s: what it does",
		    cases[i].tool);
	}
}

static void
test_asks(void)
{
	const struct msg_HOLD *h = held(0, "move",
	    "{\"source\":\"@D/home/docs/a\","
	    "\"destination\":\"@D/home/docs/b\"}");
	char want[2048];

	snprintf(want, sizeof(want), "%s",
	    rig_text(&ring.rig,
		"{\"asks\":[{\"reason\":\"deleting\",\"role\":\"delete-path\","
		"\"rule\":\"ask-delete\"},{\"reason\":\"writing\",\"role\":"
		"\"write-path\",\"rule\":\"ask-write\"},{\"reason\":\"reading\""
		",\"role\":\"read-path\",\"rule\":\"ask-read\"}],"
		"\"resources\":[{\"argument\":\"source\",\"role\":"
		"\"delete-path\",\"roles\":[\"delete-path\",\"read-path\"],"
		"\"value\":\"@D/home/docs/a\"},{\"argument\":\"destination\","
		"\"role\":\"write-path\",\"value\":\"@D/home/docs/b\"}]}"));
	is_str(details(h), want, "each rule and each value, worst first");
	is_str(ring_str(h->rule), "ask-read",
	    "the decision's own rule stays the compatible one");
	h = held(0, "nothing", "{\"x\":\"y\"}");
	is_str(details(h),
	    "{\"asks\":[{\"reason\":\"asks\",\"rule\":\"ask\"}],"
	    "\"resources\":[]}",
	    "a call without roles: its rule");
}

static void
test_long(void)
{
	const struct msg_HOLD *h;
	size_t n = 100000;
	char *args = malloc(n + 256);

	if (args == NULL)
		err(1, "malloc");
	strcpy(args, "{\"content\":\"");
	memset(args + 12, 'x', n);
	strcpy(args + 12 + n, "\",\"path\":\"@D/home/docs/z\"}");
	h = held(0, "write", args);
	free(args);
	ok(h->args > n, "a long call");
	ok(memmem(h->preview.p + h->args, h->preview.len - h->args,
	       "/home/docs/z\"}]}", 16) != NULL &&
		h->preview.len - h->args < 1000,
	    "its path stands alone, whole");
}

int
main(void)
{
	ring_init(&ring, true);
	rig_server(&ring.rig, 0, "filesystem", false, "");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	ring_ready(&ring, 0, "filesystem", "read write many edit move nothing");
	test_effect();
	test_asks();
	test_long();
	ring_free(&ring);
	return tap_done();
}
