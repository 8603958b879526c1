/* SPDX-License-Identifier: ISC */
/*
 * A request to a forge, read, checked and composed again. mitmd does so with
 * what the agent sent, and keyd with what mitmd claims; both use their own copy
 * of the destination's file.
 */
#ifndef PROVIDER_FORGE_H
#define PROVIDER_FORGE_H

#include "common/forge/tree.h"
#include "provider/provider.h"

/* The routes of such a destination. */
enum forge_route_number {
	FORGE_ROUTE_READ,   /* GET */
	FORGE_ROUTE_FOLLOW, /* GET, whose answer may redirect */
	FORGE_ROUTE_GRAPHQL,
	FORGE_ROUTE_POST,
	FORGE_ROUTE_PATCH,
	FORGE_ROUTE_PUT,
	FORGE_ROUTE_DELETE,
	FORGE_ROUTES
};

struct forge_checked {
	struct value_pool *pool; /* owns the tree */
	struct forge_call call;
	struct forge_request out; /* the request that is sent */
};

/*
 * Read and check a request; `target` is its path and query. Returns 0 with
 * `*c`, or -1 with `fail` filled in; `c` is to be freed in both cases.
 */
int forge_checked_make(struct forge_checked *, const struct provider *,
    struct span method, struct span target, struct span body,
    struct forge_fail *fail);
void forge_checked_free(struct forge_checked *);

#endif
