/* SPDX-License-Identifier: ISC */
#include "out_ring.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <linux/sockios.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

#define RING_LINE 64U /* pieces begin at a line of the cache */
#define RING_LEAST                                                             \
	(64U << 10) /* with less room for a piece, copies are better */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

_Static_assert(
    OUT_RING_SIZE >= 4 * OUT_RING_PIECE && OUT_RING_PIECE % RING_LINE == 0,
    "pieces fit although they do not wrap");

void
out_ring_init(struct out_ring *r, struct loop *loop)
{
	*r = (struct out_ring){.loop = loop, .sock = -1};
	if ((r->fd = memfd_create("out", MFD_CLOEXEC | MFD_NOEXEC_SEAL)) ==
		-1 &&
	    errno == EINVAL)
		r->fd = memfd_create("out", MFD_CLOEXEC);
	if (r->fd == -1)
		return;
	if (ftruncate(r->fd, OUT_RING_SIZE) == -1 ||
	    (r->mem = mmap(NULL, OUT_RING_SIZE, PROT_READ | PROT_WRITE,
		 MAP_SHARED, r->fd, 0)) == MAP_FAILED) {
		close(r->fd);
		r->fd = -1;
	}
}

/*
 * Detach the pages: sockets that refer to some keep them, and the next use gets
 * new ones.
 */
static void
ring_discard(struct out_ring *r)
{
	if (madvise(r->mem, OUT_RING_SIZE, MADV_REMOVE) == 0)
		return;
	log_warn("madvise: answers are copied from now on");
	close(r->fd);
	r->fd = -1;
}

static int
ring_option(int sock, int name)
{
	socklen_t len;
	int v;

	len = sizeof(v);
	return getsockopt(sock, SOL_SOCKET, name, &v, &len) == -1 ? -1 : v;
}

/*
 * Returns an upper bound of the bytes that the peer has not read. The bytes in
 * TCP's queue are those not acknowledged, which is why only sockets of AF_UNIX
 * can have the ring.
 */
static uint64_t
ring_unread(const struct out_ring *r)
{
	int n;

	if (ioctl(r->sock, SIOCOUTQ, &n) == -1 || n < 0)
		return UINT64_MAX;
	return (uint64_t)n;
}

/* Pieces are read in the order in which they were sent. */
static void
ring_reclaim(struct out_ring *r)
{
	uint64_t unread;

	if (r->n == 0)
		return;
	unread = ring_unread(r);
	while (r->n != 0 && unread <= r->sent &&
	       r->pieces[r->first].sent <= r->sent - unread) {
		r->tail = r->pieces[r->first].end;
		r->first = (r->first + 1) % OUT_RING_PIECES;
		r->n--;
	}
	/* The same pages again are the likeliest to be in the cache. */
	if (r->n == 0)
		r->head = r->tail = 0;
}

/* The connection has nothing in the ring. */
static void
ring_release(struct out_ring *r)
{
	int half = r->sndbuf / 2;

	if (r->sock != -1)
		(void)setsockopt(
		    r->sock, SOL_SOCKET, SO_SNDBUF, &half, sizeof(half));
	r->sock = -1;
	r->head = r->tail = r->sent = 0;
	r->first = r->n = 0;
}

/* Give the pages back when nothing was sent for a while. */
static void
ring_tick(struct loop_timer *t)
{
	struct out_ring *r = t->arg;

	ring_reclaim(r);
	if (r->used || r->n != 0) {
		r->used = false;
		loop_timer_set(r->loop, t, OUT_RING_TICK_MS, ring_tick, r);
		return;
	}
	ring_release(r);
	ring_discard(r);
}

static bool
ring_claim(struct out_ring *r, int sock)
{
	int size = (int)OUT_RING_SNDBUF, before;

	ring_reclaim(r);
	if (r->n != 0 || ring_option(sock, SO_DOMAIN) != AF_UNIX ||
	    (before = ring_option(sock, SO_SNDBUF)) == -1)
		return false;
	ring_release(r);
	/* With a short queue either side would wait more often for the other.
	 */
	(void)setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	if ((size = ring_option(sock, SO_SNDBUF)) < 2 * (int)RING_LEAST)
		return false;
	r->room = (size_t)size / 2;
	if (r->room > OUT_RING_PIECE)
		r->room = OUT_RING_PIECE;
	r->sndbuf = before;
	r->sock = sock;
	return true;
}

uint8_t *
out_ring_take(struct out_ring *r, int sock, size_t *room)
{
	uint64_t rest;

	if (r->fd == -1 || (r->sock != sock && !ring_claim(r, sock)))
		return NULL;
	ring_reclaim(r);
	rest = OUT_RING_SIZE - r->head % OUT_RING_SIZE;
	if (rest >= r->room)
		rest = 0;
	if (r->n == OUT_RING_PIECES ||
	    r->head + rest + r->room - r->tail > OUT_RING_SIZE)
		return NULL;
	r->head += rest;
	r->used = true;
	*room = r->room;
	if (r->timer.at == 0)
		loop_timer_set(
		    r->loop, &r->timer, OUT_RING_TICK_MS, ring_tick, r);
	return r->mem + r->head % OUT_RING_SIZE;
}

ssize_t
out_ring_send(struct out_ring *r, size_t len)
{
	off_t at = (off_t)(r->head % OUT_RING_SIZE);
	ssize_t n;

	do {
		n = sendfile(r->sock, r->fd, &at, len);
	} while (n == -1 && errno == EINTR);
	if (n == -1 && (errno == EPIPE || errno == ECONNRESET))
		return -1;
	if (n == -1 && errno != EAGAIN) {
		log_warn("sendfile: answers are copied from now on");
		ring_release(r);
		close(r->fd);
		r->fd = -1;
	}
	if (n <= 0)
		return 0;
	r->head += ((uint64_t)n + RING_LINE - 1) / RING_LINE * RING_LINE;
	r->sent += (uint64_t)n;
	r->pieces[(r->first + r->n++) % OUT_RING_PIECES] =
	    (struct out_ring_piece){.end = r->head, .sent = r->sent};
	return n;
}

void
out_ring_note(struct out_ring *r, int sock, size_t n)
{
	if (r->sock == sock)
		r->sent += n;
}

void
out_ring_drop(struct out_ring *r, int sock)
{
	if (r->sock != sock)
		return;
	ring_reclaim(r);
	if (r->n != 0 && r->fd != -1)
		ring_discard(r);
	r->sock = -1;
	ring_release(r);
}
