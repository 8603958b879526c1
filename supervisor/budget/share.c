/* SPDX-License-Identifier: ISC */
/*
 * Divides what is left of tokens and money among the keyds, which reserve a
 * part of their share for each request before they send it. A keyd begins with
 * nothing and asks; it gets half of what is free, or all that it needs. When
 * that is not free, the others are asked to give back what they have not
 * reserved. All shares together are never more than what is left, unless
 * answers cost more than was reserved for them.
 *
 * Which answers are counted is told together with a new share, so that a session
 * that is far from its limits has a message for many requests.
 */
#include "budget/priv.h"

#include <endian.h>
#include <string.h>

#include "core/sup.h"

#define SHARE_NANO 1e9
/* 10^-9 USD for a token, of a price in USD for a million tokens */
#define SHARE_PRICE 1e3
#define SHARE_MOST 1e18

/* Returns what the limit leaves, in its unit divided by `unit`. */
static uint64_t
share_of(enum budget_key key, double unit)
{
	const struct budget_limits *l = &budget_env.limits;
	double left;

	if (!l->on[key] || (budget_is_turn(key) && !budget_env.turning))
		return UINT64_MAX;
	left = (l->max[key] - budget_used(key)) * unit;
	if (left >= SHARE_MOST)
		return (uint64_t)SHARE_MOST;
	return left > 0 ? (uint64_t)left : 0;
}

struct spend
budget_left_over(void)
{
	const struct spend session = {
	    share_of(BUDGET_TOKENS, 1), share_of(BUDGET_USD, SHARE_NANO)};
	const struct spend turn = {share_of(BUDGET_TURN_TOKENS, 1),
	    share_of(BUDGET_TURN_USD, SHARE_NANO)};

	return spend_least(session, turn);
}

static uint64_t
share_nano(double price)
{
	return (uint64_t)(price * SHARE_PRICE) + 1;
}

/* Raise the two prices to those of this row, if there is one. */
static void
share_dearer(const struct price *p, double *in, double *out)
{
	if (p != NULL && p->set.in > *in)
		*in = p->set.in;
	if (p != NULL && p->set.out > *out)
		*out = p->set.out;
}

/*
 * Find the price of a token for this provider: that of the dearest of the models
 * that it was used with, models of no family, and those to which the user has
 * given a price.
 */
static void
share_price(unsigned provider, uint64_t *in, uint64_t *out)
{
	const struct budget_env *b = &budget_env;
	enum price_how how;
	double from = 0, to = 0;

	share_dearer(prices_find(&b->prices, "", "", &how), &from, &to);
	for (unsigned i = 0; i < b->prices.own; i++)
		share_dearer(&b->prices.rows[i], &from, &to);
	for (unsigned i = 0; i < b->nmodels; i++) {
		if (b->models[i].provider == provider)
			share_dearer(b->models[i].price, &from, &to);
	}
	*in = share_nano(from);
	*out = share_nano(to);
}

/*
 * Returns true if the share only grows. keyd answers one that does not, as its
 * admit_share() says.
 */
static bool
share_raises(struct spend from, struct spend to)
{
	return spend_within(from, to) && !spend_within(to, from);
}

/*
 * Returns what keyds other than this one may have reserved, of tokens and money
 * if `left` limits them.
 */
static struct spend
share_others(unsigned provider, struct spend left)
{
	struct spend sum = {0, 0};

	for (unsigned i = 0; i < sup.providers.n; i++)
		if (i != provider)
			sum = spend_add(sum, budget_env.shares[i].given);
	if (left.tokens == UINT64_MAX)
		sum.tokens = 0;
	if (left.cost == UINT64_MAX)
		sum.cost = 0;
	return sum;
}

/* Tell the keyd which of its requests are counted. */
static void
share_settled(unsigned provider)
{
	struct budget_share *h = &budget_env.shares[provider];
	uint8_t each[PROTO_MAX_SETTLED * PROTO_SETTLED_SIZE];
	struct msg_SETTLED m = {.each = span_of(each, 0)};
	uint32_t n[3];

	for (unsigned i = 0; i < h->nsettled; i++) {
		n[0] = htole32(h->settled[i].stream);
		n[1] = htole32(h->settled[i].exchange);
		n[2] = htole32(h->settled[i].message);
		memcpy(each + m.each.len, n, sizeof(n));
		m.each.len += sizeof(n);
	}
	h->nsettled = 0;
	if (m.each.len != 0)
		child_send(ROLE_KEY, provider, MSG_SETTLED, &m, -1);
}

static void
share_send(unsigned provider, struct spend max, enum proto_share rest)
{
	struct budget_share *h = &budget_env.shares[provider];
	struct msg_SHARE m = {.number = ++h->number,
	    .rest = (uint8_t)rest,
	    .tokens = max.tokens,
	    .cost = max.cost};

	share_settled(provider);
	share_price(provider, &h->in, &h->out);
	m.in = h->in;
	m.out = h->out;
	child_send(ROLE_KEY, provider, MSG_SHARE, &m, -1);
	/* Until it has answered, it may still have all that it had. */
	if (h->number == 1) {
		h->given = max;
	} else if (share_raises(h->sent, max)) {
		h->given = h->lowered ? spend_most(h->given, max) : max;
	} else {
		h->given = spend_most(h->given, max);
		h->lowered = true;
	}
	h->sent = max;
}

/* Returns true if another keyd has yet to give back what it need not keep. */
static bool
share_recalled(unsigned provider)
{
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (i != provider && budget_env.shares[i].lowered)
			return true;
	return false;
}

/* Take back from the other keyds all that they have not reserved. */
static void
share_recall(unsigned provider)
{
	struct budget_share *h;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		h = &budget_env.shares[i];
		if (i != provider && !h->lowered &&
		    (h->nsettled != 0 || !spend_within(h->given, h->held)))
			share_send(i, (struct spend){0, 0}, PROTO_SHARE_MORE);
	}
}

/* Answer a keyd that asks for more. */
static void
share_serve(unsigned provider)
{
	struct budget_share *h = &budget_env.shares[provider];
	struct spend left = budget_left_over();
	struct spend others = share_others(provider, left);
	struct spend free = spend_sub(left, others);
	struct spend need = spend_add(h->held, h->want);

	if (spend_within(need, spend_part(free, 2))) {
		share_send(provider, spend_part(free, 2), PROTO_SHARE_MORE);
	} else {
		if (!spend_within(need, free) && !h->served) {
			h->served = true;
			share_recall(provider);
			if (share_recalled(provider))
				return;
		}
		share_send(provider, free,
		    spend_none(others) ? PROTO_SHARE_WHOLE
				       : PROTO_SHARE_FREE);
	}
	h->asks = h->served = false;
}

static void
share_look(void)
{
	const struct budget_share *h;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		h = &budget_env.shares[i];
		if (h->asks && !(h->served && share_recalled(i)))
			share_serve(i);
	}
}

void
budget_held(unsigned provider, const struct msg_SPENT *m)
{
	struct budget_share *h = &budget_env.shares[provider];

	h->held = (struct spend){m->held_tokens, m->held_cost};
	h->want = (struct spend){m->want_tokens, m->want_cost};
	if (m->share == h->number && h->lowered) {
		h->given = spend_most(h->sent, h->held);
		h->lowered = false;
	}
	h->asks |= m->asks != 0;
	share_look();
}

void
budget_settle(const struct msg_USAGE_SHOW *u)
{
	struct budget_share *h = &budget_env.shares[u->provider];

	if (spend_unlimited(h->sent))
		return;
	h->settled[h->nsettled++] = (struct budget_settled){
	    .stream = u->stream,
	    .exchange = u->exchange,
	    .message = u->message};
	h->asks |= h->nsettled == PROTO_MAX_SETTLED;
	/* Requests wait for what others give back. */
	for (unsigned i = 0; i < sup.providers.n; i++)
		budget_env.shares[i].asks |=
		    !spend_none(budget_env.shares[i].want);
	share_look();
	if (h->nsettled == PROTO_MAX_SETTLED)
		share_settled(u->provider);
}

/*
 * Returns the most that the keyd can still reserve: its answers that are
 * counted since the last SHARE had a reservation that was not smaller than that
 * of an empty request.
 */
static struct spend
share_worst(const struct budget_share *h)
{
	const uint64_t in = PROTO_TEMPLATE_TOKENS, out = PROTO_RESERVED_OUT;
	uint64_t n = h->nsettled;
	const struct spend least = {
	    n * (in + out), n * (in * h->in + out * h->out)};

	return spend_sub(h->given, least);
}

/* Lower all shares, so that together they are within half of what is left. */
static void
share_lower(struct spend left)
{
	struct budget_share *h;
	struct spend part;
	unsigned n = 0;

	for (unsigned i = 0; i < sup.providers.n; i++)
		n += !spend_none(budget_env.shares[i].given);
	part = spend_part(left, 2 * (n != 0 ? n : 1));
	for (unsigned i = 0; i < sup.providers.n; i++) {
		h = &budget_env.shares[i];
		if (!spend_within(h->sent, part))
			share_send(
			    i, spend_least(h->sent, part), PROTO_SHARE_MORE);
	}
}

void
budget_shares(void)
{
	struct budget_share *h;
	struct spend left = budget_left_over(), sum = {0, 0};
	bool all = spend_unlimited(left);

	for (unsigned i = 0; i < sup.providers.n; i++) {
		h = &budget_env.shares[i];
		if (h->number == 0 || (all && !spend_unlimited(h->sent)))
			share_send(i, all ? left : (struct spend){0, 0},
			    PROTO_SHARE_MORE);
		sum = spend_add(sum, share_worst(h));
	}
	if (!all && !spend_within(sum, left))
		share_lower(left);
}
