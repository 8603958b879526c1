/* SPDX-License-Identifier: ISC */
/*
 * One end of a SOCK_SEQPACKET pair between two of our processes, perhaps with
 * rings of shared memory beside it.  The channel identifies the peer, and the
 * protocol table says which messages it may send.  Sending never blocks: a
 * message that the socket or the ring does not accept is queued, within a limit
 * that no honest session reaches.  A message that breaks the table is a
 * violation by the peer: the channel closes and its owner is told.
 */
#ifndef CHAN_H
#define CHAN_H

#include "common/ipc/proto.h"
#include "common/loop.h"

struct chan;

/*
 * The table types the handlers: that of CALL takes a struct msg_CALL, and that
 * of PEER, whose row has a descriptor, takes an int too, which it owns:
 *
 *	int on_call(struct chan *, const struct msg_CALL *);
 *	int on_peer(struct chan *, const struct msg_PEER *, int fd);
 *
 * A handler receives a decoded and admitted message, whose spans are valid
 * until it returns.  It returns 0, or -1 if the message breaks the protocol (a
 * repeated id, an impossible value), which is also a violation; it calls
 * chan_violation() first to say why.
 */
#define CHAN_FD_0
#define CHAN_FD_1 , int fd
#define CHAN_FN(name, number, from, to, phase, fds)                            \
	int (*name)(struct chan *, const struct msg_##name *CHAN_FD_##fds);

struct chan_handler {
	enum msg_type type; /* the member of fn that is set */
	union {
		PROTO_MSGS(CHAN_FN)
	} fn;
};

/* A row of a handler table; a function of another type does not compile. */
#define HANDLER(name, function)                                                \
	{                                                                      \
		MSG_##name,                                                    \
		{                                                              \
			.name = (function)                                     \
		}                                                              \
	}

struct chan_ops {
	const struct chan_handler *handlers;
	size_t nhandlers;
	/* The peer is gone (`why` is NULL), or broke the protocol. */
	void (*closed)(struct chan *, const char *why);
	/*
	 * chan_is_behind() has changed: the owner reads less from outside while
	 * it is true.  The change to false is reported only from the loop and
	 * from chan_free(), never from chan_send().  May be NULL.
	 */
	void (*behind)(struct chan *, bool);
};

/*
 * A channel with this many messages, descriptors, or bytes, memfds included,
 * queued is behind, until all have fallen to half.  The limits are far below
 * those at which a channel refuses messages, so a process that stops reading
 * from outside in time never reaches those.
 */
#define CHAN_BEHIND_MESSAGES 1024U
#define CHAN_BEHIND_FDS 256U
#define CHAN_BEHIND_BYTES ((size_t)16 << 20)

/*
 * Make a channel from `fd`, which it takes over.  `self` and `peer` are roles;
 * `index` tells peers of one role apart.  Nothing is read before chan_open().
 * Returns NULL with errno set on failure.
 */
struct chan *chan_new(struct loop *, int fd, enum role self, enum role peer,
    unsigned index, const struct chan_ops *, void *arg);
/*
 * Give a pair of sockets shared memory, for its messages or for long pieces of
 * bodies: send each end its part, as the first message.  For icsupervisor,
 * before it gives the pair to two workers.  Returns 0, or -1 with errno set.
 */
int chan_memory_give(const int pair[2], enum proto_memory);
/*
 * Receive the part of this end, before anything else is received or sent.
 * Returns 0, or -1 with errno set.
 */
int chan_memory_take(struct chan *, enum proto_memory);
/* Returns the arena, until the channel is closed; NULL if there is none. */
struct arena *chan_arena(const struct chan *);
int chan_open(struct chan *);
/* Close and free; safe within the channel's own handlers, and with NULL. */
void chan_free(struct chan *);

/* Set the phase of this end; a new channel is in PHASE_SETUP. */
void chan_phase(struct chan *, enum proto_phase);
enum role chan_peer(const struct chan *);
unsigned chan_index(const struct chan *);
void *chan_arg(const struct chan *);
/*
 * Returns the last message type received, or 0; used to report how a channel
 * ended.
 */
uint16_t chan_last(const struct chan *);

/*
 * Send `msg` (a struct msg_NAME) by the end of the loop's turn; a caller that
 * exits without finishing the turn must call loop_turns() first.  Takes over
 * `fd`, which may be -1.  A message that this role may not send, or that
 * exceeds a maximum, is a bug of the caller and fatal.  Returns 0, or -1 with
 * errno set if the channel is closed (EPIPE) or its queue is full (ENOBUFS);
 * the message is then dropped.
 */
int chan_send(struct chan *, enum msg_type, const void *msg, int fd);
/* Record why a handler is about to return -1.  Always returns -1. */
int chan_violation(struct chan *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Returns the number of bytes that are queued and not yet accepted by the
 * socket.
 */
size_t chan_queued(const struct chan *);
/* Returns true while the peer is far behind in reading. */
bool chan_is_behind(const struct chan *);

#endif
