/* SPDX-License-Identifier: ISC */
/*
 * Answers of a forge's REST API. Some of them have secrets of whoever owns the
 * credential: the token with which a project registers its runners, or one that
 * clones a repository. Such an answer is held until it is complete, and what is
 * passed on is composed from it without these members; others are passed on as
 * they come.
 */
#include "keyd/keyd.h"

#include <errno.h>
#include <stdlib.h>

#include "common/forge/tree.h"
#include "provider/forge.h"

#define FORGE_MAX_HELD (64U << 20) /* all transactions together */

struct forge_answer {
	struct reply_hold hold; /* the first member: txn.batch points to it */
	struct buf heads;       /* headers that are passed on, packed */
	struct buf give;        /* the composed answer */
	struct forge_call call;
	bool text; /* the agent asks for a text, not for JSON */
};

static size_t forge_held;

static struct forge_answer *
forge_of(const struct stream *s)
{
	return (struct forge_answer *)s->x.batch;
}

/* Returns true if the answer to this request is held. */
static bool
forge_holds(const struct txn *x, struct forge_call *call)
{
	const struct provider *p = keyd_env.provider;
	struct buf target;
	bool holds;

	buf_init(&target, FORGE_MAX_TARGET);
	buf_addspan(&target, x->req.path);
	if (x->req.query.len != 0) {
		buf_addc(&target, '?');
		buf_addspan(&target, x->req.query);
	}
	holds = !target.failed &&
		forge_cuts(p->forge, p->routes[x->req.route].method,
		    buf_span(&target), call);
	buf_free(&target);
	return holds;
}

/*
 * Returns true if the agent asks for a text that the route has. A forge that
 * gave JSON another name for any other Accept is not passed on whole.
 */
static bool
forge_wants_text(const struct txn *x, const struct forge_call *call)
{
	struct span headers = x->req.headers, name, value;

	while (provider_unpack(&headers, &name, &value) == 1) {
		if (span_is(name, "accept"))
			return forge_accept(call, value);
	}
	return false;
}

static void
forge_begin(struct stream *s)
{
	struct txn *x = &s->x;
	struct forge_answer *a;
	struct forge_call call;

	if (x->req.route == FORGE_ROUTE_FOLLOW) {
		if ((x->place = calloc(1, sizeof(*x->place))) != NULL)
			*x->place = (struct reply_take){
			    .name = "location", .redirect = true};
		txn_go(s);
		return;
	}
	if (!forge_holds(x, &call)) {
		txn_go(s);
		return;
	}
	if ((a = calloc(1, sizeof(*a))) == NULL) {
		x->state = TXN_ON;
		txn_fail(
		    s, KEYD_FAIL_INTERNAL, "no memory for the forge's answer");
		return;
	}
	a->call = call;
	/* The headers are gone once they are sent. */
	a->text = forge_wants_text(x, &call);
	buf_init(&a->hold.buf, FORGE_MAX_ANSWER);
	buf_init(&a->heads, STREAM_MAX_FRAME - 64U);
	buf_init(&a->give, FORGE_MAX_ANSWER);
	a->hold.total = &forge_held;
	a->hold.max = FORGE_MAX_HELD;
	a->hold.heads = &a->heads;
	x->batch = &a->hold;
	x->reply.hold = &a->hold;
	txn_go(s);
}

/* Frame the composed answer, as much as mitmd takes. */
static void
forge_give(struct stream *s)
{
	struct forge_answer *a = forge_of(s);
	const uint32_t exchange = s->x.req.exchange;
	struct span part;
	struct buf *out;

	while (s->out.len < KEYD_OUT_SOFT) {
		out = stream_begin(s);
		part = buf_span(&a->give);
		if (part.len > STREAM_MAX_FRAME)
			part.len = STREAM_MAX_FRAME;
		if (reply_frame(out, exchange,
			part.len != 0 ? STREAM_BODY : STREAM_END, part) == -1) {
			(void)txn_full(s, out, "the queue of the answer");
			return;
		}
		buf_drain(&a->give, part.len);
		forge_held -= part.len;
		if (txn_commit(s) == -1)
			return;
		if (part.len == 0) {
			txn_end(s);
			return;
		}
	}
}

/* Begin the answer with its status, its length and its headers. */
static void
forge_answer(struct stream *s, unsigned status)
{
	uint8_t fixed[11] = {(uint8_t)status, (uint8_t)(status >> 8), 1};
	struct forge_answer *a = forge_of(s);
	struct txn *x = &s->x;
	struct buf b, *out;

	/* These two have no body, and no length of one. */
	if (status == 204 || status == 304)
		fixed[2] = 0;
	for (unsigned i = 0; i < 8 && fixed[2] != 0; i++)
		fixed[3 + i] = (uint8_t)((uint64_t)a->give.len >> (8 * i));
	x->state = TXN_GIVE;
	x->reply.status = status;
	buf_init(&b, STREAM_MAX_FRAME);
	buf_add(&b, fixed, sizeof(fixed));
	buf_addspan(&b, buf_span(&a->heads));
	out = stream_begin(s);
	if (b.failed)
		(void)txn_full(s, &b, "the frame of the answer's head");
	else if (reply_frame(out, x->req.exchange, STREAM_HEAD, buf_span(&b)) ==
		 -1)
		(void)txn_full(s, out, "the queue of the answer");
	else if (txn_commit(s) == 0)
		forge_give(s);
	buf_free(&b);
}

/* Returns true if an answer with these headers says that it is JSON. */
static bool
forge_is_json(const struct forge_answer *a)
{
	struct span type = request_type(buf_span(&a->heads));

	return type.p != NULL && span_find(type, SPAN("json")) != NULL;
}

/* The answer is complete; if `again`, its connection may be reused. */
static bool
forge_done(struct stream *s, bool again)
{
	struct forge_answer *a = forge_of(s);
	struct txn *x = &s->x;
	const uint64_t sent = x->sent, received = x->reply.received;
	const unsigned status = x->reply.status;
	int r = 0, error = 0;

	if (a == NULL)
		return false;
	if (x->counted != x->req.length) {
		txn_fail(s, KEYD_FAIL_MALFORMED,
		    "answered before the request was complete");
		return true;
	}
	if (a->hold.buf.len != 0 &&
	    (forge_is_json(a) || (status / 100 == 2 && !a->text)))
		r = forge_answer_cut(
		    &a->call, buf_span(&a->hold.buf), &a->give);
	else
		buf_addspan(&a->give, buf_span(&a->hold.buf));
	error = r == -1 ? errno : 0;
	forge_held += a->give.len;
	if (x->key != NULL)
		trouble_status(&x->reply, false);
	/* This empties the buffer of what was held. */
	txn_reset(s, again);
	buf_free(&a->hold.buf);
	/* Its end is reported after it was passed on. */
	x->sent = sent;
	x->reply.received = received;
	if (r == 0 && buf_check(&a->give) == 0) {
		forge_answer(s, status);
	} else if (error == EACCES) {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_RIGHTS, "runners_token");
	} else {
		x->state = TXN_ON;
		txn_fail(s, KEYD_FAIL_MALFORMED,
		    "no JSON, from which secrets could be cut out");
	}
	return true;
}

static void
forge_writable(struct stream *s)
{
	if (forge_of(s) != NULL)
		forge_give(s);
}

static void
forge_release(struct stream *s)
{
	struct forge_answer *a = forge_of(s);

	free(s->x.place);
	s->x.place = NULL;
	if (a == NULL)
		return;
	forge_held -= a->hold.buf.len + a->give.len;
	buf_free(&a->hold.buf);
	buf_free(&a->heads);
	buf_free(&a->give);
	free(a);
	s->x.batch = NULL;
}

/* Only the answer for a file may redirect. */
static struct reply_take *
forge_place(const struct stream *s)
{
	return s->x.place;
}

const struct txn_kind forge_kind = {
    .begin = forge_begin,
    .answered = forge_done,
    .writable = forge_writable,
    .take = forge_place,
    .release = forge_release,
};
