/* SPDX-License-Identifier: ISC */
/*
 * Prices of tokens: IRONCURTAIN_HOME/prices.json, then the shipped file. The
 * first row that matches a model's name counts; a gateway's "maker/" before the
 * name is skipped.
 */
#ifndef PRICES_H
#define PRICES_H

#include "config/fault.h"
#include "config/paths.h"

#define PRICES_MAX 1024U

/* USD for a million tokens. */
struct price {
	char model[128]; /* the last byte may be * */
	double in, out, cache_read, cache_write;
};

struct prices {
	struct price rows[PRICES_MAX];
	unsigned n;
};

int prices_load(struct prices *, const struct paths *, struct fault *);
/* Returns NULL if no row matches. */
const struct price *prices_find(const struct prices *, const char *model);

#endif
