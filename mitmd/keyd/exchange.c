/* SPDX-License-Identifier: ISC */
/*
 * One request and its answer, from beginning to end.  Request: keyd/send.c.
 * Answer: read, watched, framed for mitmd.  Neither direction waits for the
 * other.  Whatever fails ends the stream and the connection.
 */
#include "keyd/keyd.h"

#include <stdio.h>
#include <stdlib.h>

#define EXCHANGE_BURST 64

/* Gives back what the exchange holds. again: the connection is good. */
static void
exchange_release(struct stream *s, bool again)
{
	struct exchange *x = &s->x;
	struct up *up = x->up;

	if (x->state == EXCHANGE_WAIT)
		up_unwant(s);
	else if (x->state == EXCHANGE_KEY)
		TAILQ_REMOVE(&keyd_env.keyless, s, wait);
	else if (x->state == EXCHANGE_ASKED)
		capture_gone(s);
	x->state = EXCHANGE_NONE;
	x->up = NULL;
	exchange_unkeep(s);
	free(x->sum);
	x->sum = NULL;
	buf_free(&x->list);
	package_free(x);
	keyset_drop(x->key);
	x->key = NULL;
	request_free(&x->req);
	reply_free(&x->reply);
	buf_free(&s->pend);
	if (up != NULL)
		up_release(up, again);
}

void
exchange_clear(struct stream *s)
{
	exchange_release(s, false);
	if (s->has_next) {
		exchange_never(s->id, s->next.exchange, "the stream is gone");
		request_free(&s->next);
	}
	s->has_next = false;
}

static bool
exchange_runs(const struct stream *s)
{
	return s->x.state != EXCHANGE_NONE && s->x.state != EXCHANGE_DRAIN;
}

void
exchange_fail(struct stream *s, enum keyd_fail fail, const char *detail)
{
	const char *text = keyd_fail_text(fail);
	char said[520];
	uint32_t exchange = s->x.req.exchange;
	struct buf *out;

	if (s->dead || s->closing)
		return;
	trouble_failed(fail, detail);
	if (exchange_runs(s))
		exchange_report(s, detail);
	if (fail == KEYD_FAIL_PACKAGE) {
		snprintf(said, sizeof(said), "%s", package_text(&s->x));
		text = said;
	}
	exchange_clear(s);
	s->closing = true;
	if (fail == KEYD_FAIL_BUDGET && keyd_env.budget.why != NULL) {
		snprintf(said, sizeof(said), "402 %s", keyd_env.budget.why);
		text = said;
	}
	out = stream_begin(s);
	(void)reply_frame(out, exchange, STREAM_FAIL, span_str(text));
	(void)stream_commit(s);
}

void
exchange_answer(
    struct stream *s, unsigned status, struct span body, const char *error)
{
	static const char type[] = "content-type", json[] = "application/json",
			  cache[] = "cache-control", no[] = "no-store";
	uint8_t fixed[11] = {(uint8_t)status, (uint8_t)(status >> 8), 1,
	    (uint8_t)body.len, (uint8_t)(body.len >> 8)};
	struct exchange *x = &s->x;
	struct buf *out, head;

	buf_init(&head, 256);
	buf_add(&head, fixed, sizeof(fixed));
	provider_pack(&head, span_str(type), span_str(json));
	provider_pack(&head, span_str(cache), span_str(no));
	out = stream_begin(s);
	if (head.failed ||
	    reply_frame(out, x->req.exchange, STREAM_HEAD, buf_span(&head)) ==
		-1 ||
	    reply_frame(out, x->req.exchange, STREAM_BODY, body) == -1 ||
	    reply_frame(out, x->req.exchange, STREAM_END, span_of(NULL, 0)) ==
		-1) {
		buf_free(&head);
		exchange_fail(s, KEYD_FAIL_INTERNAL, "out of memory");
		return;
	}
	buf_free(&head);
	x->reply.status = status;
	x->reply.received = body.len;
	exchange_report(s, error);
	exchange_release(s, false);
	if (stream_commit(s) == 0)
		stream_watch(s);
}

void
exchange_abort(struct stream *s, const char *detail)
{
	if (exchange_runs(s))
		exchange_report(s, detail);
	stream_free(s);
}

void
exchange_begin(struct stream *s, struct request *r)
{
	const struct provider_route *route =
	    &keyd_env.provider->routes[r->route];
	struct exchange *x = &s->x;

	*x = (struct exchange){.req = *r};
	*r = (struct request){0};
	ws_init(&x->said, true);
	reply_init(&x->reply, x->req.exchange, span_is(route->method, "HEAD"));
	x->reply.max = route->reply;
	buf_init(&x->keep, KEYD_MAX_KEPT);
	x->keeping = keyd_renews() && !route->bare;
	push_begin(x);
	keyd_env.requests++;
	keyd_env.used_at = loop_now(&keyd_env.w.loop);
	if (route->websocket && reply_ws_init(&x->reply, x->ws_key) == -1)
		exchange_fail(s, KEYD_FAIL_INTERNAL, "no random bytes");
	else if (x->req.digested && stream_sum_begin(s) == -1)
		exchange_fail(s, KEYD_FAIL_INTERNAL, "out of memory");
	else if (keyd_env.provider->registry != NULL)
		package_begin(s);
	else if (route->capture != 0)
		capture_begin(s);
	else
		exchange_go(s);
}

bool
exchange_takes(const struct stream *s)
{
	const struct exchange *x = &s->x;

	switch (x->state) {
	case EXCHANGE_NONE:
	case EXCHANGE_KEY:
	case EXCHANGE_WAIT:
	case EXCHANGE_GIVE:
	case EXCHANGE_ASKED:
		return false;
	case EXCHANGE_FORM:
		return x->counted < x->req.length;
	case EXCHANGE_ON:
		return x->up != NULL && x->counted < x->req.length &&
		       exchange_pending(s).len == 0 && !x->up->full &&
		       reply_ws_ready(&x->reply);
	case EXCHANGE_DRAIN:
		return true;
	}
	return false;
}

void
exchange_drained(struct stream *s)
{
	s->x.state = EXCHANGE_NONE;
	if (!s->has_next)
		return;
	s->has_next = false;
	exchange_begin(s, &s->next);
}

void
exchange_on(struct stream *s, struct up *up)
{
	s->x.state = EXCHANGE_ON;
	s->x.up = up;
	exchange_push(s);
}

/* The answer is through. */
static void
exchange_answered(struct stream *s)
{
	struct exchange *x = &s->x;
	const struct provider_route *route =
	    &keyd_env.provider->routes[x->req.route];
	bool whole = x->head_done && x->counted == x->req.length &&
		     x->sent == x->req.length;
	struct keyd_reuse u = {.allowed = keyd_env.hosts[x->req.host].reuse,
	    .sent_whole = whole && x->sent_whole,
	    .reads = route->reads || x->req.length == 0,
	    .status = x->reply.status,
	    .done = x->reply.done,
	    .framing = x->reply.framing,
	    .http10 = x->reply.http10,
	    .close = x->reply.close,
	    .trailing = x->reply.trailing};
	uint64_t left = x->req.length - x->counted;

	if (x->reply.trailing)
		keyd_alarm(
		    "trailing-data", "the provider sent bytes after an answer");
	if (package_done(s, keyd_reuse_ok(&u)))
		return;
	exchange_report(s, "");
	exchange_release(s, keyd_reuse_ok(&u));
	if (left != 0 && !route->websocket)
		x->state = EXCHANGE_DRAIN;
	stream_watch(s);
}

void
exchange_end(struct stream *s)
{
	exchange_report(s, "");
	exchange_release(s, false);
	stream_watch(s);
}

static void
exchange_reflected(void)
{
	keyd_alarm("credential-reflected",
	    "the credential came back in an answer; the provider is locked");
	keyd_lock();
}

/* What its answer must not hold. */
static const struct scrub *
exchange_scrub(const struct exchange *x)
{
	static const struct scrub nothing;
	const struct keyset *k = x->key;

	/* One that began with none ends with none. */
	if (k == NULL && !keyd_env.provider->routes[x->req.route].bare)
		k = keyd_env.now;

	return k != NULL ? &k->scrub : &nothing;
}

/* One read from the provider, into frames. *idle: no more is there. */
static enum reply_result
exchange_read(struct stream *s, struct buf *out, bool *idle)
{
	static uint8_t in[16384];
	struct exchange *x = &s->x;
	const struct scrub *scrub = exchange_scrub(x);
	enum tls_result r;
	size_t n = 0;

	if (keyd_env.provider->routes[x->req.route].bare)
		x->reply.unauthorized = KEYD_FAIL_NONE;
	else if (keyd_login() != NULL)
		x->reply.unauthorized = x->renewed       ? KEYD_FAIL_LOGIN
					: x->key != NULL ? KEYD_FAIL_EXPIRED
							 : KEYD_FAIL_NONE;
	else if (keyd_renews() && !x->renewed && renew_may(x->key))
		x->reply.unauthorized = KEYD_FAIL_EXPIRED;
	r = tls_read(x->up, in, sizeof(in), &n);
	switch (r) {
	case TLS_AGAIN:
		*idle = true;
		return REPLY_MORE;
	case TLS_OK:
		if (!x->answered)
			x->sent_whole =
			    x->head_done && x->sent == x->req.length;
		x->answered = true;
		/* Asking costs a call; if more comes, the loop says so. */
		*idle = n < sizeof(in) && !tls_pending(x->up);
		return reply_feed(
		    &x->reply, keyd_env.provider, scrub, span_of(in, n), out);
	case TLS_EOF:
	case TLS_CUT:
	case TLS_ERROR:
		break;
	}
	if (x->deaf && !x->answered) {
		x->reply.fail = KEYD_FAIL_SEND;
		x->reply.detail = "broke while the request was sent";
		return REPLY_FAIL;
	}
	return reply_eof(&x->reply, r == TLS_EOF, out);
}

void
exchange_pull(struct stream *s)
{
	enum reply_result r = REPLY_MORE;
	struct exchange *x = &s->x;
	struct buf *out = stream_begin(s);
	bool idle = false;
	int i;

	x->up->more = false;
	for (i = 0; i < EXCHANGE_BURST && !idle && r == REPLY_MORE &&
		    out->len < KEYD_OUT_SOFT;
	     i++)
		r = exchange_read(s, out, &idle);
	/* The agent has its answer, or the beginning of it. */
	if (x->reply.headed && !x->renewed && x->keeping) {
		exchange_unkeep(s);
		if (x->head_done && !x->listing)
			request_free(&x->req);
	}
	if (stream_commit(s) == -1)
		return;
	switch (r) {
	case REPLY_MORE:
		/* TLS may hold what the socket no longer shows. */
		x->up->more = !idle && s->out.len < KEYD_OUT_SOFT;
		stream_watch(s);
		up_watch(x->up);
		return;
	case REPLY_DONE:
		exchange_answered(s);
		return;
	case REPLY_FAIL:
		break;
	}
	if (x->reply.fail == KEYD_FAIL_EXPIRED) {
		exchange_renew(s);
		return;
	}
	if (x->reply.fail == KEYD_FAIL_REFLECTED)
		exchange_reflected();
	exchange_fail(s, x->reply.fail, x->reply.detail);
}
