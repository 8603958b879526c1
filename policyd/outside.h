/* SPDX-License-Identifier: ISC */
/*
 * What a call needs that its server's view does not show: the objects that an
 * instance of the server would be given, named by path and inode.
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "engine/args.h"
#include "hold.h"

struct outside {
	unsigned n;
	struct hold_object objects[PROTO_MAX_OBJECTS];
	struct span paths[PROTO_MAX_OBJECTS];	/* on the host */
};

/*
 * Sorts a prepared call's paths. 0: all in the view (n == 0), or all outside;
 * -1: it cannot be served, *reason in the pool.
 */
int outside_find(const struct engine *, const struct server *,
    const struct call_args *, struct value_pool *, struct outside *,
    struct span *reason);
/* Are the very same objects there as were noted? */
bool outside_same(const struct outside *, const struct hold *);

#endif
