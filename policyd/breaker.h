/* SPDX-License-Identifier: ISC */
/*
 * Circuit breaker (original.md 1.12): the same call, with the same arguments,
 * more than 20 times within 60 seconds is refused.  It stops loops, not
 * attackers: the table is bounded, and the longest unused entry goes first.
 */
#ifndef BREAKER_H
#define BREAKER_H

#include "common/span.h"

#define BREAKER_CALLS	20U
#define BREAKER_WINDOW	60000U	/* ms */

struct breaker;

/* NULL with errno. */
struct breaker *breaker_new(void);
void breaker_free(struct breaker *);
/* Counts the call: true, or false when it is one too many (not counted). */
bool breaker_allow(struct breaker *, struct span server, struct span tool,
    struct span args, uint64_t now);

#endif
