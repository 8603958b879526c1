/* SPDX-License-Identifier: ISC */
/*
 * Prices of tokens: IRONCURTAIN_HOME/prices.json, then the shipped file. The
 * first row that matches a model's name counts; a gateway's "maker/" before the
 * name, a cloud's "us.anthropic." and the date of a version after it are
 * skipped. A row may have the prices of one host only. A model without a row
 * costs as much as the dearest row of its family.
 */
#ifndef PRICES_H
#define PRICES_H

#include "base/fault.h"
#include "base/pack.h"
#include "base/paths.h"

#define PRICES_MAX 1024U
#define PRICES_STEPS 4U     /* sizes of requests, in one row */
#define PRICES_FAMILIES 64U /* beginnings of names */
#define PRICES_REGIONAL 64U /* hosts */
#define PRICES_HOST 128U    /* bytes of a host, with a NUL */

/* USD for a million tokens. */
struct price_set {
	double in, out, cache_read, cache_write, cache_write_1h;
};

struct price_step {
	double above; /* tokens of input, cached ones included */
	struct price_set set;
};

struct price {
	char model[128]; /* the last byte may be * */
	/* "": any host, or the only one; the first byte may be * */
	char host[PRICES_HOST];
	struct price_set set;
	struct price_step steps[PRICES_STEPS]; /* rising */
	unsigned nsteps;
	double audio_in, audio_out;
	double search; /* USD for a thousand */
	/* factors: by the speed, the tier (enum meter_tier), and the place */
	double fast, tiers[4], regional;
	bool special; /* not a price for others of its family */
	bool rest;    /* the shipped row for models of no family */
};

/* The use of one answer; the fields are those of USAGE. */
struct price_use {
	uint64_t in, out, cache_read, cache_write, reasoning;
	uint64_t cache_write_1h, audio_in, audio_out, searches, cost;
	unsigned tier;
	bool fast, regional;
};

enum price_how {
	PRICE_OWN,
	PRICE_FAMILY, /* the dearest of its family */
	PRICE_REST,   /* it belongs to no family */
};

struct price_family {
	char begins[48];
	unsigned family;
};

/* A host that keeps data in one place, which has a price of its own. */
struct price_region {
	char host[PRICES_HOST]; /* the first byte may be * */
};

struct prices {
	struct price rows[PRICES_MAX];
	unsigned n;
	unsigned own; /* rows of the user's own file; they come first */
	struct price_family families[PRICES_FAMILIES];
	unsigned nfamilies;
	struct price_region regional[PRICES_REGIONAL];
	unsigned nregional;
};

/* Make the list empty. */
static inline void
prices_clear(struct prices *ps)
{
	ps->n = ps->own = ps->nfamilies = ps->nregional = 0;
}

/*
 * prices_ask.c: Have ic-reader read both files. Returns 0, or -1 with the fault
 * set.
 */
int prices_load(struct prices *, const struct paths *, struct fault *);
/*
 * prices.c, in ic-reader: Append the rows of a file, the user's own one first;
 * `path` is for messages. Returns 0, or -1 with the fault set.
 */
int prices_parse(struct prices *, const char *path, struct span text,
    bool shipped, struct fault *);
/* prices_pack.c: The rows by which ic-reader hands them over. */
#define PRICES_ROWS 7U
extern const struct pack_row prices_rows[PRICES_ROWS];
/* Take what ic-reader has packed. Returns 0, or -1 if that is not valid. */
int prices_take(struct prices *, struct span);
/*
 * Returns the row that counts for this model at this host, or NULL if there is
 * none. If `host` is NULL, it is not known, and the dearest row that matches the
 * model counts.
 */
const struct price *prices_find(const struct prices *, const char *host,
    const char *model, enum price_how *);
/* Returns true if `a` has higher prices than `b`, or `b` is NULL. */
bool price_dearer(const struct price *a, const struct price *b);
/* Returns true if the factor "regional" counts for all answers of this host. */
bool prices_regional(const struct prices *, const char *host);
/*
 * Returns the cost in USD. A cost that the provider states counts if it is
 * higher.
 */
double price_usd(const struct price *, const struct price_use *);
/*
 * Returns the tokens. Those read from or written to a cache are weighted by
 * their price relative to other input, or count in full without a price (NULL).
 */
double price_tokens(const struct price *, const struct price_use *);

#endif
