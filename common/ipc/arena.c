/* SPDX-License-Identifier: ISC */
#include "common/ipc/arena.h"

#include <sys/mman.h>

#include <string.h>

#include "common/log.h"

_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t) &&
		   ATOMIC_INT_LOCK_FREE == 2,
    "shared words are no more than words");
_Static_assert(ARENA_SLOT % ARENA_PAGE == 0, "slots have pages of their own");

void
arena_init(struct arena *a, struct loop *loop, struct arena_shared *mine,
    const struct arena_shared *theirs)
{
	*a = (struct arena){.loop = loop, .mine = mine, .theirs = theirs};
}

/* Begin another use: a reader that comes too late for the last one sees it. */
static void
arena_next_round(struct arena *a, unsigned n)
{
	atomic_store_explicit(
	    &a->mine->round[n], ++a->slots[n].round, memory_order_relaxed);
	/* Whoever reads a byte written after this sees the number, too. */
	atomic_thread_fence(memory_order_release);
}

/* Note what the reader has given back, and what it need not give back. */
static bool
arena_is_free(struct arena *a, unsigned n)
{
	struct arena_slot *s = &a->slots[n];
	uint32_t done;

	if (s->stream == 0)
		return true;
	done = atomic_load_explicit(&a->theirs->done[n], memory_order_acquire);
	if (done != s->round) {
		if (s->closed_at == 0 ||
		    loop_now(a->loop) - s->closed_at < ARENA_CLOSED_MS)
			return false;
		arena_next_round(a, n);
	}
	s->stream = 0;
	s->closed_at = 0;
	return true;
}

/* Give the pages of free slots back that were not used since the last tick. */
static void
arena_tick(struct loop_timer *t)
{
	struct arena *a = t->arg;
	struct arena_slot *s;
	bool more = false;

	for (unsigned n = 0; n < ARENA_SLOTS; n++) {
		s = &a->slots[n];
		if (s->touched && !s->used && arena_is_free(a, n)) {
			if (madvise(a->mine->slot[n], ARENA_SLOT,
				MADV_REMOVE) == -1)
				log_warn("madvise");
			s->touched = false;
		}
		s->used = false;
		more |= s->touched;
	}
	if (more)
		loop_timer_set(
		    a->loop, &a->timer, ARENA_TICK_MS, arena_tick, a);
}

/* Returns the number of slots that the stream has. */
static unsigned
arena_share(struct arena *a, uint32_t stream)
{
	unsigned share = 0;

	for (unsigned n = 0; n < ARENA_SLOTS; n++)
		if (a->slots[n].stream == stream && !arena_is_free(a, n))
			share++;
	return share;
}

bool
arena_has_share(struct arena *a, uint32_t stream)
{
	return arena_share(a, stream) < ARENA_STREAM;
}

bool
arena_waits(struct arena *a, uint32_t stream)
{
	if (arena_has_share(a, stream))
		return false;
	atomic_store(&a->mine->waits, ++a->waits);
	/* Either this sees a slot that is free, or the reader sees that. */
	atomic_thread_fence(memory_order_seq_cst);
	return !arena_has_share(a, stream);
}

uint8_t *
arena_take(struct arena *a, uint32_t stream, struct arena_piece *p)
{
	unsigned found = ARENA_SLOTS;
	struct arena_slot *s;

	/* The lowest free one: its bytes are the likeliest to be in a cache. */
	for (unsigned n = ARENA_SLOTS; n-- > 0;)
		if (arena_is_free(a, n))
			found = n;
	if (found == ARENA_SLOTS || !arena_has_share(a, stream))
		return NULL;
	s = &a->slots[found];
	s->stream = stream;
	s->used = s->touched = true;
	arena_next_round(a, found);
	if (a->timer.at == 0)
		loop_timer_set(
		    a->loop, &a->timer, ARENA_TICK_MS, arena_tick, a);
	*p = (struct arena_piece){.slot = found, .round = s->round};
	return a->mine->slot[found];
}

void
arena_drop(struct arena *a, uint32_t stream)
{
	for (unsigned n = 0; n < ARENA_SLOTS; n++)
		if (a->slots[n].stream == stream && stream != 0)
			a->slots[n].closed_at = loop_now(a->loop);
}

bool
arena_is_piece(const struct arena_piece *p)
{
	return p->slot < ARENA_SLOTS && p->len != 0 && p->len <= ARENA_SLOT;
}

bool
arena_copy(const struct arena *a, const struct arena_piece *p, uint32_t at,
    uint8_t *dst, uint32_t n)
{
	if (!arena_is_piece(p) || at > p->len || n > p->len - at)
		return false;
	memcpy(dst, a->theirs->slot[p->slot] + at, n);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&a->theirs->round[p->slot],
		   memory_order_relaxed) == p->round;
}

void
arena_done(struct arena *a, const struct arena_piece *p)
{
	if (arena_is_piece(p))
		atomic_store_explicit(&a->mine->done[p->slot], p->round,
		    memory_order_release);
}

bool
arena_wakes(struct arena *a)
{
	uint32_t waits;

	atomic_thread_fence(memory_order_seq_cst);
	waits = atomic_load_explicit(&a->theirs->waits, memory_order_relaxed);
	if (waits == a->woken)
		return false;
	a->woken = waits;
	return true;
}
