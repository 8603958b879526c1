/* SPDX-License-Identifier: ISC */
/*
 * Tokens and money that are spent, or set aside, together. A member that is
 * UINT64_MAX has no limit.
 */
#ifndef SPEND_H
#define SPEND_H

#include <stdbool.h>
#include <stdint.h>

struct spend {
	uint64_t tokens;
	uint64_t cost; /* 10^-9 USD */
};

#define SPEND_ALL ((struct spend){UINT64_MAX, UINT64_MAX})

static inline uint64_t
spend_plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* No limit stays none; else the result is not below 0. */
static inline uint64_t
spend_minus(uint64_t a, uint64_t b)
{
	if (a == UINT64_MAX)
		return a;
	return a > b ? a - b : 0;
}

static inline uint64_t
spend_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline struct spend
spend_add(struct spend a, struct spend b)
{
	return (struct spend){
	    spend_plus(a.tokens, b.tokens), spend_plus(a.cost, b.cost)};
}

static inline struct spend
spend_sub(struct spend a, struct spend b)
{
	return (struct spend){
	    spend_minus(a.tokens, b.tokens), spend_minus(a.cost, b.cost)};
}

static inline struct spend
spend_least(struct spend a, struct spend b)
{
	return (struct spend){spend_smaller(a.tokens, b.tokens),
	    spend_smaller(a.cost, b.cost)};
}

static inline struct spend
spend_most(struct spend a, struct spend b)
{
	return (struct spend){a.tokens > b.tokens ? a.tokens : b.tokens,
	    a.cost > b.cost ? a.cost : b.cost};
}

/* Returns the n-th part; no limit stays none. */
static inline struct spend
spend_part(struct spend a, uint64_t n)
{
	return (struct spend){a.tokens == UINT64_MAX ? a.tokens : a.tokens / n,
	    a.cost == UINT64_MAX ? a.cost : a.cost / n};
}

/* Returns true if `a` is within `max`, in tokens and in money. */
static inline bool
spend_within(struct spend a, struct spend max)
{
	return (max.tokens == UINT64_MAX || a.tokens <= max.tokens) &&
	       (max.cost == UINT64_MAX || a.cost <= max.cost);
}

static inline bool
spend_none(struct spend a)
{
	return a.tokens == 0 && a.cost == 0;
}

static inline bool
spend_unlimited(struct spend a)
{
	return a.tokens == UINT64_MAX && a.cost == UINT64_MAX;
}

#endif
