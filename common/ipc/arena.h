/* SPDX-License-Identifier: ISC */
/*
 * Long pieces of bodies between two processes, in shared memory. Each process
 * has one memory that only it can write to and that the other can only read; a
 * short message elsewhere tells the other which slot to read. A slot is written
 * again when its reader has said that it is done with it, or a while after its
 * stream was closed. The reader copies the bytes out before it looks at any, and
 * then checks that the slot was not written again meanwhile.
 *
 * Neither trusts the other. What a writer has given away it keeps in its own
 * memory; what a reader is told it checks. If all slots are taken, the caller
 * sends the bytes in another way; only a stream that has a share of them may wait
 * for its own.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/loop.h"

#define ARENA_SLOTS 16U
#define ARENA_SLOT (128U << 10)		/* bytes of a slot */
#define ARENA_STREAM 4U			/* slots of one stream at a time */
#define ARENA_LEAST (8U << 10)		/* shorter pieces are not worth a slot */
#define ARENA_PAGE 4096U
#define ARENA_TICK_MS 2000U		/* free slots are given back after this */
/* a slot of a closed stream that its reader has not given back */
#define ARENA_CLOSED_MS 30000U

/* The memory that one process writes and the other reads. */
struct arena_shared {
	/* the number of the present use of each slot */
	_Alignas(64) _Atomic uint32_t round[ARENA_SLOTS];
	/* by slot of the other memory: the last use that was read */
	_Alignas(64) _Atomic uint32_t done[ARENA_SLOTS];
	/* changes whenever its writer begins to wait for slots */
	_Atomic uint32_t waits;
	_Alignas(ARENA_PAGE) uint8_t slot[ARENA_SLOTS][ARENA_SLOT];
};

#define ARENA_MAP sizeof(struct arena_shared)

/* A slot as its writer knows it. */
struct arena_slot {
	uint32_t round;
	uint32_t stream;	/* 0: free */
	uint64_t closed_at;	/* loop_now() at the end of its stream, or 0 */
	bool used;		/* since the last tick */
	bool touched;		/* it has pages */
};

struct arena {
	struct loop *loop;
	struct arena_shared *mine;
	const struct arena_shared *theirs;
	struct arena_slot slots[ARENA_SLOTS];
	struct loop_timer timer; /* armed while a slot has pages */
	uint32_t waits;		/* as in `mine` */
	uint32_t woken;		/* `waits` of `theirs` that was answered */
};

/* A piece that lies in a slot. */
struct arena_piece {
	uint32_t slot, round, len;
};

/* Begin with mapped memory of zeros. Uses one timer of the loop. */
void arena_init(struct arena *, struct loop *, struct arena_shared *mine,
    const struct arena_shared *theirs);
/* Stop the timer. The memory stays mapped. */
static inline void
arena_stop(struct arena *a)
{
	loop_timer_clear(a->loop, &a->timer);
}

/* ---- the writer */
/*
 * Take a slot for a piece of this stream, which is not 0. Returns its
 * ARENA_SLOT bytes and sets p->slot and p->round, or returns NULL if the stream
 * has its share, or all slots are taken.
 */
uint8_t *arena_take(struct arena *, uint32_t stream, struct arena_piece *p);
/* Returns true if the stream has less than its share of slots. */
bool arena_has_share(struct arena *, uint32_t stream);
/*
 * Returns true if the stream has its share: the writer may wait until the reader
 * has seen arena_wakes().
 */
bool arena_waits(struct arena *, uint32_t stream);
/* The stream was closed: its slots will be free again. */
void arena_drop(struct arena *, uint32_t stream);

/* ---- the reader */
/* Returns true if there can be such a piece. */
bool arena_is_piece(const struct arena_piece *);
/*
 * Copy `n` bytes from `at` of a piece that arena_is_piece() accepts. Returns
 * false if its slot has another piece by now; then `dst` has no meaning.
 */
bool arena_copy(const struct arena *, const struct arena_piece *, uint32_t at,
    uint8_t *dst, uint32_t n);
/* Return the slot to its writer. */
void arena_done(struct arena *, const struct arena_piece *);
/*
 * Returns true if the writer has begun to wait since this was last true, and
 * must be told that slots are free.
 */
bool arena_wakes(struct arena *);

#endif
