/* SPDX-License-Identifier: ISC */
/*
 * Tests approvals for the session, and the effect of a reload on pending calls,
 * message by message, also with dishonest senders.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCS "{\"path\":\"@D/home/docs/d\"}"
#define DEEP "{\"path\":\"@D/home/docs/deep/e\"}"

static struct ring ring;

static char *
rules_of(const char *rules)
{
	char *text;

	if (asprintf(&text, "{\"rules\":[%s]}", rules) == -1)
		err(1, "asprintf");
	return text;
}

#define RULE(name, then, cond)                                                 \
	"{\"name\":\"" name "\",\"if\":{" cond "},\"then\":\"" then            \
	"\",\"reason\":\"about " name "\"}"
#define WITHIN(dir)                                                            \
	"\"paths\":{\"roles\":[\"read-path\"],\"within\":\"" dir "\"}"

static void
begin(const char *rules)
{
	char *text = rules_of(rules);

	ring_init(&ring, true);
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, text);
	free(text);
	rig_server(&ring.rig, 0, "filesystem", false, "");
	ring_ready(&ring, 0, "filesystem", "read write many");
	ring_clear(&ring);
}

struct shown {
	uint64_t id;
	uint8_t digest[HOLD_DIGEST];
	char session[2049], rule[257];
};

/* Make a call that is held. Returns what was shown. */
static struct shown
held(const char *tool, const char *args)
{
	const union proto_any *m;
	struct shown s = {.id = 0};

	ring_clear(&ring);
	s.id = ring_call(&ring, 0, tool, args);
	if ((m = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "%s %s is not held", tool, args);
	memcpy(s.digest, m->HOLD.digest.p, sizeof(s.digest));
	(void)span_copy(m->HOLD.session, s.session, sizeof(s.session));
	(void)span_copy(m->HOLD.rule, s.rule, sizeof(s.rule));
	ring_clear(&ring);
	return s;
}

static const struct msg_RELEASE *
release_of(uint64_t id)
{
	const union proto_any *m;

	for (unsigned i = 0; (m = ring_find(&ring, MSG_RELEASE, i)) != NULL;
	     i++)
		if (m->RELEASE.id == id)
			return &m->RELEASE;
	return NULL;
}

static void
approve(const struct shown *s, const char *offer)
{
	ring_clear(&ring);
	ring_verdict_session(
	    &ring, s->id, span_of(s->digest, sizeof(s->digest)), offer);
}

/* Returns true if the call was sent with this end and grant. */
static bool
went(uint64_t id, enum proto_hold how, uint64_t grant)
{
	const struct msg_RELEASE *m = release_of(id);
	const char *why;
	bool good =
	    m != NULL && m->forward && m->hold == how && m->grant == grant;

	if (m != NULL && call_ended(&ring.env, id, false, &why) == -1)
		errx(1, "%s", why);
	return good;
}

static void
test_offer(void)
{
	struct shown a, b;
	uint64_t id;

	begin(RULE("ask", "escalate", ""));
	a = held("read", DOCS);
	is_str(a.session,
	    rig_text(&ring.rig,
		"{\"constraints\":[{\"kind\":\"directory\",\"role\":"
		"\"read-path\",\"value\":\"@D/home/docs\"}],\"description\":"
		"\"Allow filesystem/read within @D/home/docs\",\"rule\":"
		"\"ask\"}"),
	    "what is shown, canonical");
	b = held("read", DEEP);
	approve(&a, a.session);
	ok(went(a.id, PROTO_HOLD_APPROVED, a.id), "approved, and a grant");
	ok(release_of(b.id) != NULL && release_of(b.id)->forward &&
		release_of(b.id)->hold == PROTO_HOLD_APPROVED &&
		release_of(b.id)->grant == a.id &&
		release_of(b.id)->status == PROTO_ALLOW,
	    "what waits and is granted goes out by it");
	is_int(ring.env.holds.n, 0, "nothing waits");
	ring_clear(&ring);
	id = ring_call(&ring, 0, "read", DOCS);
	ok(went(id, PROTO_HOLD_NONE, a.id), "the next one was never held");
	/* The grant must own its texts: overwrite the originals. */
	value_pool_reset(ring.env.pool);
	memset(ring.rig.text, 'x', strlen(ring.rig.text));
	id = ring_call(&ring, 0, "read", DEEP);
	ok(went(id, PROTO_HOLD_NONE, a.id), "nor another");
	ring_free(&ring);
}

/* The approval counts, but grants nothing that was not shown. */
static void
test_not_shown(void)
{
	static const char *const offers[] = {"", "{}",
	    "{\"constraints\":[],\"description\":\"\",\"rule\":\"ask\"}"};
	struct shown a, b;
	char more[2060];

	begin(RULE("ask", "escalate", ""));
	for (size_t i = 0; i < nitems(offers); i++) {
		a = held("read", DOCS);
		approve(&a, offers[i]);
		ok(went(a.id, PROTO_HOLD_APPROVED, 0) && ring.env.grants.n == 0,
		    "an offer that nobody made: %s", offers[i]);
	}
	a = held("read", DOCS);
	b = held("read", DEEP);
	approve(&b, a.session);
	ok(went(b.id, PROTO_HOLD_APPROVED, 0) && ring.env.grants.n == 0,
	    "that of another call");
	snprintf(more, sizeof(more), "%s ", a.session);
	approve(&a, more);
	ok(went(a.id, PROTO_HOLD_APPROVED, 0) && ring.env.grants.n == 0,
	    "with a byte more");
	a = held("read", "{\"path\":\"@D/home/private\"}");
	is_str(a.session, "", "nothing is offered");
	approve(&a, "");
	is_int(ring.env.grants.n, 0, "and nothing is granted");
	ring_free(&ring);
}

static void
test_verdicts(void)
{
	struct shown a;
	uint8_t wrong[HOLD_DIGEST] = {1};
	struct msg_VERDICT_GO m = {.digest = span_of(wrong, sizeof(wrong)),
	    .session = span_of(wrong, sizeof(wrong))};

	begin(RULE("ask", "escalate", ""));
	a = held("read", DOCS);
	m.id = a.id;
	m.approve = 1;
	call_verdict(&ring.env, &m);
	ok(ring_find(&ring, MSG_LATE, 0) != NULL && release_of(a.id) == NULL &&
		ring.env.holds.n == 1,
	    "a digest of no call that was shown: it waits on");
	m.approve = 0;
	m.digest = span_of(a.digest, sizeof(a.digest));
	ring_clear(&ring);
	call_verdict(&ring.env, &m);
	ok(release_of(a.id) != NULL && !release_of(a.id)->forward &&
		ring.env.grants.n == 0,
	    "denied for the session: denied");
	approve(&a, a.session);
	ok(ring_find(&ring, MSG_LATE, 0) != NULL && ring.env.grants.n == 0,
	    "too late");
	a = held("read", DOCS);
	ring.loop.now += 300000;
	approve(&a, a.session);
	ok(ring_find(&ring, MSG_LATE, 0) != NULL &&
		release_of(a.id)->hold == PROTO_HOLD_EXPIRED &&
		ring.env.grants.n == 0,
	    "expired, and nobody was told yet: no grant");
	ring_free(&ring);
}

static void
test_limits(void)
{
	struct grant g = {.server = SPAN("s"), .tool = SPAN("t")};
	struct shown a;
	struct buf b;
	char name[64];

	begin(RULE("ask", "escalate", ""));
	buf_init(&b, 1 << 16);
	for (unsigned i = 0; i <= GRANT_LIMITS; i++) {
		snprintf(name, sizeof(name), "home/docs/%u", i);
		rig_dir(&ring.rig, name);
		buf_printf(
		    &b, "%s\"@D/%s/x\"", i == 0 ? "{\"paths\":[" : ",", name);
	}
	buf_adds(&b, "]}");
	buf_addc(&b, '\0');
	a = held("many", (const char *)buf_span(&b).p);
	is_str(a.session, "", "too many directories to be shown: no offer");
	buf_free(&b);
	while (ring.env.grants.n < GRANTS_MAX - 1)
		if (grants_add(&ring.env.grants, 1, &g) == -1)
			err(1, "grants_add");
	a = held("read", DEEP);
	approve(&a, a.session);
	ok(went(a.id, PROTO_HOLD_APPROVED, a.id), "the last grant there is");
	ok(grants_add(&ring.env.grants, 1, &g) == -1 && errno == ENOBUFS,
	    "is the last");
	a = held("read", DOCS);
	approve(&a, a.session);
	ok(went(a.id, PROTO_HOLD_APPROVED, 0) &&
		ring.env.grants.n == GRANTS_MAX,
	    "one more: its call goes out, and nothing else");
	ring_free(&ring);
}

/* reload */

static void
take(enum proto_rules kind, const char *text)
{
	struct msg_RULES m = {.kind = (uint8_t)kind, .name = SPAN("file")};

	m.text = span_str(rig_text(&ring.rig, text));
	reload_take(&ring.env, &m, "file");
}

static void
take_policy(const char *rules)
{
	char *text = rules_of(rules);

	take(PROTO_RULES_POLICY, text);
	free(text);
}

/* Put the files in force. Returns "", or the error. */
static const char *
swap(void)
{
	const union proto_any *bad;

	ring_clear(&ring);
	reload_swap(&ring.env);
	if ((bad = ring_find(&ring, MSG_RULES_BAD, 0)) != NULL)
		return ring_find(&ring, MSG_RULES_OK, 0) != NULL ||
			       ring_find(&ring, MSG_RULES_NOW, 0) != NULL
			   ? "both"
			   : ring_str(bad->RULES_BAD.text);
	return ring_find(&ring, MSG_RULES_OK, 0) != NULL &&
		       ring_find(&ring, MSG_RULES_NOW, 0) != NULL
		   ? ""
		   : "nothing";
}

/* Expect that the rule decides. */
static void
decides(const char *rule, const char *what)
{
	const struct msg_RELEASE *m;
	uint64_t id;
	const char *why;

	ring_clear(&ring);
	id = ring_call(&ring, 0, "read", DOCS);
	if ((m = release_of(id)) == NULL)
		errx(1, "not decided");
	is_str(ring_str(m->rule), rule, "%s", what);
	(void)call_ended(&ring.env, id, false, &why);
}

static void
test_bad(void)
{
	static const struct {
		enum proto_rules kind;
		const char *text, *why;
	} bad[] = {
	    {PROTO_RULES_POLICY, "{", "file"},
	    {PROTO_RULES_POLICY, "{\"rules\":[{\"name\":\"x\"}]}", "file"},
	    {PROTO_RULES_ANNOTATIONS, "[]", "file"},
	    {PROTO_RULES_LISTS, "{\"lists\":7}", "file"},
	};

	begin(RULE("old", "allow", ""));
	ok(*swap() != '\0', "nothing came: refused");
	decides("old", "the old is in force");
	for (size_t i = 0; i < nitems(bad); i++) {
		take(bad[i].kind, bad[i].text);
		take_policy(RULE("new", "deny", ""));
		take(PROTO_RULES_ANNOTATIONS, rig_annotations);
		ok(strstr(swap(), bad[i].why) != NULL,
		    "one that is bad, then good ones: %s", bad[i].text);
		decides("old", "the old is in force");
	}
	take_policy(RULE("new", "deny", ""));
	ok(strstr(swap(), "one of the two is missing") != NULL,
	    "rules without annotations");
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	ok(strstr(swap(), "one of the two is missing") != NULL,
	    "annotations, and the rules of a round that was refused");
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	take_policy(RULE("new", "deny", ""));
	decides("old", "what is only staged decides nothing");
	is_str(swap(), "", "whole");
	decides("new", "and it does");
	ok(*swap() != '\0', "once: another swap has nothing");
	decides("new", "the last is in force");
	ring_free(&ring);
}

static void
test_held(void)
{
	struct shown a, b, c;
	const union proto_any *m;

	begin(RULE("ask", "escalate", ""));
	a = held("read", DOCS);
	b = held("read", "{\"path\":\"@D/home/docs/x\"}");
	c = held("read", DEEP);
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	take_policy(RULE("may", "allow", WITHIN("@D/home/docs/d")) "," RULE(
	    "not", "deny", WITHIN("@D/home/docs/x")) "," RULE("still",
	    "escalate", ""));
	is_str(swap(), "", "reloaded");
	ok(release_of(a.id) != NULL && release_of(a.id)->forward &&
		release_of(a.id)->hold == PROTO_HOLD_RELOADED &&
		span_is(release_of(a.id)->rule, "may"),
	    "what is allowed now goes out");
	ok(release_of(b.id) != NULL && !release_of(b.id)->forward &&
		release_of(b.id)->hold == PROTO_HOLD_RELOADED &&
		span_is(release_of(b.id)->rule, "not") &&
		strstr(ring_str(release_of(b.id)->answer),
		    "changed while this call was pending") != NULL,
	    "what is denied now is refused, and says why");
	m = ring_find(&ring, MSG_HOLD, 0);
	ok(release_of(c.id) == NULL && m != NULL && m->HOLD.id == c.id &&
		span_is(m->HOLD.rule, "still") &&
		span_eq(m->HOLD.digest, span_of(c.digest, HOLD_DIGEST)) &&
		ring_find(&ring, MSG_HOLD, 1) == NULL,
	    "what still needs a person waits, shown for its new reason");
	ok(m != NULL && !span_is(m->HOLD.session, c.session),
	    "with what may be granted now");
	/* The verdict is for what was shown before the reload. */
	approve(&c, c.session);
	ok(went(c.id, PROTO_HOLD_APPROVED, 0) && ring.env.grants.n == 0,
	    "a grant by the rule before is none");
	ring_free(&ring);
}

static void
test_grants_stay(void)
{
	struct shown a;
	uint64_t id;

	begin(RULE("ask", "escalate", ""));
	a = held("read", DOCS);
	approve(&a, a.session);
	ok(went(a.id, PROTO_HOLD_APPROVED, a.id), "granted");
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	take_policy(RULE("ask", "escalate", ""));
	is_str(swap(), "", "reloaded");
	id = ring_call(&ring, 0, "read", DEEP);
	ok(went(id, PROTO_HOLD_NONE, a.id), "a grant outlives it");
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	take_policy(RULE("no", "deny", ""));
	is_str(swap(), "", "reloaded");
	decides("no", "and grants nothing against a denial");
	take(PROTO_RULES_ANNOTATIONS, rig_annotations);
	take_policy(RULE("ask2", "escalate", ""));
	is_str(swap(), "", "reloaded");
	a = held("read", DOCS);
	is_str(a.rule, "ask2", "nor to another rule that asks");
	ring_free(&ring);
}

int
main(void)
{
	test_offer();
	test_not_shown();
	test_verdicts();
	test_limits();
	test_bad();
	test_held();
	test_grants_stay();
	return tap_done();
}
