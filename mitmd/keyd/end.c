/* SPDX-License-Identifier: ISC */
/*
 * The end of a transaction: answered, failed or aborted. Its resources are
 * released and auditd gets its figures; a failure ends the stream as well.
 */
#include "keyd/keyd.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Returns true if the usage of the request will be reported: mitmd comes to the
 * same result in usage_end().
 */
static bool
txn_reached(const struct txn *x)
{
	return x->head_done && x->sent == x->req.length &&
	       x->reply.status < 300;
}

void
txn_release(struct stream *s, bool again)
{
	struct txn *x = &s->x;
	struct up *up = x->up;

	share_end(x, x->messages != 0 || txn_reached(x));
	if (x->state == TXN_WAIT)
		up_unwant(s);
	else if (x->state == TXN_SHARE)
		TAILQ_REMOVE(&keyd_env.share.waiting, s, wait);
	else if (x->state == TXN_KEY)
		TAILQ_REMOVE(&keyd_env.key_waiters, s, wait);
	x->state = TXN_NONE;
	x->up = NULL;
	txn_keep_end(s);
	free(x->sum);
	x->sum = NULL;
	buf_free(&x->list);
	if (x->req.kind != NULL && x->req.kind->release != NULL)
		x->req.kind->release(s);
	keyset_drop(x->key);
	x->key = NULL;
	request_free(&x->req);
	reply_free(&x->reply);
	stream_skip(s);
	txn_forget(s);
	if (up != NULL)
		up_release(up, again);
}

/* Release everything that the stream's transactions own. */
static void
txn_clear(struct stream *s)
{
	txn_release(s, false);
	if (s->has_next) {
		txn_report_refused(
		    s->id, s->next.exchange, "the stream is gone");
		request_free(&s->next);
	}
	s->has_next = false;
}

static bool
txn_runs(const struct stream *s)
{
	return s->x.state != TXN_NONE && s->x.state != TXN_DRAIN;
}

/*
 * Returns true if the provider has the whole request and did not refuse it, so
 * that it may have begun to answer.
 */
static bool
txn_costs(const struct txn *x)
{
	return x->head_done && x->sent == x->req.length &&
	       x->reply.status < 400;
}

void
txn_abort(struct stream *s, const char *detail)
{
	if (txn_runs(s))
		txn_report(s, detail);
	stream_free(s);
	txn_clear(s);
}

int
txn_commit(struct stream *s)
{
	const char *why;

	if (stream_commit(s, &why) == 0)
		return 0;
	txn_abort(s, why);
	return -1;
}

void
txn_fail(struct stream *s, enum keyd_fail fail, const char *detail)
{
	const char *text = keyd_fail_text(fail);
	char said[520], payload[522];
	uint32_t exchange = s->x.req.exchange;
	bool sent = txn_costs(&s->x);
	struct buf *out;
	int len;

	if (s->dead || s->closing)
		return;
	if (s->x.req.kind == NULL || !s->x.req.kind->quiet)
		trouble_failed(fail, detail);
	if (txn_runs(s))
		txn_report(s, detail);
	if (fail == KEYD_FAIL_PACKAGE) {
		snprintf(said, sizeof(said), "%s", s->x.req.kind->refusal(s));
		text = said;
	}
	txn_clear(s);
	s->closing = true;
	if (fail == KEYD_FAIL_BUDGET && keyd_env.budget.why != NULL) {
		snprintf(said, sizeof(said), "402 %s", keyd_env.budget.why);
		text = said;
	}
	/*
	 * dialerd knows neither the request nor the credential, and what we say
	 * of ourselves has nothing of them.
	 */
	if ((fail == KEYD_FAIL_DIAL || fail == KEYD_FAIL_FOLLOW ||
		fail == KEYD_FAIL_INTERNAL) &&
	    detail != NULL) {
		snprintf(said, sizeof(said), "%.100s: %.400s", text, detail);
		text = said;
	}
	len = snprintf(payload, sizeof(payload), "%c%s",
	    sent ? STREAM_SENT : STREAM_UNSENT, text);
	out = stream_begin(s);
	(void)reply_frame(
	    out, exchange, STREAM_FAIL, span_of(payload, (size_t)len));
	(void)txn_commit(s);
}

int
txn_full(struct stream *s, const struct buf *b, const char *name)
{
	txn_fail(s, KEYD_FAIL_INTERNAL, reply_full(b, name));
	return -1;
}

int
txn_violation(struct stream *s, const char *detail)
{
	keyd_alarm("stream-mismatch", detail);
	txn_fail(s, KEYD_FAIL_BODY, detail);
	return -1;
}

void
txn_answer(
    struct stream *s, unsigned status, struct span body, const char *error)
{
	static const char type[] = "content-type", json[] = "application/json",
			  cache[] = "cache-control", no[] = "no-store";
	uint8_t fixed[11] = {(uint8_t)status, (uint8_t)(status >> 8), 1};
	struct txn *x = &s->x;
	const size_t len = body.len;
	struct buf *out, head;
	struct span part;
	int r;

	for (unsigned i = 0; i < 8; i++)
		fixed[3 + i] = (uint8_t)((uint64_t)len >> (8 * i));
	buf_init(&head, 256);
	buf_add(&head, fixed, sizeof(fixed));
	provider_pack(&head, span_str(type), span_str(json));
	provider_pack(&head, span_str(cache), span_str(no));
	out = stream_begin(s);
	if (head.failed) {
		(void)txn_full(s, &head, "the frame of the answer's head");
		buf_free(&head);
		return;
	}
	r = reply_frame(out, x->req.exchange, STREAM_HEAD, buf_span(&head));
	buf_free(&head);
	for (; r == 0 && body.len != 0;
	     body = span_of(body.p + part.len, body.len - part.len)) {
		part = span_of(body.p,
		    body.len < STREAM_MAX_FRAME ? body.len : STREAM_MAX_FRAME);
		r = reply_frame(out, x->req.exchange, STREAM_BODY, part);
	}
	if (r == -1 || reply_frame(out, x->req.exchange, STREAM_END,
			   span_of(NULL, 0)) == -1) {
		(void)txn_full(s, out, "the queue of the answer");
		return;
	}
	x->reply.status = status;
	x->reply.received = len;
	txn_report(s, error);
	txn_release(s, false);
	if (txn_commit(s) == 0)
		stream_watch(s);
}

void
txn_end(struct stream *s)
{
	txn_report(s, "");
	txn_release(s, false);
	stream_watch(s);
}

void
streams_init(void)
{
	struct keyd_env *e = &keyd_env;

	TAILQ_INIT(&e->streams);
	TAILQ_INIT(&e->waiting);
	TAILQ_INIT(&e->key_waiters);
	TAILQ_INIT(&e->dead_streams);
	TAILQ_INIT(&e->ups);
	TAILQ_INIT(&e->dead_ups);
	buf_init(&e->scratch, KEYD_OUT_MAX);
}

void
streams_abort(const char *why)
{
	struct stream *s;

	for (;;) {
		s = TAILQ_FIRST(&keyd_env.streams);
		while (s != NULL && s->x.state != TXN_NONE &&
		       s->x.req.kind == &post_end_kind)
			s = TAILQ_NEXT(s, entry);
		if (s == NULL)
			return;
		txn_abort(s, why);
	}
}

unsigned
streams_reap(void)
{
	struct keyd_env *e = &keyd_env;
	struct stream *s;
	struct up *up;
	unsigned freed = 0;

	while ((s = TAILQ_FIRST(&e->dead_streams)) != NULL) {
		TAILQ_REMOVE(&e->dead_streams, s, entry);
		free(s);
		freed++;
	}
	while ((up = TAILQ_FIRST(&e->dead_ups)) != NULL) {
		TAILQ_REMOVE(&e->dead_ups, up, entry);
		free(up);
		freed++;
	}
	return freed;
}
