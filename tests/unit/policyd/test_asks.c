/* SPDX-License-Identifier: ISC */
/*
 * Tests requests that wait for a person: every end, messages that no honest
 * mitmd sends, and that a verdict on a call never counts for a request.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>

#include "common/sha256.h"
#include "policyd/approval/forge_holds.h"

static const char rules[] =
    "{\"rules\":[{\"name\":\"ask\",\"if\":{},\"then\":\"escalate\","
    "\"reason\":\"it is outside\"}]}";

#define OLD "1111111111111111111111111111111111111111"
#define NEW "2222222222222222222222222222222222222222"
#define ZERO "0000000000000000000000000000000000000000"
#define PUSH OLD " " NEW " refs/heads/main\n"

static struct ring ring;
static uint32_t last;
static uint8_t sum[32] = {0xab, 0xcd};

/* ":credential" and two headers, packed. */
static const uint8_t headers[] = "\x0b\0:credential\1\0"
				 "0"
				 "\x0c\0content-type\x0a\0text/plain"
				 "\6\0accept\3\0*/*";

static struct msg_REQUEST_ASK
request(void)
{
	last++;
	return (struct msg_REQUEST_ASK){.provider = 3,
	    .host = 1,
	    .stream = last,
	    .exchange = 7,
	    .route = 2,
	    .path = SPAN("/v1/x"),
	    .query = SPAN("a=b"),
	    .length = 12,
	    .body = span_of(sum, sizeof(sum)),
	    .headers = span_of(headers, sizeof(headers) - 1),
	    .id = last,
	    .name = SPAN("prov"),
	    .host_name = SPAN("h.test"),
	    .method = SPAN("POST")};
}

static struct msg_REQUEST_ASK
push(void)
{
	struct msg_REQUEST_ASK m = request();

	m.path = SPAN("/owner/repo.git/git-receive-pack");
	m.query = SPAN("");
	m.refs = SPAN(PUSH);
	return m;
}

static const struct msg_HOLD *
held(const struct msg_REQUEST_ASK *m)
{
	const union proto_any *hold;
	const char *why = NULL;

	ring_clear(&ring);
	if (asks_take(&ring.env, m, &why) == -1)
		errx(1, "REQUEST_ASK %u: %s", m->id, why);
	if ((hold = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "REQUEST_ASK %u is not held", m->id);
	return &hold->HOLD;
}

static void
verdict(uint64_t id, struct span digest, bool approve)
{
	struct msg_VERDICT_GO v = {
	    .id = id, .digest = digest, .approve = approve};

	asks_verdict(&ring.env, &v);
}

static const struct msg_REQUEST_UNAPPROVED *
no(void)
{
	const union proto_any *m = ring_find(&ring, MSG_REQUEST_UNAPPROVED, 0);

	return m == NULL ? NULL : &m->REQUEST_UNAPPROVED;
}

static const struct msg_REQUEST_APPROVED *
asked(void)
{
	const union proto_any *m = ring_find(&ring, MSG_REQUEST_APPROVED, 0);

	return m == NULL ? NULL : &m->REQUEST_APPROVED;
}

static bool
late(void)
{
	return ring_find(&ring, MSG_LATE, 0) != NULL;
}

static void
test_shown(void)
{
	struct msg_REQUEST_ASK m = request();
	const struct msg_HOLD *h = held(&m);
	uint8_t digest[32];

	is_str(ring_str(h->tool), "POST https://h.test/v1/x?a=b", "what it is");
	is_str(ring_str(h->server_name), "prov", "whose it is");
	is_str(ring_str(h->rule), "ask-route", "rule");
	ok(h->id == (PROTO_ASK_ID | m.id) && h->server == PROTO_NO_SERVER &&
		h->session.len == 0 && h->ms == 300000,
	    "an id of its own, never for the session");
	is_str(ring_str(span_of(h->preview.p, h->args)),
	    "{\"body\":{\"bytes\":12,\"sha256\":\"abcd0000000000000000000000000"
	    "00000000000000000000000000000000000\"},\"headers\":{\"accept\":"
	    "\"*/*\",\"content-type\":\"text/plain\"},\"host\":\"h.test\","
	    "\"method\":\"POST\",\"path\":\"/v1/x\",\"query\":\"a=b\"}",
	    "every field of it");
	is_str(ring_str(h->effect),
	    "Sends \"POST https://h.test/v1/x?a=b\" with a body of 12 bytes",
	    "what it does");
	is_str(
	    ring_str(span_of(h->preview.p + h->args, h->preview.len - h->args)),
	    "{\"asks\":[],\"resources\":[{\"argument\":\"request\","
	    "\"role\":\"url\",\"value\":\"POST https://h.test/v1/x?a=b\"}]}",
	    "and what it touches");
	(void)hold_digest(SPAN("prov"), SPAN("POST https://h.test/v1/x?a=b"),
	    span_of(h->preview.p, h->args), span_of(NULL, 0), digest);
	is_mem(h->digest.p, h->digest.len, digest, 32, "one digest over it");
	asks_cancel(&ring.env, m.id, &(const char *){NULL});
	m = push();
	h = held(&m);
	is_str(ring_str(span_of(h->preview.p, h->args)),
	    "{\"body\":{\"bytes\":12,\"sha256\":\"abcd0000000000000000000000000"
	    "00000000000000000000000000000000000\"},\"headers\":{\"accept\":"
	    "\"*/*\",\"content-type\":\"text/plain\"},\"host\":\"h.test\","
	    "\"method\":\"POST\",\"path\":\"/owner/repo.git/git-receive-pack\","
	    "\"refs\":[{\"action\":\"update\",\"name\":\"refs/heads/main\","
	    "\"new\":\"" NEW "\",\"old\":\"" OLD "\"}],\"repository\":"
	    "\"owner/repo.git\"}",
	    "a push: repository and refs");
	is_str(ring_str(h->effect),
	    "Updates refs/heads/main in owner/repo.git at h.test",
	    "what it does");
	is_str(
	    ring_str(span_of(h->preview.p + h->args, h->preview.len - h->args)),
	    "{\"asks\":[],\"resources\":[{\"argument\":\"update\","
	    "\"role\":\"ref\",\"value\":\"refs/heads/main\"},"
	    "{\"argument\":\"repository\",\"role\":\"repository\","
	    "\"value\":\"owner/repo.git\"},{\"argument\":\"request\","
	    "\"role\":\"url\",\"value\":\"POST https://h.test/owner/"
	    "repo.git/git-receive-pack\"}]}",
	    "each ref, the repository and the address");
	asks_cancel(&ring.env, m.id, &(const char *){NULL});
}

static void
test_verdicts(void)
{
	struct msg_REQUEST_ASK m = request(), other;
	const struct msg_HOLD *h = held(&m);
	struct msg_VERDICT_GO v = {.id = h->id,
	    .digest = h->digest,
	    .session = h->digest,
	    .approve = 1};
	uint64_t id = h->id;
	uint8_t digest[32];
	const char *why;

	memcpy(digest, h->digest.p, 32);
	asks_verdict(&ring.env, &v);
	ok(late() && asked() == NULL, "not for the session");
	other = request();
	(void)held(&other);
	ok(asks_cancel(&ring.env, other.id, &why) == 0, "another one ends");
	ring_clear(&ring);
	verdict(id, span_of(sum, 32), true);
	ok(late() && asked() == NULL, "not with another digest");
	ring_clear(&ring);
	verdict(id & ~PROTO_ASK_ID, span_of(digest, 32), true);
	ok(late() && asked() == NULL, "not by the id of a call");
	ring_clear(&ring);
	call_verdict(&ring.env,
	    &(struct msg_VERDICT_GO){
		.id = id, .digest = span_of(digest, 32), .approve = 1});
	ok(late() && asked() == NULL &&
		ring_find(&ring, MSG_RELEASE, 0) == NULL,
	    "not as a call");
	ring_clear(&ring);
	verdict(id, span_of(digest, 32), true);
	ok(!late() && asked() != NULL && no() == NULL, "approved");
	if (asked() != NULL) {
		ok(asked()->asked == 1 && asked()->provider == 3 &&
			asked()->host == 1 && asked()->route == 2 &&
			asked()->stream == m.stream && asked()->exchange == 7 &&
			asked()->length == 12 &&
			span_eq(asked()->path, m.path) &&
			span_eq(asked()->query, m.query) &&
			span_eq(asked()->body, m.body) &&
			span_eq(asked()->headers, m.headers) &&
			span_eq(asked()->digest, span_of(digest, 32)),
		    "it goes on as it came");
	}
	ring_clear(&ring);
	verdict(id, span_of(digest, 32), true);
	ok(late() && asked() == NULL, "once");
	m = request();
	h = held(&m);
	memcpy(digest, h->digest.p, 32);
	id = h->id;
	ring_clear(&ring);
	verdict(id, span_of(digest, 32), false);
	ok(asked() == NULL && no() != NULL && no()->hold == PROTO_HOLD_DENIED &&
		no()->reason == PROTO_REFUSED_DENIED &&
		no()->stream == m.stream && no()->exchange == 7,
	    "denied");
}

static void
test_ends(void)
{
	struct msg_REQUEST_ASK m = request();
	const char *why = NULL;
	uint8_t digest[32];
	uint64_t id;

	(void)held(&m);
	ring_clear(&ring);
	ok(asks_cancel(&ring.env, m.id, &why) == 0 && no() != NULL &&
		no()->hold == PROTO_HOLD_CANCELLED,
	    "given up");
	ring_clear(&ring);
	ok(asks_cancel(&ring.env, m.id, &why) == 0 && no() == NULL,
	    "a cancellation that crossed with the end");
	ok(asks_cancel(&ring.env, m.id + 1, &why) == -1,
	    "a cancellation of nothing: %s", why);
	m = request();
	id = held(&m)->id;
	memcpy(digest, ring_find(&ring, MSG_HOLD, 0)->HOLD.digest.p, 32);
	ring_clear(&ring);
	ring.loop.now += 300000;
	verdict(id, span_of(digest, 32), true);
	ok(late() && asked() == NULL && no() != NULL &&
		no()->hold == PROTO_HOLD_EXPIRED &&
		no()->reason == PROTO_REFUSED_EXPIRED,
	    "expired, and then too late");
	ring.env.engine.ask = false;
	m = request();
	ring_clear(&ring);
	ok(asks_take(&ring.env, &m, &why) == 0 && no() != NULL &&
		no()->hold == PROTO_HOLD_NONE &&
		no()->reason == PROTO_REFUSED_HEADLESS &&
		ring_find(&ring, MSG_HOLD, 0) == NULL,
	    "nobody to ask");
	ring.env.engine.ask = true;
	m = request();
	id = held(&m)->id;
	rig_must_load(&ring.rig, PROTO_RULES_POLICY,
	    "{\"rules\":[{\"name\":\"d\",\"if\":{},\"then\":\"deny\","
	    "\"reason\":\"no\"}]}");
	ring_clear(&ring);
	call_redecide(&ring.env, PROTO_HOLD_RELOADED);
	call_server_gone(&ring.env, 0);
	is_int(ring.n, 0, "other rules, or a server that ends, leave it");
	asks_cancel(&ring.env, m.id, &why);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
}

static void
bad(struct msg_REQUEST_ASK m, const char *what)
{
	const char *why = NULL;

	ring_clear(&ring);
	ok(asks_take(&ring.env, &m, &why) == -1 && why != NULL && ring.n == 0,
	    "a violation: %s (%s)", what, why == NULL ? "taken" : why);
}

#define BAD(field, value, what)                                                \
	do {                                                                   \
		struct msg_REQUEST_ASK m_ = push();                            \
		m_.field = value;                                              \
		bad(m_, what);                                                 \
	} while (0)

static void
test_hostile(void)
{
	struct msg_REQUEST_ASK m;
	const char *why;

	BAD(id, 0, "no id");
	BAD(id, 1, "an id that fell");
	BAD(stream, 0, "no stream");
	BAD(exchange, 0, "no exchange");
	BAD(asked, 1, "approved already");
	BAD(name, SPAN(""), "no provider");
	BAD(name, SPAN("a b"), "a space in a name");
	BAD(host_name, SPAN("H.test"), "a host in upper case");
	BAD(host_name, SPAN("h\ntest"), "a line break in a host");
	BAD(host_name, SPAN("h/test"), "a slash in a host");
	BAD(method, SPAN("POST "), "a space in a method");
	BAD(method, SPAN(""), "no method");
	BAD(path, SPAN("x"), "a path without a slash");
	BAD(path, SPAN("/x y"), "a space in a path");
	BAD(path, SPAN("/\xe2\x80\xae"), "a path beyond ASCII");
	BAD(path, SPAN("/\x1b[2J"), "an escape sequence in a path");
	BAD(query, SPAN("a=\x7f"), "a control in a query");
	BAD(length, UINT64_MAX, "a body without end");
	BAD(body, SPAN(""), "no digest");
	BAD(body, SPAN("short"), "a short digest");
	BAD(headers, SPAN("\1"), "headers cut off");
	BAD(headers, SPAN("\1\0a\5\0bc"), "a header's value cut off");
	BAD(headers, SPAN("\1\0a\1\0b\1\0a\1\0c"), "a header twice");
	BAD(headers, SPAN("\1\0A\1\0b"), "a header in upper case");
	BAD(headers, SPAN("\0\0\1\0b"), "a header without a name");
	BAD(headers, SPAN("\1\0a\2\0b\n"), "a line break in a header");
	BAD(path, SPAN("/v1/x"), "refs of no repository");
	BAD(path, SPAN("/git-receive-pack"), "a repository without a name");
	BAD(refs, SPAN(OLD " " NEW " refs/heads/main"), "refs: no end");
	BAD(refs, SPAN(OLD " " NEW " main\n"), "refs: a bare name");
	BAD(refs, SPAN(OLD " " NEW "\n"), "refs: no name");
	BAD(refs, SPAN(OLD "  " NEW " refs/x\n"), "refs: two spaces");
	BAD(refs, SPAN(OLD " " NEW "2 refs/x\n"), "refs: two lengths");
	BAD(refs, SPAN("11 22 refs/x\n"), "refs: short");
	BAD(refs, SPAN(PUSH "\n"), "refs: an empty line");
	BAD(refs, SPAN(OLD " " NEW " refs/heads/\x1b[2J\n"), "refs: controls");
	BAD(refs, SPAN(OLD " " NEW " refs/heads/a b\n"), "refs: a space");
	m = request();
	(void)held(&m);
	bad(m, "the same again");
	m = request();
	m.stream--;
	bad(m, "another exchange of a stream that waits");
	for (unsigned i = 1; i < PROTO_MAX_ASKS; i++) {
		m = request();
		(void)held(&m);
	}
	bad(request(), "one more than may wait");
	m = request();
	is_int(calls_table_admit(
		   &ring.env.calls, PROTO_ASK_ID | 5, 0, 1, &why) == NULL,
	    1, "a call with the id of a request");
}

#define FORGE 5

/* A comment on a forge with this body, and the tree of another, `sent`. */
static struct msg_REQUEST_ASK
comment_of(struct value_pool *pool, struct span body, struct span sent)
{
	static const struct span target =
	    SPAN("/repos/me/shop/issues/12/comments");
	static uint8_t digest[32];
	struct msg_REQUEST_ASK m = request();
	struct msg_FORGE_TREE tree = {.id = m.id};
	struct forge_fail fail;
	const char *why;
	struct buf b;

	m.provider = FORGE;
	m.name = SPAN("shop");
	m.host_name = SPAN("api.github.com");
	m.path = target;
	m.query = SPAN("");
	m.length = body.len;
	sha256_span(body, digest);
	m.body = span_of(digest, sizeof(digest));
	buf_init(&b, PROTO_MAX_FORGE_TREE);
	if (value_encode(
		forge_request_read(&ring.env.forges[FORGE]->settings.grant,
		    pool, SPAN("POST"), target, sent, &fail),
		&b) == -1)
		errx(1, "a comment: %s", fail.why);
	for (size_t at = 0; at < b.len; at += tree.piece.len) {
		tree.piece = span_of(buf_span(&b).p + at,
		    b.len - at < PROTO_MAX_PIECE ? b.len - at
						 : PROTO_MAX_PIECE);
		if (asks_tree(&ring.env, &tree, &why) == -1)
			errx(1, "FORGE_TREE: %s", why);
	}
	buf_free(&b);
	ring_clear(&ring);
	return m;
}

static struct msg_REQUEST_ASK
comment(struct value_pool *pool)
{
	return comment_of(
	    pool, SPAN("{\"body\":\"good\"}"), SPAN("{\"body\":\"good\"}"));
}

/* Hand over what the keyd of a destination found. Returns as asks_found(). */
static int
found(struct value_pool *pool, unsigned provider, uint32_t id, const char *in)
{
	const struct forge_found f = {.is = FORGE_IS_ISSUE,
	    .repository = span_str(in),
	    .number = 12,
	    .title = SPAN("Totals")};
	struct msg_FORGE_FOUND_GO m = {
	    .provider = (uint16_t)provider, .id = id};
	const char *why;
	struct buf b;
	int r;

	buf_init(&b, PROTO_MAX_FOUND);
	if (value_encode(forge_found_tree(pool, &f), &b) == -1)
		errx(1, "what was found");
	m.found = buf_span(&b);
	r = asks_found(&ring.env, &m, &why);
	buf_free(&b);
	return r;
}

/* A comment whose text is `n` times `what`, as JSON has it. */
static const struct msg_REQUEST_UNAPPROVED *
large(struct value_pool *pool, const char *what, unsigned n)
{
	struct msg_REQUEST_ASK m;
	const char *why = "";
	struct buf b;

	buf_init(&b, FORGE_MAX_BODY);
	buf_adds(&b, "{\"body\":\"");
	for (unsigned i = 0; i < n; i++)
		buf_adds(&b, what);
	buf_adds(&b, "\"}");
	m = comment_of(pool, buf_span(&b), buf_span(&b));
	is_int(asks_take(&ring.env, &m, &why), 0,
	    "a large comment is no violation (%s)", why);
	buf_free(&b);
	(void)found(pool, FORGE, m.id, "me/shop");
	return no();
}

static void
test_large(struct value_pool *pool)
{
	const struct msg_REQUEST_UNAPPROVED *m;

	m = large(pool, "\\\"", FORGE_MAX_BODY / 2 - 16);
	ok(m == NULL && ring_find(&ring, MSG_HOLD, 0) != NULL,
	    "a comment of the largest size is shown");
	asks_cancel(&ring.env, last, &(const char *){NULL});
	m = large(pool, "\\n", FORGE_MAX_BODY / 2 - 16);
	ok(m != NULL && m->reason == PROTO_REFUSED_LARGE &&
		m->hold == PROTO_HOLD_NONE,
	    "one of 65,000 lines is refused, as too large");
}

static void
test_forge(void)
{
	struct msg_PROVIDER p = {.index = FORGE,
	    .json = SPAN("{\"name\":\"shop\",\"kind\":\"forge\",\"forge\":"
			 "\"github\",\"hosts\":[\"api.github.com\"],"
			 "\"repositories\":[\"me/shop\"]}")};
	struct value_pool *pool = value_pool_new(1U << 20);
	struct msg_REQUEST_ASK m;
	const union proto_any *hold;
	uint8_t digest[32];
	const char *why = "";

	if (pool == NULL || forge_dest_take(&ring.env, &p, &why) == -1)
		errx(1, "the forge: %s", why);
	m = comment(pool);
	ok(asks_take(&ring.env, &m, &why) == 0 &&
		ring_find(&ring, MSG_FORGE_LOOK, 0) != NULL &&
		ring_find(&ring, MSG_HOLD, 0) == NULL,
	    "a comment on a forge is not shown before its number is looked up");
	memcpy(digest, ring.env.asks.list[0].digest, 32);
	verdict(PROTO_ASK_ID | m.id, span_of(digest, 32), true);
	ok(late() && asked() == NULL, "nor approved before it is shown");
	is_int(found(pool, FORGE - 1, m.id, "me/shop"), -1,
	    "another destination's keyd does not say what it is");
	is_int(found(pool, FORGE, m.id, "me/shop"), 0, "the forge's own does");
	hold = ring_find(&ring, MSG_HOLD, 0);
	is_str(hold == NULL ? "" : ring_str(hold->HOLD.effect),
	    "Comments on me/shop #12 \"Totals\".", "then it is shown");
	ring_clear(&ring);
	verdict(PROTO_ASK_ID | m.id, span_of(digest, 32), true);
	ok(!late() && asked() != NULL, "and may be approved");
	test_large(pool);
	m = comment(pool);
	ok(asks_take(&ring.env, &m, &why) == 0 &&
		found(pool, FORGE, m.id, "me/other") == 0 && no() != NULL &&
		no()->reason == PROTO_REFUSED_ELSEWHERE,
	    "what is in another repository is refused");
	m = comment_of(
	    pool, SPAN("{\"body\":\"good\"}"), SPAN("{\"body\":\"evil\"}"));
	is_int(asks_take(&ring.env, &m, &why), -1,
	    "a tree of another body is refused");
	is_str(why, "a body that its tree does not make", "as what it is");
	value_pool_free(pool);
}

int
main(void)
{
	ring_init(&ring, true);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	test_forge();
	test_shown();
	test_verdicts();
	test_ends();
	test_hostile();
	ring_free(&ring);
	return tap_done();
}
