/* SPDX-License-Identifier: ISC */
/*
 * One end of a SOCK_SEQPACKET pair between two of our processes.  Who talks
 * is known by the channel; what it may say, by the protocol table.  Sending
 * never blocks: what the socket does not take is queued, within a bound that
 * no honest session reaches.  A message that breaks the table is a violation
 * by the peer: the channel closes and its owner is told.
 */
#ifndef CHAN_H
#define CHAN_H

#include "common/ipc/proto.h"
#include "common/loop.h"

struct chan;

/*
 * A decoded, admitted message; its spans die on return.  fd is the one that
 * came with it or -1, and belongs to the handler.  Returns 0, or -1 when the
 * message breaks the protocol (a repeated id, an impossible value): that is a
 * violation too; say what in chan_violation first.
 */
typedef int chan_fn(struct chan *, const union proto_any *, int fd);

struct chan_handler {
	uint16_t type;
	chan_fn *fn;
};

struct chan_ops {
	const struct chan_handler *handlers;
	size_t nhandlers;
	/* The peer is gone (why == NULL), or broke the protocol (why). */
	void (*closed)(struct chan *, const char *why);
	/*
	 * chan_is_behind() has changed: the owner reads less from outside
	 * while it is true.  That it is no longer true is said from the loop
	 * and from chan_free() only, never from chan_send().  May be NULL.
	 */
	void (*behind)(struct chan *, bool);
};

/*
 * A channel with that many messages or bytes waiting is behind, until half of
 * both are left.  Both are far below the bounds at which it breaks, so that a
 * process that stops reading from outside then never reaches those.
 */
#define CHAN_BEHIND_MESSAGES 1024U
#define CHAN_BEHIND_BYTES ((size_t)16 << 20)

/*
 * Takes fd. self and peer: the roles; index: which peer of that role. The
 * channel reads nothing until chan_open. NULL with errno.
 */
struct chan *chan_new(struct loop *, int fd, enum role self, enum role peer,
    unsigned index, const struct chan_ops *, void *arg);
int chan_open(struct chan *);
/* Closes; safe inside its own handlers. NULL is fine. */
void chan_free(struct chan *);

/* Phase of this end: PHASE_SETUP at birth. */
void chan_phase(struct chan *, enum proto_phase);
enum role chan_peer(const struct chan *);
unsigned chan_index(const struct chan *);
void *chan_arg(const struct chan *);
/* The last message type received, for the report of an end; 0: none. */
uint16_t chan_last(const struct chan *);

/*
 * Sends msg (a struct msg_NAME), at the end of the loop's turn at the latest:
 * who exits without one calls loop_turns() first. Takes fd, or -1. A message that is not ours
 * to send or exceeds a maximum is a bug of the caller: fatal. -1 with errno
 * when the channel is closed or its queue is full (then it closes).
 */
int chan_send(struct chan *, enum msg_type, const void *msg, int fd);
/* Notes why a handler is about to return -1. Always returns -1. */
int chan_violation(struct chan *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Bytes queued and not yet taken by the socket. */
size_t chan_queued(const struct chan *);
/* Returns true while the peer is far behind in taking what we send. */
bool chan_is_behind(const struct chan *);

#endif
