/* SPDX-License-Identifier: ISC */
/*
 * Memory for the output of the one connection that sends much. The kernel does
 * not copy it: the socket's queue refers to its pages until the peer has read
 * them, so that a byte is written again only when the socket says that it was
 * read. Copies would go to pages that the peer has freed on another processor,
 * and cost as much as the encryption.
 *
 * It holds nothing but records for the agent. A peer that takes the pages from
 * its socket with splice(2) sees, later, other records of the same agent.
 * Connections that find it in use, and kernels and sockets that cannot do this,
 * go on with copies.
 */
#ifndef MITMD_OUT_RING_H
#define MITMD_OUT_RING_H

#include <sys/types.h>

#include "common/loop.h"

#define OUT_RING_SIZE (6U << 20)
#define OUT_RING_PIECE (528U << 10) /* 32 records of 16 KiB */
#define OUT_RING_PIECES 64U         /* in the socket at a time */
#define OUT_RING_SNDBUF                                                        \
	(2U << 20)             /* asked for its socket; the kernel doubles it */
#define OUT_RING_TICK_MS 2000U /* pages are given back after this */

struct out_ring_piece {
	uint64_t end;  /* in `head` */
	uint64_t sent; /* in `sent`, after its last byte */
};

struct out_ring {
	struct loop *loop;
	int fd; /* the memory; -1: there is none */
	uint8_t *mem;
	int sock;    /* the connection that has it; -1: none */
	int sndbuf;  /* the size that its socket's queue had */
	size_t room; /* for a piece, half of what its queue has now */
	/* bytes laid out and free again since it got the ring, gaps included */
	uint64_t head, tail;
	uint64_t sent; /* bytes that its socket took, in any way */
	struct out_ring_piece pieces[OUT_RING_PIECES]; /* not yet read */
	unsigned first, n;
	bool used;               /* since the last tick */
	struct loop_timer timer; /* armed while there are pages */
};

/*
 * Create the memory, before confinement; if that fails, there is none. Uses one
 * timer of the loop, which need not be ready yet.
 */
void out_ring_init(struct out_ring *, struct loop *);
/*
 * Returns `*room` bytes, at most OUT_RING_PIECE, for the next output of this
 * stream socket, which has sent all before it; or NULL if it must be copied.
 */
uint8_t *out_ring_take(struct out_ring *, int sock, size_t *room);
/*
 * Send `len` bytes from where out_ring_take() pointed. Returns the number that
 * the socket took, which may be 0, or -1 if it is broken. The others must be
 * copied.
 */
ssize_t out_ring_send(struct out_ring *, size_t len);
/* The socket took bytes that were sent without the ring. */
void out_ring_note(struct out_ring *, int sock, size_t n);
/* The socket will be closed: what it has not sent stays as it is. */
void out_ring_drop(struct out_ring *, int sock);

#endif
