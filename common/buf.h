/* SPDX-License-Identifier: ISC */
/*
 * A growable byte buffer with a hard maximum, set when it is created.  Bytes
 * are appended at the end and consumed at the front.  An addition that exceeds
 * the maximum or finds no memory sets `failed` and errno (ENOBUFS or ENOMEM).
 * Later additions then add nothing, so a caller checks once, at the end.
 */
#ifndef BUF_H
#define BUF_H

#include <stdarg.h>

#include "common/span.h"

struct buf {
	uint8_t *p;	/* start of the allocation */
	size_t off;	/* consumed bytes at the front */
	size_t len;	/* unconsumed bytes */
	size_t cap;	/* allocated */
	size_t max;	/* hard maximum of unconsumed bytes */
	bool failed;
};

void buf_init(struct buf *, size_t max);
/* Wipe and free the memory; the buffer is as after buf_init().  Keeps errno. */
void buf_free(struct buf *);
/*
 * Drop the contents and clear `failed`.  Keeps the memory if it is at most
 * `keep` bytes.
 */
void buf_reset(struct buf *, size_t keep);

/*
 * Make room for `n` more bytes at the end.  Returns a pointer to it, or NULL.
 */
uint8_t *buf_room(struct buf *, size_t n);
/* Append the `n` bytes that were written into the room. */
void buf_grow(struct buf *, size_t n);
void buf_add(struct buf *, const void *, size_t);
void buf_addc(struct buf *, uint8_t);
void buf_adds(struct buf *, const char *);
void buf_addspan(struct buf *, struct span);
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

/* Returns the contents; the span is valid until the next addition. */
struct span buf_span(const struct buf *);
/* Drop `n` bytes at the front; there must be as many. */
void buf_drain(struct buf *, size_t n);

#endif
