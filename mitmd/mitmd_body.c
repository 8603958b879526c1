/* SPDX-License-Identifier: ISC */
/*
 * An admitted request on its way: REQUEST to auditd, its body to keyd.  A
 * body of known length streams; a chunked one is held whole first, since its
 * length is part of what auditd writes down and keyd counts.  Holds bodies of
 * the agent and looks at none of them.
 */
#include "mitmd.h"

#include <errno.h>

#include "log.h"

static void
body_unhold(struct agent *a)
{
	mitmd_env.held -= a->held.len;
	buf_reset(&a->held, 0);
}

void
body_end(struct agent *a)
{
	body_unhold(a);
	buf_reset(&a->kept, 0);
	memset(&a->req, 0, sizeof(a->req));
}

/* The spans of a request that waits move into a->kept. */
static int
body_keep(struct agent *a)
{
	struct span *spans[] = {&a->req.path, &a->req.query, &a->req.headers};
	const uint8_t *p;

	if (a->kept.len != 0)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (buf_addspan(&a->kept, *spans[i]) == -1)
			return -1;
	}
	p = buf_span(&a->kept).p;
	for (size_t i = 0; i < 3; i++) {
		*spans[i] = span_of(p, spans[i]->len);
		p += spans[i]->len;
	}
	return 0;
}

/* To auditd, which writes it down and lets keyd begin. */
static void
body_send(struct agent *a)
{
	const struct request *r = &a->req;
	struct msg_REQUEST m = {
	    .provider = (uint16_t)a->provider,
	    .stream = a->up.stream,
	    .exchange = a->up.exchange,
	    .route = (uint16_t)r->route,
	    .path = r->path,
	    .query = r->query,
	    .length = r->length,
	    .headers = r->headers,
	};

	worker_send(&mitmd_env.w, ROLE_AUDIT, 0, MSG_REQUEST, &m, -1);
	agent_enter(a, AGENT_EXCHANGE, MITMD_STALL_MS);
	upstream_flush(a);
	buf_reset(&a->kept, 0);
}

/* The length is known: over a stream that is there, or asks for one. */
static void
body_launch(struct agent *a)
{
	const struct provider *p = mitmd_env.providers[a->provider].p;
	struct msg_STREAM_OPEN m;

	a->up.answered = false;
	a->up.deaf = false;
	a->up.left = 0;
	if (a->up.fd != -1 && a->up.exchange != UINT32_MAX) {
		a->up.exchange++;
		body_send(a);
		return;
	}
	upstream_close(a);
	if (body_keep(a) == -1) {
		agent_close(a);
		return;
	}
	if (++mitmd_env.last_stream == 0)
		mitmd_env.last_stream = 1;
	a->up.stream = mitmd_env.last_stream;
	a->up.exchange = 1;
	m = (struct msg_STREAM_OPEN){.stream = a->up.stream,
	    .digest = span_of(p->digest, sizeof(p->digest))};
	agent_enter(a, AGENT_OPENING, MITMD_STREAM_MS);
	worker_send(
	    &mitmd_env.w, ROLE_KEY, a->provider, MSG_STREAM_OPEN, &m, -1);
}

void
body_stream(struct agent *a, int fd)
{
	if (upstream_open(a, fd) == -1) {
		deny_exchange(a, REFUSE_GONE, NULL);
		return;
	}
	body_send(a);
}

void
body_begin(struct agent *a, const struct request *r)
{
	a->req = *r;
	if (r->expect &&
	    mitmd_tls_put(a, SPAN("HTTP/1.1 100 Continue\r\n\r\n")) == -1) {
		agent_close(a);
		return;
	}
	if (r->body.framing != HTTP1_CHUNKED) {
		body_launch(a);
		return;
	}
	if (body_keep(a) == -1) {
		agent_close(a);
		return;
	}
	agent_enter(a, AGENT_HOLD, MITMD_STALL_MS);
}

/* A run of a chunked body. REFUSE_NONE: it is held. */
static enum refusal
body_hold(struct agent *a, struct span data)
{
	const struct provider *p = mitmd_env.providers[a->provider].p;

	if (data.len > p->routes[a->req.route].max - a->held.len)
		return REFUSE_LENGTH;
	if (data.len > MITMD_MAX_HELD - mitmd_env.held ||
	    buf_addspan(&a->held, data) == -1)
		return REFUSE_HELD;
	mitmd_env.held += data.len;
	return REFUSE_NONE;
}

/* AGENT_HOLD and AGENT_DISCARD of a chunked body. */
static size_t
body_chunks(struct agent *a, struct span s)
{
	const struct provider *p = mitmd_env.providers[a->provider].p;
	struct http1_body *b = &a->req.body;
	enum refusal no = REFUSE_NONE;
	struct span data;
	size_t used = 0, n;

	while (used < s.len && !b->done && no == REFUSE_NONE) {
		if (http1_body_next(b, span_of(s.p + used, s.len - used), &data,
			&n) == HTTP1_BAD) {
			a->req.why = b->reason;
			no = REFUSE_MALFORMED;
			break;
		}
		used += n;
		if (a->state == AGENT_HOLD)
			no = body_hold(a, data);
		else if (data.len > a->req.left)
			no = REFUSE_LENGTH;
		else
			a->req.left -= data.len;
	}
	if (no != REFUSE_NONE) {
		/* Of two answers to one request only the first is read. */
		if (a->state == AGENT_DISCARD) {
			agent_linger(a);
			return s.len;
		}
		mitmd_denied(
		    a, no, 0, p->routes[a->req.route].method, a->req.path);
		deny_request(a, no, false);
		return s.len;
	}
	if (b->done && a->state == AGENT_HOLD) {
		a->req.length = a->held.len;
		body_launch(a);
	} else if (b->done) {
		body_end(a);
		agent_enter(a, AGENT_REQUEST, MITMD_IDLE_MS);
	}
	return used;
}

size_t
body_take(struct agent *a, struct span s)
{
	if (a->req.body.framing == HTTP1_CHUNKED &&
	    (a->state == AGENT_HOLD || a->state == AGENT_DISCARD))
		return body_chunks(a, s);
	if (a->state != AGENT_OPENING && a->state != AGENT_EXCHANGE &&
	    a->state != AGENT_DISCARD)
		return 0;
	if (s.len > a->req.left)
		s.len = (size_t)a->req.left;
	if (s.len == 0)
		return 0;
	a->req.left -= s.len;
	if (a->state != AGENT_DISCARD) {
		if (upstream_put(a, s) == -1)
			agent_close(a);
	} else if (a->req.left == 0) {
		body_end(a);
		agent_enter(a, AGENT_REQUEST, MITMD_IDLE_MS);
	}
	return s.len;
}
