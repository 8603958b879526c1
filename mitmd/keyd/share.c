/* SPDX-License-Identifier: ISC */
/*
 * Keeps account of what is reserved; see share.h. Nothing that mitmd sends makes
 * a reservation smaller than keyd's own estimate.
 */
#include "keyd/share.h"

#include <stdlib.h>

#include "keyd/keyd.h"

/* Ask for more when less than this part of the share is free. */
#define SHARE_LOW 4U

void
share_init(void (*report)(void))
{
	struct share *h = &keyd_env.share;

	h->report = report;
	/* Until icsupervisor sets a limit. */
	h->max = SPEND_ALL;
	TAILQ_INIT(&h->list);
	TAILQ_INIT(&h->waiting);
}

/* Returns the cost of `n` tokens. */
static uint64_t
share_cost(uint64_t n, uint64_t price)
{
	return price != 0 && n > UINT64_MAX / price ? UINT64_MAX : n * price;
}

struct spend
share_estimate(uint64_t bytes, uint64_t most)
{
	const struct share *h = &keyd_env.share;
	uint64_t in = bytes / PROTO_TOKEN_BYTES + PROTO_TEMPLATE_TOKENS;
	uint64_t out = most;

	/* Images have more bytes than tokens. */
	if (in > PROTO_RESERVED_IN)
		in = PROTO_RESERVED_IN;
	if (out < PROTO_RESERVED_OUT)
		out = PROTO_RESERVED_OUT;
	return (struct spend){spend_plus(in, out),
	    spend_plus(share_cost(in, h->in), share_cost(out, h->out))};
}

uint64_t
share_bytes(const struct stream *s)
{
	/* The messages of a WebSocket are still to come. */
	return s->x.req.length != UINT64_MAX ? s->x.req.length : 0;
}

bool
share_fits(struct spend want, struct spend held)
{
	const struct share *h = &keyd_env.share;

	if (spend_within(spend_add(held, want), h->max))
		return true;
	/* Alone, a request may use all that is left. */
	return h->rest == PROTO_SHARE_WHOLE && spend_none(held) &&
	       h->max.tokens != 0 && h->max.cost != 0;
}

struct spend
share_running(void)
{
	return spend_sub(keyd_env.share.held, keyd_env.share.over);
}

void
share_ask(void)
{
	if (keyd_env.share.asked)
		return;
	keyd_env.share.asked = true;
	keyd_env.share.report();
}

void
share_report(struct msg_SPENT *m)
{
	const struct share *h = &keyd_env.share;
	struct spend want = {0, 0};
	const struct stream *s;

	TAILQ_FOREACH (s, &h->waiting, wait)
		want = spend_add(
		    want, share_estimate(share_bytes(s), s->x.req.most));
	m->share = h->number;
	m->asks = h->asked;
	m->held_tokens = h->held.tokens;
	m->held_cost = h->held.cost;
	m->want_tokens = want.tokens;
	m->want_cost = want.cost;
}

/* Remove the reservation from the list; what it reserves stays reserved. */
static void
share_forget(struct reserved *r)
{
	struct share *h = &keyd_env.share;

	h->nover -= r->over;
	TAILQ_REMOVE(&h->list, r, entry);
	free(r);
}

static void
share_give_back(struct reserved *r)
{
	struct share *h = &keyd_env.share;

	h->held = spend_sub(h->held, r->spend);
	if (r->over)
		h->over = spend_sub(h->over, r->spend);
	share_forget(r);
	if (!TAILQ_EMPTY(&h->waiting))
		loop_turn_add(&keyd_env.w.loop, &h->turn);
}

int
share_take(struct stream *s, struct spend want, uint32_t message)
{
	struct share *h = &keyd_env.share;
	struct reserved *r;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		return -1;
	r->stream = s->id;
	r->exchange = s->x.req.exchange;
	r->message = message;
	r->spend = spend_least(want, spend_sub(h->max, h->held));
	h->held = spend_add(h->held, r->spend);
	TAILQ_INSERT_TAIL(&h->list, r, entry);
	s->x.reserved = r;
	/* Ask early, so that the next request need not wait. */
	if (!spend_within(
		h->held, spend_sub(h->max, spend_part(h->max, SHARE_LOW))))
		share_ask();
	return 0;
}

void
share_end(struct txn *x, bool costs)
{
	struct share *h = &keyd_env.share;
	struct reserved *r = x->reserved;

	x->reserved = NULL;
	if (r == NULL)
		return;
	if (!costs || r->settled) {
		share_give_back(r);
		return;
	}
	r->over = true;
	h->over = spend_add(h->over, r->spend);
	if (++h->nover <= SHARE_MAX_OVER)
		return;
	TAILQ_FOREACH (r, &h->list, entry)
		if (r->over)
			break;
	if (r != NULL)
		share_forget(r);
}

void
share_settle(uint32_t stream, uint32_t exchange, uint32_t message)
{
	struct reserved *r;

	TAILQ_FOREACH (r, &keyd_env.share.list, entry)
		if (r->stream == stream && r->exchange == exchange &&
		    r->message == message)
			break;
	/* mitmd may have told of it twice, or of one that is not ours. */
	if (r == NULL)
		return;
	if (r->over)
		share_give_back(r);
	else
		r->settled = true;
}

int
share_message(struct stream *s, uint64_t bytes)
{
	struct spend want;

	share_end(&s->x, true);
	s->x.messages++;
	if (spend_unlimited(keyd_env.share.max))
		return 0;
	want = share_estimate(bytes, 0);
	if (share_fits(want, share_running()))
		return share_take(s, want, s->x.messages);
	share_ask();
	/* It cannot wait; it is refused if nothing more is known to be free. */
	return keyd_env.share.rest == PROTO_SHARE_MORE
		   ? share_take(s, want, s->x.messages)
		   : -1;
}
