/* SPDX-License-Identifier: ISC */
/*
 * Tests pending calls: short ids, unique prefixes, the digest that must match
 * the one shown, the limit, and who may answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/hub/peer.h"
#include "supervisor/core/sup.h"
#include "supervisor/hub/approvals.h"
#include "supervisor/hub/control.h"
#include "tap.h"

static const uint8_t digest[32] = {1, 2, 3};

static bool waits; /* for the person, as approvals.c reports it */

static void
waiting(bool now)
{
	waits = now;
}

static int
add(uint64_t id)
{
	struct msg_HOLD_SHOW m = {.id = id,
	    .digest = span_of(digest, sizeof(digest)),
	    .server_name = SPAN("fs"),
	    .tool = SPAN("read\n"),
	    .rule = SPAN("r"),
	    .reason = SPAN("why\xff"),
	    .ms = 1000,
	    .effect = SPAN("Reads /x"),
	    .args = 7,
	    .preview = SPAN("{\"a\":1}{\"asks\":[],\"resources\":[]}")};

	return approvals_add(&m);
}

static void
test_details(void)
{
	static const struct {
		const char *preview;
		uint32_t args;
		int want;
		const char *name;
	} cases[] = {
	    {"{}{\"asks\":[],\"resources\":[]}", 2, 0, "as it should be"},
	    {"{}", 2, -1, "nothing said of what it touches"},
	    {"{}{\"asks\":[]}", 2, -1, "no resources"},
	    {"{}{\"asks\":[],\"resources\":{}}", 2, -1, "which are no list"},
	    {"{}{\"asks\":[],\"resources\":[", 2, -1, "cut"},
	    {"{}", 3, -1, "arguments that end behind the message"},
	};
	struct msg_HOLD_SHOW m = {.id = 1,
	    .digest = span_of(digest, sizeof(digest)),
	    .server_name = SPAN("fs"),
	    .tool = SPAN("read"),
	    .rule = SPAN("r"),
	    .reason = SPAN("why"),
	    .effect = SPAN("Reads /x"),
	    .ms = 1000};

	for (size_t i = 0; i < nitems(cases); i++) {
		m.preview = span_str(cases[i].preview);
		m.args = cases[i].args;
		is_int(approvals_add(&m), cases[i].want, "details: %s",
		    cases[i].name);
		approvals_free();
	}
}

static void
test_ids(void)
{
	struct hold *h, *found;
	char prefix[8];
	unsigned bad = 0;

	for (uint64_t id = 1; id <= PROTO_MAX_HOLDS; id++)
		if (add(id) == -1)
			bad++;
	is_int(bad, 0, "as many as a session may have");
	ok(add(1000) == -1, "not one more");
	is_int(approvals_count(), PROTO_MAX_HOLDS, "all are there");
	for (uint64_t id = 1; id <= PROTO_MAX_ASKS; id++)
		if (add(PROTO_ASK_ID | id) == -1)
			bad++;
	is_int(bad, 0, "and as many requests as may wait");
	ok(add(PROTO_ASK_ID | 1000) == -1, "not one more of them");
	is_int(approvals_count(), PROTO_MAX_HOLDS + PROTO_MAX_ASKS,
	    "they are no calls");
	approvals_free();
	ok(add(PROTO_BUDGET_ID | 1) == 0 && !waits,
	    "the agent does not wait for the raise of a limit");
	ok(add(5) == 0 && waits, "it waits for a call");
	ok(approvals_end(5, PROTO_HOLD_DENIED, false) == 0 && !waits,
	    "and no longer when that ends");
	approvals_free();
	for (uint64_t id = 1; id <= PROTO_MAX_HOLDS; id++)
		bad += add(id) == -1;
	for (uint64_t id = 1; id <= PROTO_MAX_ASKS; id++)
		bad += add(PROTO_ASK_ID | id) == -1;
	for (uint64_t id = 1; id <= PROTO_MAX_ASKS; id++)
		if (approvals_end(
			PROTO_ASK_ID | id, PROTO_HOLD_DENIED, false) == -1)
			bad++;
	is_int(bad, 0, "each ends by its own id");
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		h = approvals_at(i);
		if (strspn(h->sid, "abcdefghijkmnpqrstuvwxyz23456789") !=
			APPROVALS_SID ||
		    approvals_find(h->sid, false, &found) != APPROVALS_FOUND ||
		    found != h)
			bad++;
	}
	is_int(bad, 0, "each is found by its own short id");
	ok(approvals_at(PROTO_MAX_HOLDS) == NULL, "and no more");
	h = approvals_at(0);
	is_str(h->tool, "read\\x0a", "a tool's name is made printable");
	is_str(h->reason, "why\\xff", "a reason, too");
	/* Some prefix of the first id is unique. */
	for (size_t n = 1; n <= APPROVALS_SID; n++) {
		snprintf(prefix, sizeof(prefix), "%.*s", (int)n, h->sid);
		if (approvals_find(prefix, true, &found) == APPROVALS_FOUND)
			break;
	}
	ok(found == h, "a unique prefix is enough to look at one");
	ok(strlen(prefix) == APPROVALS_SID ||
		(approvals_find(prefix, false, &found) == APPROVALS_PART &&
		    found == h),
	    "and not enough to answer it");
	{
		enum proto_hold how = PROTO_HOLD_NONE;
		char gone[APPROVALS_SID + 1];

		is_int(add(PROTO_ASK_ID | 77), 0, "one more request");
		(void)strlcpy(gone, approvals_sid_of(PROTO_ASK_ID | 77),
		    sizeof(gone));
		ok(!approvals_ended(gone, &how), "it has not ended");
		(void)approvals_end(
		    PROTO_ASK_ID | 77, PROTO_HOLD_EXPIRED, false);
		ok(approvals_ended(gone, &how) && how == PROTO_HOLD_EXPIRED,
		    "how it ended is known to one who answers too late");
	}
	ok(approvals_find("", true, &found) == APPROVALS_NONE, "an empty one is not");
	ok(approvals_find("0000", true, &found) == APPROVALS_NONE, "unknown");
	ok(approvals_find("abcde", true, &found) == APPROVALS_NONE, "too long");
	ok(add(1) == 0 && approvals_count() == PROTO_MAX_HOLDS,
	    "a call that is held already is the same one");
	ok(found == h && strcmp(approvals_at(0)->sid, h->sid) == 0,
	    "and keeps its id");
	for (uint64_t id = 1; id <= PROTO_MAX_HOLDS; id++)
		if (approvals_end(id, PROTO_HOLD_EXPIRED, false) == -1)
			bad++;
	is_int(bad, 0, "all end");
	ok(approvals_end(1, PROTO_HOLD_EXPIRED, false) == -1,
	    "none ends twice");
}

static void
test_several(void)
{
	struct hold *found;
	char prefix[2];
	unsigned several = 0;

	/* 64 ids start with one of 32 letters, so that two share a letter. */
	for (uint64_t id = 1; id <= PROTO_MAX_HOLDS; id++)
		(void)add(id);
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		snprintf(prefix, sizeof(prefix), "%.1s", approvals_at(i)->sid);
		if (approvals_find(prefix, true, &found) == APPROVALS_SEVERAL)
			several++;
	}
	ok(several >= 2, "a shared prefix is ambiguous (%u)", several);
	approvals_free();
}

static void
test_digest(void)
{
	static const uint8_t other[32] = {1, 2, 4};
	struct hold *h;

	ok(add(7) == 0, "held");
	h = approvals_at(0);
	is_int(approvals_answer(h, other, NULL, 0, true, "", "", ""), -1,
	    "an answer to another digest is refused");
	is_int(approvals_answer(h, digest, other, 0, true, "", "", ""), -1,
	    "so is one that grants something else than was shown");
	ok(!h->answered, "and changes nothing");
	is_int(
	    approvals_answer(h, digest, NULL, 0, true, "", "", ""), 0, "the shown one");
	ok(h->answered, "is on its way");
	approvals_free();
}

static void
test_peer_status(void)
{
	static const struct {
		const char *status;
		struct peer_view is;
		const char *name;
	} cases[] = {
	    {"Name:\tx\nNSpid:\t12\nNoNewPrivs:\t0\nSeccomp_filters:\t0\n",
		{.known = true}, "a shell"},
	    {"Name:\tx\nNSpid:\t12\t3\nNoNewPrivs:\t0\nSeccomp_filters:\t3\n",
		{.known = true, .nested = true, .filters = 3},
		"in a pid namespace"},
	    {"Name:\tx\nNSpid:\t12\nNoNewPrivs:\t1\n",
		{.known = true, .no_new_privs = true, .filters = -1},
		"under no_new_privs"},
	    {"Name:\tx\nNoNewPrivs:\t0\nSeccomp_filters:\t0\n",
		{.nested = true}, "NSpid unknown"},
	    {"Name:\tx\nNSpid:\t12\nSeccomp_filters:\t0\n",
		{.no_new_privs = true}, "NoNewPrivs unknown"},
	    {"Name:\tNoNewPrivs:\t0\nNSpid:\t12\nSeccomp_filters:\t0\n",
		{.no_new_privs = true}, "a name that looks like a field"},
	};
	struct peer_view v;

	for (size_t i = 0; i < nitems(cases); i++) {
		memset(&v, 0, sizeof(v));
		peer_view_status(cases[i].status, &v);
		ok(v.known == cases[i].is.known &&
			v.nested == cases[i].is.nested &&
			v.no_new_privs == cases[i].is.no_new_privs &&
			v.filters == cases[i].is.filters,
		    "/proc of a process: %s", cases[i].name);
	}
}

static void
test_peer(void)
{
	static const struct peer_view us = {
	    .known = true, .user = 1, .pid = 2, .mnt = 3};
	static const struct peer_view strict = {.known = true,
	    .no_new_privs = true,
	    .filters = 1,
	    .user = 1,
	    .pid = 2,
	    .mnt = 3};
	struct {
		const struct peer_view *us;
		struct peer_view asker;
		const char *why; /* part of the reason; NULL: accepted */
		const char *name;
	} cases[] = {
	    {&us, us, NULL, "a shell"},
	    {&us, us, "/proc", "unknown"},
	    {&us, us, "pid namespace of its own", "nested"},
	    {&us, us, "no_new_privs", "no_new_privs"},
	    {&us, us, "user namespace", "another user namespace"},
	    {&us, us, "another pid namespace", "another pid namespace"},
	    {&us, us, NULL, "other mounts, of a shell that may do all"},
	    {&strict, strict, NULL, "strict: a shell"},
	    {&strict, strict, "other mounts", "strict: other mounts"},
	    {&strict, strict, "more system call filters",
		"strict: one filter more"},
	    {&strict, strict, "more system call filters",
		"strict: filters unknown"},
	    {&strict, strict, "user namespace",
		"strict: another user namespace"},
	    {&strict, strict, "pid namespace of its own", "strict: nested"},
	    {&strict, strict, "another user namespace",
		"strict: namespaces cannot be read"},
	};
	char why[160];
	bool may;

	cases[1].asker.known = false;
	cases[2].asker.nested = true;
	cases[3].asker.no_new_privs = true;
	cases[4].asker.user = 9;
	cases[5].asker.pid = 9;
	cases[6].asker.mnt = 9;
	cases[8].asker.mnt = 9;
	cases[9].asker.filters = 2;
	cases[10].asker.filters = -1;
	cases[11].asker.user = 9;
	cases[12].asker.nested = true;
	cases[13].asker.user = cases[13].asker.pid = cases[13].asker.mnt = 0;
	for (size_t i = 0; i < nitems(cases); i++) {
		why[0] = '\0';
		may = peer_view_ok(
		    cases[i].us, &cases[i].asker, why, sizeof(why));
		ok(may == (cases[i].why == NULL) &&
			(may || strstr(why, cases[i].why) != NULL),
		    "%s: %s", cases[i].name, may ? "may" : why);
	}
}

int
main(void)
{
	for (size_t i = 0; i < CONTROL_MAX_CLIENTS; i++)
		control_clients[i].fd = -1;
	session_init(&sup.session);
	if (loop_init(&sup.loop, 8) == -1)
		return 99;
	approvals_init(waiting);
	test_details();
	test_ids();
	test_several();
	test_digest();
	test_peer_status();
	test_peer();
	return tap_done();
}
