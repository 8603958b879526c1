/* SPDX-License-Identifier: ISC */
/* The inside of a channel, shared by its two halves: chan.c and chan_in.c. */
#ifndef CHAN_PRIV_H
#define CHAN_PRIV_H

#include <sys/queue.h>

#include <fcntl.h>

#include "common/ipc/chan.h"

/* A sealed memfd cannot change any more: the receiver may map it. */
#define CHAN_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

struct chan_out {
	TAILQ_ENTRY(chan_out) entry;
	int fd;
	size_t len;
	uint8_t bytes[];
};

/* Sent with one call; more, or more bytes, are not put off to a turn's end. */
#define CHAN_SEND 32U
#define CHAN_SEND_BYTES ((size_t)128 << 10)

struct chan {
	struct loop *loop;
	struct loop_turn turn;	/* a flush is to come */
	struct loop_io io;
	int fd;
	enum role self, peer;
	unsigned index;
	enum proto_phase phase;
	const struct chan_ops *ops;
	void *arg;
	TAILQ_HEAD(, chan_out) out;
	size_t queued, nqueued;
	uint16_t last;
	bool opened, broken, reset, freed, behind;
	bool full;		/* the socket: a flush waits for EPOLLOUT */
	unsigned busy;
	char why[256];
};

/* chan.c */
/* Sends what waits, as far as the socket takes it. */
void chan_flush(struct chan *);
/* Tells the owner that the peer has caught up, if it was behind and has. */
void chan_relax(struct chan *);
/* Closes the socket and forgets what waits; the owner is not told. */
void chan_disconnect(struct chan *);

#endif
