/* SPDX-License-Identifier: ISC */
/* The internals of a channel, shared by its files. */
#ifndef CHAN_PRIV_H
#define CHAN_PRIV_H

#include <sys/queue.h>
#include <sys/socket.h>

#include <fcntl.h>
#include <string.h>

#include "common/ipc/arena.h"
#include "common/ipc/chan.h"
#include "common/ipc/ring.h"

/* A memfd with these seals can no longer change, so the receiver may map it. */
#define CHAN_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct chan_out {
	TAILQ_ENTRY(chan_out) entry;
	int fd;
	size_t memfd; /* bytes in `fd`, if it is a memfd */
	size_t len;
	uint8_t bytes[];
};

/*
 * The most messages sent with one call.  At this many messages or bytes the
 * queue is sent at once instead of at the end of the turn.
 */
#define CHAN_SEND 32U
#define CHAN_SEND_BYTES ((size_t)128 << 10)

/* The rings of a channel. */
struct chan_ring {
	struct ring_shared *map;
	struct ring in, out;
	struct loop_io io; /* for `event` */
	struct loop_poll poll;
	int event;	/* written to by the peer while this end sleeps */
	int wake;	/* the peer's eventfd */
	uint32_t published; /* `out.at` when the peer was last told */
	unsigned unseen;    /* messages since */
	bool full;	/* the flush waits for room */
	bool said;	/* the ring has announced the first of the queue */
	bool elsewhere; /* the next message to receive is on the socket */
	bool bad;	/* the peer's index was impossible */
};

struct chan {
	struct loop *loop;
	struct loop_turn turn;	/* queued when a flush is due */
	struct loop_io io;
	int fd;
	enum role self, peer;
	unsigned index;
	unsigned batch; /* messages received per wake-up */
	enum proto_phase phase;
	const struct chan_ops *ops;
	void *arg;
	TAILQ_HEAD(, chan_out) out;
	size_t queued, nqueued;
	size_t memfds, nfds; /* bytes in queued memfds; queued descriptors */
	uint16_t last;
	bool opened, broken, reset, freed, behind;
	bool full; /* the socket is full: the flush waits for EPOLLOUT */
	/*
	 * The kernel refused a descriptor, or memory, so that the socket counts
	 * as writable: the flush waits for `retry`.
	 */
	bool refused;
	struct loop_retry retry;
	unsigned busy;
	char why[256];
	struct chan_ring *ring; /* NULL: everything is on the socket */
	struct arena *arena;
};

/* The code of a login passes through mcp-callbackd: wipe what had it. */
static inline void
chan_forget(const struct chan *c, uint8_t *bytes, size_t len)
{
	if (c->self == ROLE_CALLBACK || c->peer == ROLE_CALLBACK)
		explicit_bzero(bytes, len);
}

/* chan_put.c */
/* Make a memfd that can be sealed.  Returns -1 with errno set on failure. */
int chan_memfd_new(void);
/*
 * Send the first messages of the queue, at most `most`, with one call.  Returns
 * the number that the socket accepted, 0 if it is full or c->refused is set, or
 * -1 if the peer is gone.
 */
int chan_put(struct chan *, unsigned most);
/* Remove the first message of the queue, which was sent. */
void chan_sent(struct chan *);
void chan_drop_queue(struct chan *);

/* chan_first.c: descriptors of shared memory, in the first message */
/* The size of the memory cannot change: an access never fails. */
#define CHAN_SHARED_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)
#define CHAN_FIRST_FDS 3U
union chan_first_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(CHAN_FIRST_FDS * sizeof(int))];
};
/* The first message on the socket has the number of the ring to read, and: */
enum {
	RING_FD_MAP,
	RING_FD_EVENT,
	RING_FD_WAKE,
	RING_FDS
};
enum {
	ARENA_FD_MINE,
	ARENA_FD_THEIRS,
	ARENA_FDS
};
/* Make such a memory.  Returns -1 with errno set on failure. */
int chan_shared_new(size_t size);
/*
 * Send `side` and at most CHAN_FIRST_FDS descriptors, for the other end of the
 * socket. Returns 0, or -1 with errno set.
 */
int chan_first_send(int fd, uint8_t side, const int *fds, size_t n);
/* Close those that are not -1. */
void chan_first_close(const int *fds, size_t n);

/* chan_arena.c: one kind of memory, for chan_memory_give() and chan_take.c */
int chan_arena_give(const int pair[2]);
void chan_arena_free(struct chan *);

/* chan_ring.c: the other kind */
int chan_ring_give(const int pair[2]);
void chan_ring_free(struct chan *);
/* Wake the peer. */
void chan_ring_wake(const struct chan_ring *);
/*
 * Write a message to the ring at once, if it may go there and nothing is before
 * it; the end of the turn publishes it.  Returns true if it was written.
 */
bool chan_ring_direct(struct chan *, struct span, struct span);
/*
 * Move the queue to the ring, and publish what is there.  Returns 1, 0 if something waits for room, or -1
 * if the peer is gone or has broken the protocol.
 */
int chan_ring_put(struct chan *);

/* chan.c */
/* Send queued messages until the ring or the socket is full. */
void chan_flush(struct chan *);
/* Tell the owner that the peer has caught up, if it was behind and now has. */
void chan_relax(struct chan *);
/* Close the socket and drop the queue, without telling the owner. */
void chan_disconnect(struct chan *);
/* Undo c->busy++, and free the channel if it was freed meanwhile. */
void chan_leave(struct chan *);

/* chan_in.c */
/* The most messages received with one call. */
#define CHAN_BATCH CHAN_SEND
/*
 * Check one message against the table and call its handler.  Takes over `fd`,
 * which may be -1.
 */
int chan_dispatch(struct chan *, const uint8_t *in, size_t len, int fd);
/* Process one message of the socket.  Returns 1, 0 if there is none, or -1. */
int chan_socket_next(struct chan *);
/* Process the messages of the socket. */
void chan_drain(struct chan *);
/* Close the channel and tell its owner. */
void chan_ended(struct chan *);

#endif
