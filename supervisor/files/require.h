/* SPDX-License-Identifier: ISC */
/* The layers of confinement without which a session must not start. */
#ifndef REQUIRE_H
#define REQUIRE_H

#include "base/fault.h"
#include "common/confine/confine.h"

struct require {
	uint32_t flags;    /* flags of enum confine_flag */
	uint32_t landlock; /* at least this ABI; 0: any */
};

/*
 * Parse "all", or names as READY has them: "userns,netns,landlock:4", and add
 * them to the requirements. `where` begins the fault. Returns 0, or -1.
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
