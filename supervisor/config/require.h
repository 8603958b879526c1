/* SPDX-License-Identifier: ISC */
/* The layers of confinement without which a session shall not start. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include "common/confine/confine.h"
#include "config/fault.h"

struct require {
	uint32_t flags;    /* of enum confine_flag */
	uint32_t landlock; /* at least this ABI; 0: any */
};

/*
 * Reads "all", or names as READY has them: "userns,netns,landlock:4".  `where`
 * begins the fault.  Adds to what is required already.
 */
int require_parse(
    struct require *, const char *where, const char *text, struct fault *);
/*
 * Returns the flags that are required, that the worker should have (`layers`),
 * and that are not in `have`.
 */
uint32_t require_missing(
    const struct require *, uint32_t layers, const struct confine_state *have);

#endif
