/* SPDX-License-Identifier: ISC */
/*
 * The places that resolving a path passes, so that a rule that withholds holds
 * for a path by each name that it has: every link on the way, and after the
 * first link each directory that `..` left again. A path without links has no
 * trail.
 */
#ifndef TRAIL_H
#define TRAIL_H

#include "engine/path.h"

struct trail {
	struct path_point list[PATH_MAX_PASSED];
	unsigned n;
	struct span named; /* p == NULL: no link so far */
};

/*
 * Note the name of the path: `host` is its first link, and `rest` is the text
 * after it. The texts of a trail live in the pool.
 */
enum path_error trail_name(
    struct trail *, struct value_pool *, struct span host, struct span rest);
/* Note the place, unless it or a place below it was passed already. */
enum path_error trail_pass(
    struct trail *, struct value_pool *, const struct path_point *);
/* Give the result the trail. */
enum path_error trail_result(
    const struct trail *, struct value_pool *, struct path *);

#endif
