/* SPDX-License-Identifier: ISC */
/*
 * What tokens cost: IRONCURTAIN_HOME/prices.json, then the shipped one.  The
 * first row that fits a model's name counts; a gateway's "maker/" before the
 * name is left out.
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
/* NULL: no row fits. */
const struct price *prices_find(const struct prices *, const char *model);

#endif
