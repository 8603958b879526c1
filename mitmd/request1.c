/* SPDX-License-Identifier: ISC */
/*
 * Requests over HTTP/1.1: extracts heads and bodies from the agent's bytes, one
 * request at a time; input sent ahead waits. The bytes are parsed by http1.h;
 * check.c decides what is permitted.
 */
#include "mitmd.h"

#include "body.h"
#include "common/log.h"
#include "tls.h"

int
request1_open(struct agent *a)
{
	if ((a->x = request_new(a, &front_http1)) == NULL)
		return -1;
	agent_enter(a, AGENT_OPEN, MITMD_IDLE_MS);
	return 0;
}

static void
request1_take(struct exchange *x, const struct http1_head *h)
{
	struct agent *a = x->a;
	struct request r;
	enum refusal no;
	bool known;

	a->seen = 0;
	loop_timer_clear(&mitmd_env.w.loop, &a->timer);
	no = check_request(a, h, &x->body, &r, &known);
	x->req = r;
	x->left = r.sized ? r.length : 0;
	x->whole = !known || (x->body.done && !r.websocket);
	if (no != REFUSE_NONE) {
		x->denied = mitmd_denied(
		    a, no, deny_status(x, no), h->method, h->target, r.why);
		deny_request(x, no, known);
	} else if (r.expect &&
		   mitmd_tls_put(a, SPAN("HTTP/1.1 100 Continue\r\n\r\n")) ==
		       -1) {
		agent_close(a);
	} else if (r.websocket && ws_open(x, r.ws_key) == -1) {
		agent_close(a);
	} else {
		request_begin(x, &r);
	}
}

static void
request1_bad_head(struct exchange *x, const struct http1_head *h)
{
	enum refusal no = h->large ? REFUSE_HEADERS : REFUSE_MALFORMED;
	struct span none = SPAN("");

	loop_timer_clear(&mitmd_env.w.loop, &x->a->timer);
	x->req.why = h->reason;
	x->denied = mitmd_denied(x->a, no, 0, none, none, h->reason);
	deny_request(x, no, false);
}

/* The body is invalid: answer the request now. */
static void
request1_bad_body(struct exchange *x, enum refusal no)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	/* A second answer to the same request would not be read. */
	if (x->state == EXCHANGE_DISCARD) {
		agent_linger(x->a);
		return;
	}
	x->denied = mitmd_denied(x->a, no, 0, p->routes[x->req.route].method,
	    x->req.path, x->req.why);
	deny_request(x, no, false);
}

/* Process a chunked body in EXCHANGE_HOLD or EXCHANGE_DISCARD. */
static size_t
request1_chunks(struct exchange *x, struct span s)
{
	struct http1_body *b = &x->body;
	enum refusal no = REFUSE_NONE;
	struct span data;
	size_t used = 0, n;

	while (used < s.len && !b->done && no == REFUSE_NONE) {
		if (http1_body_next(b, span_of(s.p + used, s.len - used), &data,
			&n) == HTTP1_BAD) {
			x->req.why = b->reason;
			no = REFUSE_MALFORMED;
			break;
		}
		used += n;
		if (x->state == EXCHANGE_HOLD)
			no = request_body(x, data);
		else if (data.len > x->left)
			no = REFUSE_LENGTH;
		else
			x->left -= data.len;
	}
	if (no != REFUSE_NONE) {
		request1_bad_body(x, no);
		return s.len;
	}
	if (b->done && x->state == EXCHANGE_HOLD)
		request_body_end(x);
	else if (b->done)
		answer1_next(x);
	return used;
}

/* Consume bytes of the body. Returns 0 if none are wanted now. */
static size_t
request1_body(struct exchange *x, struct span s)
{
	enum refusal no;

	if (x->body.framing == HTTP1_CHUNKED &&
	    (x->state == EXCHANGE_HOLD || x->state == EXCHANGE_DISCARD))
		return request1_chunks(x, s);
	if (x->state == EXCHANGE_IDLE || x->whole)
		return 0;
	if (x->req.websocket && x->state != EXCHANGE_DISCARD)
		return ws_input(x, s);
	if (s.len > x->left)
		s.len = (size_t)x->left;
	x->left -= s.len;
	if (x->state == EXCHANGE_DISCARD) {
		if (x->left == 0)
			answer1_next(x);
		return s.len;
	}
	if ((no = request_body(x, s)) != REFUSE_NONE)
		request1_bad_body(x, no);
	else if (x->left == 0 && !x->gone)
		request_body_end(x);
	return s.len;
}

uint8_t *
request1_place(struct exchange *x, size_t *n)
{
	if (x->state != EXCHANGE_HOLD || !x->req.sized || x->left == 0)
		return NULL;
	*n = (size_t)x->left;
	return body_place(x, *n);
}

void
request1_placed(struct exchange *x, size_t n)
{
	body_placed(x, n);
	x->left -= n;
	if (x->left == 0)
		request_body_end(x);
}

/* Read the next head. Returns its length, or 0 if it is incomplete. */
static size_t
request1_head(struct exchange *x, struct span s)
{
	static struct http1_head head;

	switch (http1_request_more(s, &x->a->seen, &head)) {
	case HTTP1_OK:
		request1_take(x, &head);
		return head.size;
	case HTTP1_BAD:
		request1_bad_head(x, &head);
		return s.len;
	case HTTP1_MORE:
		break;
	}
	return 0;
}

size_t
request1_input(struct agent *a, struct span s)
{
	struct span rest;
	size_t used = 0, n;

	while (used < s.len && !a->dead) {
		rest = span_of(s.p + used, s.len - used);
		if (a->state == AGENT_LINGER)
			return s.len;
		if (a->state != AGENT_OPEN)
			break;
		if (a->x->state == EXCHANGE_IDLE) {
			if ((n = request1_head(a->x, rest)) == 0)
				break;
		} else if ((n = request1_body(a->x, rest)) == 0 &&
			   (a->x == NULL || a->x->state != EXCHANGE_IDLE)) {
			break;
		}
		used += n;
	}
	return used;
}
