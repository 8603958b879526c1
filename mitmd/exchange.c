/* SPDX-License-Identifier: ISC */
/*
 * The resources of an exchange, and its three ends: giving it up, finishing it,
 * and freeing it.
 */
#include "mitmd.h"

#include <stdlib.h>

#include "body.h"
#include "common/log.h"
#include "usage.h"

static void
exchange_forget(struct exchange *x)
{
	mitmd_env.kept -= x->kept.len;
	ask_over(x, true);
	buf_free(&x->push.refs);
	buf_free(&x->tree);
	x->push.report = x->probe = false;
	usage_end(x, false);
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
	if (x->turning)
		TAILQ_REMOVE(&a->turns, x, turn);
	x->turning = false;
	if (x->parked)
		TAILQ_REMOVE(&a->parked, x, entry);
	else
		TAILQ_REMOVE(&a->exchanges, x, entry);
	TAILQ_INSERT_TAIL(&a->gone, x, entry);
	if (a->penalized == x)
		a->penalized = NULL;
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
		free(x->ws);
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
	loop_timer_set(&mitmd_env.w.loop, &x->timer, ms, x->ops->late, x);
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

	if (on && (x->up.followed || !x->whole || x->up.out.len != 0 ||
		      hold_left(&x->held) != 0))
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
		buf_addspan(&x->kept, *spans[i]);
		if (x->kept.failed) {
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
exchange_watch(struct exchange *x)
{
	struct upstream *up = &x->up;
	uint32_t want;

	if (up->fd == -1)
		return;
	want = x->front->waiting(x) < x->front->window ? (uint32_t)EPOLLIN : 0;
	if ((up->out.len != 0 || (hold_left(&x->held) != 0 && !x->gathers &&
				     !up->write_closed)) &&
	    x->state == EXCHANGE_ON)
		want |= EPOLLOUT;
	if (loop_watch(&mitmd_env.w.loop, &up->io, up->fd, want,
		x->ops->up_ready, x) == -1)
		fatal("epoll_ctl");
}
