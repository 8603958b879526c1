/* SPDX-License-Identifier: ISC */
/*
 * Tests held calls: the table by itself, every end of a held call, and that the
 * first event counts and later ones are too late.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <sys/stat.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char rules[] =
    "{\"rules\":[{\"name\":\"ask\",\"if\":{},\"then\":\"escalate\","
    "\"reason\":\"it is outside\"}]}";

static struct ring ring;

static void
test_table(void)
{
	static struct holds hs;
	struct hold *h[PROTO_MAX_HOLDS];

	ok(hold_next(&hs) == 0 && hold_find(&hs, 1) == NULL, "empty table");
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		h[i] = hold_new(&hs, i + 1, SPAN("args"));
		if (h[i] == NULL)
			err(1, "hold_new");
		h[i]->expires = 1000 - i;
	}
	ok(hold_new(&hs, 99, SPAN("x")) == NULL, "no more than 64");
	is_int(hold_next(&hs), 1000 - 63, "the next to expire");
	ok(hold_expired(&hs, 936) == NULL, "nothing has expired");
	ok(hold_expired(&hs, 937) == h[63], "the first that expires");
	hold_free(&hs, h[63]);
	ok(hold_find(&hs, 64) == NULL && hold_find(&hs, 63) == h[62],
	    "gone, others not");
	ok(hold_new(&hs, 99, SPAN("x")) == h[63], "a place is used again");
	hold_free_all(&hs);
	is_int(hs.n, 0, "all gone");
}

static void
test_digest(void)
{
	/* Digest of ["s","t",{"a":1}], computed by another program. */
	static const uint8_t want[] = {
	    0x5b, 0xb8, 0x59, 0xdb, 0x78, 0x00, 0x01, 0x61, 0x7d, 0xe3,
	    0xf9, 0x63, 0xa4, 0xfc, 0xdb, 0xd8, 0xcd, 0xec, 0x4c, 0xdb,
	    0x4e, 0x9d, 0x10, 0xd5, 0xe6, 0xc6, 0xfc, 0x96, 0x69, 0x7e,
	    0x0f, 0x97
	};
	uint8_t got[HOLD_DIGEST];

	ok(hold_digest(SPAN("s"), SPAN("t"), SPAN("{\"a\":1}"),
	       span_of(NULL, 0), got) == 0,
	    "digest");
	is_mem(got, sizeof(got), want, sizeof(want), "SHA-256 of the array");
}

/* Make a call that is held; *digest is its digest, owned by the ring. */
static uint64_t
held(const char *args, struct span *digest)
{
	const union proto_any *hold, *to_proxy;
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, 0, "read", args);
	hold = ring_find(&ring, MSG_HOLD, 0);
	to_proxy = ring_find(&ring, MSG_CALL_HELD, 0);
	ok(hold != NULL && to_proxy != NULL && to_proxy->CALL_HELD.id == id &&
		to_proxy->CALL_HELD.ms == 300000 &&
		ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "held: %s", args);
	if (hold == NULL)
		errx(1, "not held");
	*digest = hold->HOLD.digest;
	return id;
}

static const struct msg_RELEASE *
released(uint64_t id)
{
	const union proto_any *m = ring_find(&ring, MSG_RELEASE, 0);

	if (m == NULL || m->RELEASE.id != id ||
	    ring_find(&ring, MSG_RELEASE, 1) != NULL)
		errx(1, "not one RELEASE of %llu", (unsigned long long)id);
	return &m->RELEASE;
}

static void
ended(uint64_t id)
{
	const char *why;

	ok(call_ended(&ring.env, id, false, &why) == 0, "ENDED is taken");
	ok(call_ended(&ring.env, id, false, &why) == -1, "once");
}

static bool
late(void)
{
	return ring_find(&ring, MSG_LATE, 0) != NULL;
}

#define DOCS "{\"path\":\"@D/home/docs/d\"}"

static void
test_approve(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	char want[1024];
	uint64_t id = held(DOCS, &digest);
	const union proto_any *hold = ring_find(&ring, MSG_HOLD, 0);

	snprintf(want, sizeof(want), "%s",
	    rig_text(&ring.rig, DOCS));
	is_str(ring_str(span_of(hold->HOLD.preview.p, hold->HOLD.args)), want, "preview: the arguments");
	is_str(ring_str(hold->HOLD.rule), "ask", "rule");
	is_str(ring_str(hold->HOLD.reason), "it is outside", "reason");
	is_str(ring_str(hold->HOLD.server_name), "filesystem", "server");
	ring_verdict(&ring, id, digest, true, "");
	m = released(id);
	ok(m->forward && m->hold == PROTO_HOLD_APPROVED &&
		m->status == PROTO_ESCALATE && !late(),
	    "approved: forwarded");
	snprintf(want, sizeof(want),
	    "{\"id\":%llu,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
	    "\"params\":{\"arguments\":%s,\"name\":\"read\"}}\n",
	    (unsigned long long)id, rig_text(&ring.rig, DOCS));
	is_str(ring_str(span_of(m->payload.p, m->line_len)), want,
	    "the line");
	is_str(ring_str(span_of(m->payload.p + m->args_off, m->args_len)),
	    rig_text(&ring.rig, DOCS), "the arguments in it");
	ring_verdict(&ring, id, digest, true, "");
	ok(late() && ring_find(&ring, MSG_RELEASE, 1) == NULL,
	    "a second verdict is too late");
	ended(id);
}

static void
test_deny(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	uint64_t id = held(DOCS, &digest);

	ring_verdict(&ring, id, digest, false, "not now\x1b[2J");
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_DENIED && m->line_len == 0,
	    "denied: not forwarded");
	is_str(ring_str(m->answer),
	    "ESCALATION DENIED: the user denied this call (it is "
	    "outside)\nThe user says: not "
	    "now\\x1b[2J\nDo not retry unless the user asks you to.",
	    "and told so");
	is_str(ring_str(span_of(m->payload.p + m->args_off, m->args_len)),
	    rig_text(&ring.rig, DOCS), "with the arguments for the log");
	ring_verdict(&ring, id, digest, true, "");
	ok(late(), "an approval afterwards is too late");
	ended(id);
	id = held(DOCS, &digest);
	ring_verdict(&ring, id, digest, false, "");
	is_str(ring_str(released(id)->answer),
	    "ESCALATION DENIED: the user denied this call (it is "
	    "outside)\nDo not retry unless the user "
	    "asks you to.",
	    "without words");
	ended(id);
}

static void
test_expire(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	uint64_t id = held(DOCS, &digest);

	ring.loop.now += 299999;
	call_arm(&ring.env);
	ok(ring_find(&ring, MSG_RELEASE, 0) == NULL, "not before its time");
	ring.loop.now += 1;
	call_arm(&ring.env);
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_EXPIRED, "expired");
	is_str(ring_str(m->answer),
	    "ESCALATION EXPIRED: nobody answered within 300 s: it is outside. "
	    "It was not denied; the user may not be there.\nDo not retry "
	    "unless the user asks you to.",
	    "and told otherwise than denied");
	ring_verdict(&ring, id, digest, true, "");
	ok(late(), "an approval afterwards is too late");
	ended(id);
	/* The verdict itself is late, before the timer ran. */
	id = held(DOCS, &digest);
	ring.loop.now += 300000;
	ring_verdict(&ring, id, digest, true, "");
	m = released(id);
	ok(m->hold == PROTO_HOLD_EXPIRED && !m->forward && late(),
	    "an approval after the time is no approval");
	ended(id);
}

static void
test_cancel(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	uint64_t id = held(DOCS, &digest);

	call_cancel(&ring.env, id);
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_CANCELLED, "cancelled");
	ring_verdict(&ring, id, digest, true, "");
	ok(late(), "an approval afterwards is too late");
	call_cancel(&ring.env, id);
	ended(id);
	call_cancel(&ring.env, id);
	ok(ring_find(&ring, MSG_RELEASE, 1) == NULL &&
		ring_find(&ring, MSG_SESSION, 0) == NULL,
	    "cancelled again: nothing");
	call_cancel(&ring.env, 424242);
	ok(ring_find(&ring, MSG_SESSION, 0) == NULL, "no such call: nothing");
}

static void
test_digest_binds(void)
{
	struct span d1, d2;
	uint8_t wrong[HOLD_DIGEST] = {0}, first[HOLD_DIGEST];
	uint64_t a = held(DOCS, &d1), b;

	memcpy(first, d1.p, sizeof(first));
	ring_verdict(&ring, a, span_of(wrong, sizeof(wrong)), true, "");
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "another digest approves nothing");
	b = held("{\"path\":\"@D/home/docs/deep/e\"}", &d2);
	ok(memcmp(first, d2.p, sizeof(first)) != 0,
	    "other arguments, other digest");
	ring_verdict(&ring, b, span_of(first, sizeof(first)), true, "");
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "nor does the digest of another held call");
	ring_verdict(&ring, a, span_of(first, sizeof(first)), true, "");
	ok(released(a)->forward, "its own does");
	ended(a);
	call_cancel(&ring.env, b);
	ended(b);
}

/* The path leads to another object when it is approved. */
static void
test_changed(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	uint64_t id;
	char name[512];

	rig_link(&ring.rig, "d", "home/docs/link");
	id = held("{\"path\":\"@D/home/docs/link\"}", &digest);
	snprintf(name, sizeof(name), "%s/home/docs/link", ring.rig.dir);
	if (unlink(name) == -1)
		err(1, "unlink");
	rig_link(&ring.rig, "deep/e", "home/docs/link");
	ring_verdict(&ring, id, digest, true, "");
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_CHANGED &&
		span_is(m->rule, "approval-changed"),
	    "approved, but it leads elsewhere now: refused");
	ok(span_starts(m->answer, SPAN("ESCALATION CHANGED: ")),
	    "and told so");
	ended(id);
	id = held("{\"path\":\"@D/home/docs/link\"}", &digest);
	if (unlink(name) == -1)
		err(1, "unlink");
	rig_link(&ring.rig, "@D/prot/p", "home/docs/link");
	ring_verdict(&ring, id, digest, true, "");
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_CHANGED &&
		span_is(m->rule, "structural-protected-path"),
	    "approved, but it is protected now: refused, and why");
	ended(id);
	if (unlink(name) == -1)
		err(1, "unlink");
}

/* The rules changed before the verdict. */
static void
test_reload(void)
{
	const struct msg_RELEASE *m;
	struct span digest;
	uint64_t id = held(DOCS, &digest);
	struct load l;

	load_init(&l, "compiled-policy.json");
	if (engine_rules(&ring.env.engine, PROTO_RULES_POLICY,
		SPAN("{\"rules\":[]}"), &l) == -1)
		errx(1, "%s", l.error);
	ring_verdict(&ring, id, digest, true, "");
	m = released(id);
	ok(!m->forward && m->hold == PROTO_HOLD_CHANGED &&
		span_is(m->rule, "default-deny"),
	    "approved under rules that no longer are: refused");
	ended(id);
	if (engine_rules(&ring.env.engine, PROTO_RULES_POLICY,
		span_str(rules), &l) == -1)
		errx(1, "%s", l.error);
	load_free(&l);
}

static void
test_limit(void)
{
	uint64_t ids[PROTO_MAX_HOLDS], id;
	const struct msg_RELEASE *m;
	struct span digest;
	char args[64];

	for (unsigned i = 0; i < PROTO_MAX_HOLDS - 1; i++) {
		snprintf(args, sizeof(args), "{\"path\":\"@D/home/docs/%u\"}",
		    i);
		ring_clear(&ring);
		ids[i] = ring_call(&ring, 0, "read", args);
	}
	ids[PROTO_MAX_HOLDS - 1] = held(DOCS, &digest);
	ring_clear(&ring);
	id = ring_call(&ring, 1, "status", "{\"path\":\"@D/home/docs\"}");
	m = released(id);
	ok(!m->forward && span_is(m->rule, "hold-limit"),
	    "a 65th hold is refused");
	ended(id);
	ring_clear(&ring);
	call_server_gone(&ring.env, 0);
	is_int(ring.env.holds.n, 0, "a server that is gone holds nothing");
	for (unsigned i = 0; i < PROTO_MAX_HOLDS; i++) {
		const union proto_any *r = ring_find(&ring, MSG_RELEASE, i);
		const char *why;

		if (r == NULL || r->RELEASE.hold != PROTO_HOLD_CANCELLED ||
		    call_ended(&ring.env, ids[i], false, &why) == -1)
			errx(1, "hold %u did not end", i);
	}
	is_int(ring.env.calls.n, 0, "and no call is in flight");
	ring_clear(&ring);
}

/* The approver's verdict, which auditd passes on like a person's. */
static void
automatic(uint64_t id, struct span digest, bool approve, struct span session)
{
	const struct msg_VERDICT_GO m = {.id = id,
	    .digest = digest,
	    .automatic = 1,
	    .approve = approve,
	    .session = session,
	    .because = SPAN("asked for")};

	ring_clear(&ring);
	call_verdict(&ring.env, &m);
}

/* policyd knows itself which calls the approver may answer, and how. */
static void
test_automatic(void)
{
	static const char mine[] =
	    "{\"rules\":[{\"name\":\"ask\",\"if\":{},\"then\":"
	    "\"escalate\",\"reason\":\"it is outside\","
	    "\"autoApprove\":false}]}";
	static uint8_t copy[HOLD_DIGEST], offer[32];
	struct span digest;
	uint64_t id = held(DOCS, &digest);

	memcpy(copy, digest.p, sizeof(copy));
	digest = span_of(copy, sizeof(copy));
	ok(ring_find(&ring, MSG_HOLD, 0)->HOLD.automatic == 1,
	    "the approver may answer it");
	automatic(id, digest, false, SPAN(""));
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "it cannot deny");
	automatic(id, digest, true, span_of(offer, sizeof(offer)));
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "it cannot approve for the session");
	copy[0] ^= 1;
	automatic(id, digest, true, SPAN(""));
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "it cannot approve another digest");
	copy[0] ^= 1;
	automatic(id, digest, true, SPAN(""));
	ok(!late() && released(id)->forward && released(id)->automatic == 1,
	    "it can approve this call");
	ended(id);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, mine);
	id = held(DOCS, &digest);
	memcpy(copy, digest.p, sizeof(copy));
	digest = span_of(copy, sizeof(copy));
	ok(ring_find(&ring, MSG_HOLD, 0)->HOLD.automatic == 0,
	    "a rule can keep its calls for a person");
	automatic(id, digest, true, SPAN(""));
	ok(late() && ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "policyd refuses the approver's answer");
	ring_verdict(&ring, id, digest, true, "");
	ok(released(id)->forward && released(id)->automatic == 0,
	    "and takes a person's");
	ended(id);
}

int
main(void)
{
	test_table();
	test_digest();
	ring_init(&ring, true);
	rig_server(&ring.rig, 0, "filesystem", false, "");
	rig_row(&ring.rig, 0, "@D/prot", "@D/prot");
	rig_server(&ring.rig, 1, "git", false, "");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	ring_ready(&ring, 0, "filesystem", "read write");
	ring_ready(&ring, 1, "git", "status");
	test_approve();
	test_deny();
	test_expire();
	test_cancel();
	test_digest_binds();
	test_changed();
	test_reload();
	test_limit();
	test_automatic();
	ring_free(&ring);
	return tap_done();
}
