/* SPDX-License-Identifier: ISC */
/*
 * A growable byte buffer with a hard maximum given at birth.  Bytes are
 * appended at the end and consumed at the front.  Adding beyond the maximum,
 * or out of memory, sets `failed` and returns -1 (ENOBUFS, ENOMEM); later
 * additions fail too, so that a composer may check once at its end.
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
	size_t max;	/* never more than this many unconsumed bytes */
	bool failed;
};

void buf_init(struct buf *, size_t max);
/* Frees (wiped, freezero); the buffer is as after buf_init. Keeps errno. */
void buf_free(struct buf *);
/* Forgets contents and the failure; keeps the memory unless it exceeds keep. */
void buf_reset(struct buf *, size_t keep);

/* Room for n more bytes at the end: pointer to it, or NULL. */
uint8_t *buf_room(struct buf *, size_t n);
/* n bytes written into the room are now contents. */
void buf_grow(struct buf *, size_t n);
int buf_add(struct buf *, const void *, size_t);
int buf_addc(struct buf *, uint8_t);
int buf_adds(struct buf *, const char *);
int buf_addspan(struct buf *, struct span);
int buf_printf(struct buf *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
int buf_addu64(struct buf *, uint64_t);		/* decimal */
int buf_addhex(struct buf *, const void *, size_t);	/* lower case */

/* Contents; dies at the next addition. */
struct span buf_span(const struct buf *);
/* Drops n <= len bytes at the front. */
void buf_drain(struct buf *, size_t n);

#endif
