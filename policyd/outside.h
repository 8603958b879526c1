/* SPDX-License-Identifier: ISC */
/*
 * Finds the objects that a call needs but that its server's view does not
 * contain: those that an instance of the server would get, each with path and
 * inode.
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include "engine/args.h"
#include "approval/hold.h"

struct outside {
	unsigned n;
	struct hold_object objects[PROTO_MAX_OBJECTS];
	struct span paths[PROTO_MAX_OBJECTS];	/* on the host */
};

/*
 * Sort a prepared call's paths. Returns 0 if all are in the view (n == 0), or
 * an instance can be given all, whose arguments are then as on the host; or -1
 * if the call cannot be served, with *reason in the pool.
 */
int outside_find(const struct engine *, const struct server *,
    const struct call_args *, struct value_pool *, struct outside *,
    struct span *reason);
/* Returns true if the objects are the ones recorded in the hold. */
bool outside_same(const struct outside *, const struct hold *);

#endif
