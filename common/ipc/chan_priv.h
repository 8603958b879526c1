/* SPDX-License-Identifier: ISC */
/* The internals of a channel, shared by chan.c and chan_in.c. */
#ifndef CHAN_PRIV_H
#define CHAN_PRIV_H

#include <sys/queue.h>

#include <fcntl.h>

#include "common/ipc/chan.h"

/* A memfd with these seals can no longer change, so the receiver may map it. */
#define CHAN_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct chan_out {
	TAILQ_ENTRY(chan_out) entry;
	int fd;
	size_t len;
	uint8_t bytes[];
};

/*
 * The most messages sent with one call.  At this many messages or bytes the
 * queue is sent at once instead of at the end of the turn.
 */
#define CHAN_SEND 32U
#define CHAN_SEND_BYTES ((size_t)128 << 10)

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
	uint16_t last;
	bool opened, broken, reset, freed, behind;
	bool full; /* the socket is full: the flush waits for EPOLLOUT */
	unsigned busy;
	char why[256];
};

/* chan.c */
/* Send queued messages until the socket is full. */
void chan_flush(struct chan *);
/* Tell the owner that the peer has caught up, if it was behind and now has. */
void chan_relax(struct chan *);
/* Close the socket and drop the queue, without telling the owner. */
void chan_disconnect(struct chan *);

#endif
