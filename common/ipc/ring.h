/* SPDX-License-Identifier: ISC */
/*
 * One direction of a channel in shared memory: a ring of bytes with one writer
 * and one reader.  Neither trusts the other, who can write anything anywhere in
 * the ring at any time.  Each keeps its own index in its own memory, checks the
 * other's whenever it loads it, and the reader copies a message out before it
 * looks at any byte.
 */
#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

#define RING_BYTES 65536U	/* a power of two */
#define RING_MAX 32768U		/* bytes of a message */

/*
 * A message: u32 length, then its bytes, then padding to a multiple of
 * RING_ALIGN.  Indexes count bytes, and wrap at 2^32.
 */
#define RING_ALIGN 8U
/* Instead of a length: the message is on the channel's socket. */
#define RING_ELSEWHERE UINT32_MAX

struct ring_shared {
	_Alignas(64) _Atomic uint32_t tail;	/* set by the writer */
	_Atomic uint32_t starved;		/* the writer waits for room */
	_Alignas(64) _Atomic uint32_t head;	/* set by the reader */
	_Atomic uint32_t asleep;		/* the reader waits for a message */
	_Alignas(64) uint8_t bytes[RING_BYTES];
};

/* Both directions of a channel. */
#define RING_MAP (2 * sizeof(struct ring_shared))

/* One end of a ring. */
struct ring {
	struct ring_shared *s;
	uint32_t at;	/* this end's index */
	uint32_t seen;	/* the other end's, when it was last loaded */
};

/*
 * Write a message, which the reader sees after ring_publish().  Returns 1, 0 if
 * there is no room, or -1 if the reader's index is impossible.  If there is no
 * room, the next ring_release() of the reader says that it must wake the writer.
 */
int ring_put(struct ring *, const void *p, size_t len);
/* Write a message that consists of two parts, together at most RING_MAX. */
int ring_put_parts(struct ring *, struct span, struct span);
/* Write that the next message is on the socket.  Returns as ring_put(). */
int ring_put_elsewhere(struct ring *);
/* Returns true if the reader must be woken. */
bool ring_publish(struct ring *);
/*
 * Copy the next message to dst[RING_MAX].  Returns 1, 0 if there is none, or -1
 * if the writer's index or a length is impossible.  `*len` is RING_ELSEWHERE if
 * the message is on the socket.
 */
int ring_take(struct ring *, uint8_t *dst, uint32_t *len);
/*
 * Return the room of everything taken to the writer.  Returns true if the
 * writer must be woken.
 */
bool ring_release(struct ring *);
/*
 * Ask to be woken by the next ring_publish().  Returns false if there is a
 * message already.
 */
bool ring_arm(struct ring *);
bool ring_is_empty(const struct ring *);

#endif
