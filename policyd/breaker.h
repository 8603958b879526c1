/* SPDX-License-Identifier: ISC */
/*
 * Circuit breaker: refuses the same call with the same arguments more than 20
 * times within 60 seconds. It stops loops, not attackers: the table is bounded,
 * and the entry unused for the longest time is dropped first.
 */
#ifndef BREAKER_H
#define BREAKER_H

#include "common/span.h"

#define BREAKER_CALLS	20U
#define BREAKER_WINDOW	60000U	/* ms */

struct breaker;

/* Returns NULL with errno set on failure. */
struct breaker *breaker_new(void);
void breaker_free(struct breaker *);
/* Count the call. Returns false, without counting it, if it is one too many. */
bool breaker_allow(struct breaker *, struct span server, struct span tool,
    struct span args, uint64_t now);

#endif
