/* SPDX-License-Identifier: ISC */
/*
 * A request from its admission to its end. Bodies are streamed unless they must
 * be held whole first (body.c), since auditd records the length and keyd counts
 * it. The agent's bodies pass through here unread.
 */
#include "mitmd.h"

#include <stdlib.h>

#include "body.h"
#include "common/log.h"

void
request_late(struct exchange *x, const char *what, unsigned ms)
{
	struct span none = SPAN("");

	mitmd_note(x->a, "%s within %u ms: closed", what, ms);
	/*
	 * The request was already answered: a second answer would be taken for
	 * the next one's.
	 */
	if (x->state == EXCHANGE_DISCARD) {
		agent_linger(x->a);
		return;
	}
	x->denied = mitmd_denied(x->a, REFUSE_TIMEOUT, 0, none, none, NULL);
	x->front->refuse(x, REFUSE_TIMEOUT, NULL, false);
}

/*
 * Neither side made progress: end the request if the agent is at fault. keyd
 * watches the provider's time.
 */
static void
request_stalled(struct exchange *x)
{
	bool answer = x->front->waiting(x) != 0;
	bool still = x->whole || x->up.out.len >= MITMD_WINDOW;

	/* A WebSocket may be silent as long as both sides like. */
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

/* Returns the time without progress. */
static uint64_t
request_idle(const struct exchange *x)
{
	uint64_t at = x->progress;

	/*
	 * An agent that takes the answers of other streams first is not idle.
	 */
	if (x->front->waiting(x) != 0 && x->a->taken > at)
		at = x->a->taken;
	return loop_now(&mitmd_env.w.loop) - at;
}

static void
request_expired(struct loop_timer *t)
{
	struct exchange *x = t->arg;
	struct agent *a = x->a;
	uint64_t idle = request_idle(x);

	agent_hold(a);
	switch (x->state) {
	case EXCHANGE_IDLE:
		break;
	case EXCHANGE_HOLD:
	case EXCHANGE_DISCARD:
		if (idle >= MITMD_STALL_MS)
			request_late(x, "no byte of a body", MITMD_STALL_MS);
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
			request_stalled(x);
		else
			exchange_enter(x, x->state, MITMD_STALL_MS);
		break;
	}
	agent_leave(a);
}

static const struct exchange_ops request_ops = {
    .late = request_expired,
    .up_ready = reply_ready,
};

struct exchange *
request_new(struct agent *a, const struct front *front)
{
	struct exchange *x;

	if (mitmd_env.nexchanges >= MITMD_MAX_EXCHANGES ||
	    (x = calloc(1, sizeof(*x))) == NULL)
		return NULL;
	x->a = a;
	x->front = front;
	x->ops = &request_ops;
	x->whole = true;
	x->up.fd = x->up.io.fd = -1;
	buf_init(&x->kept, 2 * PROVIDER_MAX_BLOB);
	body_hold_init(&x->held);
	buf_init(&x->up.in, MITMD_MAX_QUEUE);
	buf_init(&x->up.out, MITMD_MAX_QUEUE);
	buf_init(&x->part, MITMD_MAX_PART);
	TAILQ_INSERT_TAIL(&a->exchanges, x, entry);
	mitmd_env.nexchanges++;
	return x;
}

void
request_begin(struct exchange *x, const struct request *r)
{
	x->req = *r;
	asked_body(x, NULL);
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
	/* A request to a forge without a body is checked like one with it. */
	if (x->whole && !x->req.websocket)
		request_body_end(x);
}

enum refusal
request_body(struct exchange *x, struct span data)
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
request_body_end(struct exchange *x)
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
	if (no == REFUSE_PUSH)
		deny_refs(x);
	else
		deny_request(x, no, true);
}
