/* SPDX-License-Identifier: ISC */
/*
 * Exchanges: from an admitted request to its end.  A body streams unless it
 * must be held whole first (body.c), since its length is part of what
 * auditd writes down and keyd counts; how it gets a stream to keyd is in
 * streams.c.  Holds bodies of the agent and looks at none of them.
 */
#include "mitmd.h"

#include <errno.h>
#include <stdlib.h>

#include "body.h"
#include "common/log.h"
#include "usage.h"

static void exchange_expired(struct loop_timer *);

struct exchange *
exchange_new(struct agent *a, const struct front *front)
{
	struct exchange *x;

	if (mitmd_env.nexchanges >= MITMD_MAX_EXCHANGES ||
	    (x = calloc(1, sizeof(*x))) == NULL)
		return NULL;
	x->a = a;
	x->front = front;
	x->whole = true;
	x->up.fd = x->up.io.fd = -1;
	buf_init(&x->kept, 2 * PROVIDER_MAX_BLOB);
	hold_init(&x->held);
	buf_init(&x->up.in, MITMD_MAX_QUEUE);
	buf_init(&x->up.out, MITMD_MAX_QUEUE);
	buf_init(&x->part, MITMD_MAX_PART);
	TAILQ_INSERT_TAIL(&a->exchanges, x, entry);
	mitmd_env.nexchanges++;
	return x;
}

static void
exchange_forget(struct exchange *x)
{
	mitmd_env.kept -= x->kept.len;
	ask_over(x, true);
	buf_free(&x->push.refs);
	x->push.report = x->probe = false;
	usage_end(x);
	buf_free(&x->part);
	body_drop(x);
	buf_reset(&x->kept, 0);
	memset(&x->req, 0, sizeof(x->req));
	x->gathers = false;
}

void
exchange_free(struct exchange *x)
{
	struct agent *a = x->a;

	if (x->gone)
		return;
	x->gone = true;
	if (x->state == EXCHANGE_QUEUED)
		TAILQ_REMOVE(&mitmd_env.queued, x, queue);
	loop_timer_clear(&mitmd_env.w.loop, &x->timer);
	upstream_close(x);
	exchange_forget(x);
	if (x->parked)
		TAILQ_REMOVE(&a->parked, x, entry);
	else
		TAILQ_REMOVE(&a->exchanges, x, entry);
	TAILQ_INSERT_TAIL(&a->gone, x, entry);
	if (a->penal == x)
		a->penal = NULL;
	mitmd_env.nexchanges--;
}

void
exchange_reap(struct agent *a)
{
	struct exchange *x;

	while ((x = TAILQ_FIRST(&a->gone)) != NULL) {
		TAILQ_REMOVE(&a->gone, x, entry);
		buf_free(&x->kept);
		hold_reset(&x->held);
		buf_free(&x->up.in);
		buf_free(&x->up.out);
		buf_free(&x->answer);
		ws_free(x->ws);
		free(x);
	}
}

uint32_t
exchange_denied_id(struct exchange *x)
{
	uint32_t id = x->denied;

	x->denied = 0;
	return id != 0 ? id : ++mitmd_env.last_refusal;
}

void
exchange_enter(struct exchange *x, enum exchange_state state, uint64_t ms)
{
	if (x->gone)
		return;
	x->state = state;
	loop_timer_set(&mitmd_env.w.loop, &x->timer, ms, exchange_expired, x);
}

void
exchange_abandon(struct exchange *x)
{
	if (x->state == EXCHANGE_QUEUED) {
		TAILQ_REMOVE(&mitmd_env.queued, x, queue);
		x->state = EXCHANGE_IDLE;
	}
	ask_over(x, true);
	upstream_close(x);
	body_drop(x);
}

void
exchange_end(struct exchange *x)
{
	bool on = x->state == EXCHANGE_ON || x->state == EXCHANGE_ANSWER;

	if (on && (!x->whole || x->up.out.len != 0 || hold_left(&x->held) != 0))
		upstream_close(x);
	exchange_forget(x);
	loop_timer_clear(&mitmd_env.w.loop, &x->timer);
	if (x->state == EXCHANGE_QUEUED)
		TAILQ_REMOVE(&mitmd_env.queued, x, queue);
	x->state = EXCHANGE_IDLE;
	x->left = 0;
	x->whole = true;
	if (x->up.fd != -1 && !x->spare) {
		x->spare = true;
		TAILQ_INSERT_TAIL(&mitmd_env.spare, x, queue);
	}
}

int
exchange_keep(struct exchange *x)
{
	struct span *spans[] = {&x->req.path, &x->req.query, &x->req.headers};
	const uint8_t *p;
	size_t len = 0;

	if (x->kept.len != 0)
		return 0;
	for (size_t i = 0; i < 3; i++)
		len += spans[i]->len;
	if (len > MITMD_MAX_KEPT - mitmd_env.kept)
		return -1;
	for (size_t i = 0; i < 3; i++) {
		if (buf_addspan(&x->kept, *spans[i]) == -1) {
			buf_reset(&x->kept, 0);
			return -1;
		}
	}
	mitmd_env.kept += len;
	p = buf_span(&x->kept).p;
	for (size_t i = 0; i < 3; i++) {
		*spans[i] = span_of(p, spans[i]->len);
		p += spans[i]->len;
	}
	return 0;
}

void
exchange_begin(struct exchange *x, const struct request *r)
{
	x->req = *r;
	x->progress = loop_now(&mitmd_env.w.loop);
	if (!body_is_held(x)) {
		exchange_launch(x);
		return;
	}
	if (exchange_keep(x) == -1) {
		deny_exchange(x, REFUSE_HELD, NULL);
		return;
	}
	exchange_enter(x, EXCHANGE_HOLD, MITMD_STALL_MS);
	body_hold(x);
}

enum refusal
exchange_body(struct exchange *x, struct span data)
{
	x->progress = loop_now(&mitmd_env.w.loop);
	switch (x->state) {
	case EXCHANGE_HOLD:
		return body_put(x, data);
	case EXCHANGE_QUEUED:
	case EXCHANGE_OPENING:
	case EXCHANGE_ON:
		if (upstream_put(x, data) == -1)
			agent_close(x->a);
		return REFUSE_NONE;
	case EXCHANGE_IDLE:
	case EXCHANGE_ANSWER:
	case EXCHANGE_DISCARD:
		break;
	}
	return REFUSE_NONE;
}

void
exchange_body_end(struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	enum refusal no;

	x->whole = true;
	if (x->state != EXCHANGE_HOLD)
		return;
	if ((no = body_check(x)) == REFUSE_NONE) {
		exchange_launch(x);
		return;
	}
	x->denied = mitmd_denied(x->a, no, 0, p->routes[x->req.route].method,
	    x->req.path, x->req.why);
	deny_request(x, no, true);
}

void
exchange_late(struct exchange *x, const char *what, unsigned ms)
{
	struct span none = SPAN("");

	mitmd_note(x->a, "%s within %u ms: closed", what, ms);
	/* A second answer to a refused request would be taken for another's. */
	if (x->state == EXCHANGE_DISCARD) {
		agent_linger(x->a);
		return;
	}
	x->denied = mitmd_denied(x->a, REFUSE_TIMEOUT, 0, none, none, NULL);
	x->front->refuse(x, REFUSE_TIMEOUT, NULL, false);
}

/* Neither side moved: whose fault it is. The provider's time is keyd's. */
static void
exchange_stalled(struct exchange *x)
{
	bool answer = x->front->waiting(x) != 0;
	bool still = x->whole || x->up.out.len >= MITMD_WINDOW;

	/* A WebSocket may be silent for as long as both sides like. */
	if (x->req.websocket)
		still = !ws_waits(x);
	if (!answer && still) {
		exchange_enter(x, x->state, MITMD_STALL_MS);
		return;
	}
	mitmd_note(x->a, "%s for %u ms: closed",
	    answer ? "takes no byte of its answer"
		   : "sends no byte of its request",
	    MITMD_STALL_MS);
	x->front->cut(x, true);
}

static void
exchange_expired(struct loop_timer *t)
{
	struct exchange *x = t->arg;
	struct agent *a = x->a;
	uint64_t idle = loop_now(&mitmd_env.w.loop) - x->progress;

	agent_hold(a);
	switch (x->state) {
	case EXCHANGE_IDLE:
		break;
	case EXCHANGE_HOLD:
	case EXCHANGE_DISCARD:
		if (idle >= MITMD_STALL_MS)
			exchange_late(x, "no byte of a body", MITMD_STALL_MS);
		else
			exchange_enter(x, x->state, MITMD_STALL_MS - idle);
		break;
	case EXCHANGE_QUEUED:
		deny_exchange(x, REFUSE_BUSY, NULL);
		break;
	case EXCHANGE_OPENING:
		deny_exchange(x, REFUSE_GONE, "No stream from keyd.");
		break;
	case EXCHANGE_ON:
	case EXCHANGE_ANSWER:
		if (idle >= MITMD_STALL_MS)
			exchange_stalled(x);
		else
			exchange_enter(x, x->state, MITMD_STALL_MS);
		break;
	}
	agent_leave(a);
}

void
exchange_watch(struct exchange *x)
{
	struct upstream *up = &x->up;
	uint32_t want;

	if (up->fd == -1)
		return;
	want = x->front->waiting(x) < x->front->window ? (uint32_t)EPOLLIN : 0;
	if ((up->out.len != 0 ||
		(hold_left(&x->held) != 0 && !x->gathers && !up->deaf)) &&
	    x->state == EXCHANGE_ON)
		want |= EPOLLOUT;
	if (loop_watch(
		&mitmd_env.w.loop, &up->io, up->fd, want, reply_ready, x) == -1)
		fatal("epoll_ctl");
}
