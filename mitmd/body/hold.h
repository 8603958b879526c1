/* SPDX-License-Identifier: ISC */
/*
 * A body that is held whole before it goes on: in memory while it is small,
 * else in a memfd, so that a request costs this process HOLD_HEAP bytes of
 * heap at most, however large it is.  Only ours: no other process is given
 * the memfd.
 */
#ifndef HOLD_H
#define HOLD_H

#include "common/buf.h"

#define HOLD_HEAP (512U << 10)

struct hold {
	struct buf heap;
	int fd;             /* -1: all is in heap */
	const uint8_t *map; /* of fd, once it is looked at */
	size_t all;         /* bytes that it will have; 0: nobody knows */
	size_t size;        /* bytes put */
	size_t taken;       /* of them, off again at the front */
};

void hold_init(struct hold *);
/* Empty again; gives all memory back. Keeps errno. */
void hold_reset(struct hold *);
/* More at the end. -1 with errno. Not once it was looked at. */
int hold_put(struct hold *, struct span);
/*
 * Where n more bytes may be written instead; hold_grow says how many were.
 * NULL: they must be put.
 */
uint8_t *hold_room(struct hold *, size_t n);
void hold_grow(struct hold *, size_t n);
/* All that is left of it. -1 with errno. Dies with the next change. */
int hold_look(struct hold *, struct span *);
void hold_take(struct hold *, size_t);

static inline size_t
hold_left(const struct hold *h)
{
	return h->size - h->taken;
}

#endif
