/* SPDX-License-Identifier: ISC */
/*
 * A token bucket: how often an outside party may cause something.
 */
#ifndef BUCKET_H
#define BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* `burst` at once, then one every `ms`.  All else is zero at birth. */
struct bucket {
	unsigned level, burst, ms;
	uint64_t since;
};

/* Take one at `now` (loop_now).  Returns false when there is none. */
bool bucket_take(struct bucket *, uint64_t now);

#endif
