/* SPDX-License-Identifier: ISC */
/*
 * A growable byte buffer with a hard maximum, set when it is created.  Bytes
 * are appended at the end and consumed at the front.  An addition that exceeds
 * the maximum or finds no memory sets `failed` and errno (ENOBUFS or ENOMEM).
 * Later additions then add nothing, so a caller checks once, at the end.
 */
#ifndef BUF_H
#define BUF_H

#include <assert.h>
#include <stdarg.h>

#include "common/span.h"

struct buf {
	uint8_t *p;	/* start of the allocation */
	size_t off;	/* consumed bytes at the front */
	size_t len;	/* unconsumed bytes */
	size_t cap;	/* allocated */
	size_t max;	/* hard maximum of unconsumed bytes */
	bool failed;
	bool no_memory; /* it failed for want of memory; else it is full */
};

void buf_init(struct buf *, size_t max);
/* Wipe and free the memory; the buffer is as after buf_init().  Keeps errno. */
void buf_free(struct buf *);
/*
 * Drop the contents and clear `failed`.  Keeps the memory if it is at most
 * `keep` bytes.
 */
void buf_reset(struct buf *, size_t keep);

/* The slow path of buf_room(). */
uint8_t *buf_make_room(struct buf *, size_t n);

/*
 * Make room for `n` more bytes at the end.  Returns a pointer to it, or NULL.
 */
static inline uint8_t *
buf_room(struct buf *b, size_t n)
{
	/* No sum here can wrap: off + len <= cap, and len <= max. */
	if (!b->failed && b->p != NULL && n <= b->cap - b->off - b->len &&
	    n <= b->max - b->len)
		return b->p + b->off + b->len;
	return buf_make_room(b, n);
}

/* Append the `n` bytes that were written into the room. */
static inline void
buf_grow(struct buf *b, size_t n)
{
	assert(n <= b->cap - b->off - b->len && n <= b->max - b->len);
	b->len += n;
}

void buf_add(struct buf *, const void *, size_t);

static inline void
buf_addc(struct buf *b, uint8_t c)
{
	uint8_t *to;

	if ((to = buf_room(b, 1)) == NULL)
		return;
	*to = c;
	b->len++;
}

static inline void
buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

static inline void
buf_addspan(struct buf *b, struct span s)
{
	buf_add(b, s.p, s.len);
}

void buf_printf(struct buf *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
void buf_addu64(struct buf *, uint64_t);		/* decimal */
void buf_addhex(struct buf *, const void *, size_t);	/* lower case */

/* Returns -1 if any addition has failed, otherwise 0. */
static inline int
buf_check(const struct buf *b)
{
	return b->failed ? -1 : 0;
}

/*
 * Say why an addition has failed, in `dst`: "NAME is full (8 bytes)" or "no
 * memory for NAME". Returns `dst`.
 */
const char *buf_why(
    const struct buf *, const char *name, char *dst, size_t cap);

/* Returns the contents; the span is valid until the next addition. */
struct span buf_span(const struct buf *);
/* Drop `n` bytes at the front; there must be as many. */
void buf_drain(struct buf *, size_t n);

#endif
