/* SPDX-License-Identifier: ISC */
/*
 * A body that is held whole before it is sent on: in memory while it is small,
 * otherwise in a memfd, so that no request costs this process more than
 * HOLD_HEAP bytes of heap. The memfd is never given to another process.
 */
#ifndef HOLD_H
#define HOLD_H

#include "common/buf.h"

#define HOLD_HEAP (512U << 10)

struct hold {
	struct buf heap;
	int fd;             /* -1: everything is in `heap` */
	const uint8_t *map; /* mapping of `fd`, made by hold_look() */
	size_t all;         /* expected length; 0 if unknown */
	size_t size;        /* bytes put */
	size_t taken;       /* bytes already taken off the front */
};

void body_hold_init(struct hold *);
/* Empty it and release all memory. Keeps errno. */
void hold_reset(struct hold *);
/* Append. Not allowed after hold_look(). Returns 0, or -1 with errno. */
int hold_put(struct hold *, struct span);
/*
 * Returns space for `n` more bytes, to be committed with hold_grow(), or NULL
 * if they must go through hold_put().
 */
uint8_t *hold_room(struct hold *, size_t n);
void hold_grow(struct hold *, size_t n);
/*
 * Set `*out` to everything that is left, valid until the next change. Returns
 * 0, or -1 with errno.
 */
int hold_look(struct hold *, struct span *);
void body_hold_take(struct hold *, size_t);

static inline size_t
hold_left(const struct hold *h)
{
	return h->size - h->taken;
}

#endif
