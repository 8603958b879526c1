/* SPDX-License-Identifier: ISC */
/* A token bucket: limits how often an outside party may cause something. */
#ifndef BUCKET_H
#define BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Allows `burst` events at once, then one every `ms` milliseconds.  The caller
 * sets both and zeroes the rest.
 */
struct bucket {
	unsigned level, burst, ms;
	uint64_t since;
};

/*
 * Take one token at time `now` (see loop_now()).  Returns false if none is
 * left.
 */
bool bucket_take(struct bucket *, uint64_t now);

#endif
