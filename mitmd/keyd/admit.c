/* SPDX-License-Identifier: ISC */
/*
 * Admits requests: one that starts a turn begins when its estimate is reserved.
 * If it fits only beside requests that have ended and are not counted yet, or
 * keyd's share can grow, it waits for that; if running requests have reserved
 * what it needs, it is refused for the moment.
 */
#include "keyd/keyd.h"

enum admit_stage {
	ADMIT_NEW,	/* it may wait */
	ADMIT_ANSWERED,	/* icsupervisor has said what is free */
	ADMIT_LAST,	/* its wait is over */
};

static void
admit_refuse(struct stream *s, enum keyd_fail fail, const char *detail)
{
	s->x.state = TXN_ON;
	txn_fail(s, fail, detail);
}

static void
admit_go(struct stream *s)
{
	budget_begin(&keyd_env.provider->routes[s->x.req.route]);
	s->x.req.kind->begin(s);
}

/* Returns true if the request has begun or failed, false if it has to wait. */
static bool
admit_try(struct stream *s, enum admit_stage stage)
{
	struct keyd_env *e = &keyd_env;
	const struct provider_route *r = &e->provider->routes[s->x.req.route];
	struct share *h = &e->share;
	struct spend want;

	if ((e->budget.why = budget_refusal(r)) != NULL) {
		admit_refuse(s, KEYD_FAIL_BUDGET, "budget used up");
		return true;
	}
	if (!r->turn || spend_unlimited(h->max)) {
		admit_go(s);
		return true;
	}
	want = share_estimate(share_bytes(s), s->x.req.most);
	if (share_fits(want, h->held)) {
		/* A WebSocket's turns are its messages: see share_message(). */
		if (!r->websocket && share_take(s, want, 0) == -1)
			admit_refuse(s, KEYD_FAIL_INTERNAL,
			    "no memory for the request's part of the budget");
		else
			admit_go(s);
		return true;
	}
	if (stage == ADMIT_LAST ||
	    (stage == ADMIT_ANSWERED && h->rest != PROTO_SHARE_MORE &&
		!share_fits(want, share_running()))) {
		admit_refuse(s, KEYD_FAIL_RESERVED, "budget reserved");
		return true;
	}
	return false;
}

static void admit_timer(struct loop_timer *);

static void
admit_arm(void)
{
	struct share *h = &keyd_env.share;
	struct loop *l = &keyd_env.w.loop;
	const struct stream *s = TAILQ_FIRST(&h->waiting);

	if (s == NULL)
		loop_timer_clear(l, &h->timer);
	else if (h->timer.at == 0)
		loop_timer_set(l, &h->timer,
		    s->x.until > loop_now(l) ? s->x.until - loop_now(l) : 1,
		    admit_timer, NULL);
}

static void
admit_wait(struct stream *s)
{
	s->x.state = TXN_SHARE;
	TAILQ_INSERT_TAIL(&keyd_env.share.waiting, s, wait);
}

/* Try all requests that wait, in their order. */
static void
admit_again(enum admit_stage stage)
{
	struct share *h = &keyd_env.share;
	uint64_t now = loop_now(&keyd_env.w.loop);
	struct stream *s, *last = TAILQ_LAST(&h->waiting, share_waiters);
	bool more = last != NULL;

	while (more && (s = TAILQ_FIRST(&h->waiting)) != NULL) {
		more = s != last;
		TAILQ_REMOVE(&h->waiting, s, wait);
		s->x.state = TXN_NONE;
		if (!admit_try(s, s->x.until <= now ? ADMIT_LAST : stage))
			admit_wait(s);
	}
	if (!TAILQ_EMPTY(&h->waiting) && h->rest == PROTO_SHARE_MORE)
		share_ask();
	admit_arm();
}

static void
admit_timer(struct loop_timer *t)
{
	admit_again(ADMIT_NEW);
}

static void
admit_turn(struct loop_turn *t)
{
	admit_again(ADMIT_NEW);
}

void
admit_init(void)
{
	share_init(budget_report);
	keyd_env.share.turn.fn = admit_turn;
}

void
admit_begin(struct stream *s)
{
	s->x.until = loop_now(&keyd_env.w.loop) + SHARE_WAIT_MS;
	if (admit_try(s, ADMIT_NEW))
		return;
	admit_wait(s);
	share_ask();
	admit_arm();
}

int
admit_share(struct chan *c, const struct msg_SHARE *m)
{
	struct share *h = &keyd_env.share;
	struct spend max = {m->tokens, m->cost};
	bool more = spend_within(h->max, max) && !spend_within(max, h->max);

	if (m->number <= h->number)
		return chan_violation(c, "SHARE %u out of order", m->number);
	h->number = m->number;
	h->rest = m->rest;
	h->max = max;
	h->in = m->in;
	h->out = m->out;
	h->asked = false;
	/* icsupervisor waits for this before it gives to another keyd. */
	if (!more && keyd_env.w.started)
		budget_report();
	admit_again(ADMIT_ANSWERED);
	return 0;
}

int
admit_settled(struct chan *c, const struct msg_SETTLED *m)
{
	const uint8_t *p = m->each.p;
	uint32_t n[3];

	if (m->each.len % PROTO_SETTLED_SIZE != 0)
		return chan_violation(c, "SETTLED of %zu bytes", m->each.len);
	for (size_t at = 0; at < m->each.len; at += sizeof(n)) {
		memcpy(n, p + at, sizeof(n));
		share_settle(
		    le32toh(n[0]), le32toh(n[1]), le32toh(n[2]));
	}
	return 0;
}
