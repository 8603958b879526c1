/* SPDX-License-Identifier: ISC */
/*
 * A ring of bytes between two processes.  A flag says that the other end
 * sleeps: it is set before the index is loaded for the last time, and looked at
 * after the index was stored, so one of both sides sees the other.
 */
#include "common/ipc/ring.h"

#include <string.h>

_Static_assert((RING_BYTES & (RING_BYTES - 1)) == 0, "a power of two");
_Static_assert(RING_MAX + RING_ALIGN <= RING_BYTES, "the longest message fits");
_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t) &&
		   ATOMIC_INT_LOCK_FREE == 2,
    "shared words are no more than words");

#define RING_WORD ((uint32_t)sizeof(uint32_t))

/* Returns the bytes that a message of `len` takes, at most RING_BYTES. */
static uint32_t
ring_space(uint32_t len)
{
	return (RING_WORD + len + RING_ALIGN - 1) & ~(RING_ALIGN - 1);
}

/* Indexes are multiples of RING_ALIGN, so a length never wraps around. */
static _Atomic uint32_t *
ring_word(const struct ring *r)
{
	return (_Atomic uint32_t *)(void *)(r->s->bytes +
					    (r->at & (RING_BYTES - 1)));
}

static int
ring_room(struct ring *r, uint32_t need)
{
	if (r->at - r->seen <= RING_BYTES - need)
		return 1;
	/* Not an acquire load, which may overtake the store to `starved`. */
	r->seen = atomic_load(&r->s->head);
	if (r->at - r->seen > RING_BYTES)
		return -1;
	return r->at - r->seen <= RING_BYTES - need ? 1 : 0;
}

/* Copy bytes to the place of the index `at`. */
static void
ring_copy_in(struct ring *r, uint32_t at, struct span s)
{
	size_t first;

	at &= RING_BYTES - 1;
	first = RING_BYTES - at < s.len ? RING_BYTES - at : s.len;
	if (first != 0)
		memcpy(r->s->bytes + at, s.p, first);
	if (first != s.len)
		memcpy(r->s->bytes, s.p + first, s.len - first);
}

/* Make room for `len` bytes, and write the word before them. */
static int
ring_put_word(struct ring *r, uint32_t word, uint32_t len)
{
	int rv;

	if ((rv = ring_room(r, ring_space(len))) == 0) {
		atomic_store(&r->s->starved, 1);
		rv = ring_room(r, ring_space(len));
	}
	if (rv == 1)
		atomic_store_explicit(ring_word(r), word, memory_order_relaxed);
	return rv;
}

int
ring_put_parts(struct ring *r, struct span a, struct span b)
{
	uint32_t len = (uint32_t)(a.len + b.len);
	int rv;

	if ((rv = ring_put_word(r, len, len)) != 1)
		return rv;
	ring_copy_in(r, r->at + RING_WORD, a);
	ring_copy_in(r, r->at + RING_WORD + (uint32_t)a.len, b);
	r->at += ring_space(len);
	return 1;
}

int
ring_put(struct ring *r, const void *p, size_t len)
{
	return ring_put_parts(r, span_of(p, len), span_of(NULL, 0));
}

int
ring_put_elsewhere(struct ring *r)
{
	int rv;

	if ((rv = ring_put_word(r, RING_ELSEWHERE, 0)) == 1)
		r->at += ring_space(0);
	return rv;
}

/* Clear the flag of the other end.  Returns true if it was set. */
static bool
ring_was_set(_Atomic uint32_t *flag)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(flag, memory_order_relaxed) != 0 &&
	       atomic_exchange(flag, 0) != 0;
}

bool
ring_publish(struct ring *r)
{
	atomic_store_explicit(&r->s->tail, r->at, memory_order_release);
	return ring_was_set(&r->s->asleep);
}

int
ring_take(struct ring *r, uint8_t *dst, uint32_t *len)
{
	uint32_t at = (r->at + RING_WORD) & (RING_BYTES - 1), n;
	size_t first;

	if (r->seen == r->at)
		r->seen =
		    atomic_load_explicit(&r->s->tail, memory_order_acquire);
	if (r->seen == r->at)
		return 0;
	if (r->seen - r->at > RING_BYTES || r->seen % RING_ALIGN != 0)
		return -1;
	*len = atomic_load_explicit(ring_word(r), memory_order_relaxed);
	n = *len == RING_ELSEWHERE ? 0 : *len;
	if (n > RING_MAX || ring_space(n) > r->seen - r->at)
		return -1;
	first = RING_BYTES - at < n ? RING_BYTES - at : n;
	memcpy(dst, r->s->bytes + at, first);
	if (first != n)
		memcpy(dst + first, r->s->bytes, n - first);
	/* Nothing after this may be loaded from the ring again. */
	atomic_signal_fence(memory_order_seq_cst);
	r->at += ring_space(n);
	return 1;
}

bool
ring_release(struct ring *r)
{
	atomic_store_explicit(&r->s->head, r->at, memory_order_release);
	return ring_was_set(&r->s->starved);
}

bool
ring_is_empty(const struct ring *r)
{
	return atomic_load(&r->s->tail) == r->at;
}

bool
ring_arm(struct ring *r)
{
	atomic_store(&r->s->asleep, 1);
	if (ring_is_empty(r))
		return true;
	atomic_store(&r->s->asleep, 0);
	return false;
}
