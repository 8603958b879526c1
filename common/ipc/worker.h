/* SPDX-License-Identifier: ISC */
/*
 * What every worker has in common: the start sequence, the channel to
 * icsupervisor on descriptor 3, channels to its peers, and its end.  A
 * program is worker_init() and its own X_serve(); tests link the real program
 * with a hostile serve in place of its own.
 */
#ifndef WORKER_H
#define WORKER_H

#include "common/confine/confine.h"
#include "common/ipc/chan.h"

#define WORKER_FD 3

struct worker {
	enum role role;
	struct loop loop;
	struct chan *sup;
	struct chan *peers[ROLE_COUNT][PROTO_MAX_PEERS];
	struct confine_state state;
	bool started;
	const struct chan_handler *handlers;
	size_t nhandlers;
	void (*start)(void);		/* START came: peers are open */
	void (*stop)(void);		/* STOP came; NULL: exit 0 */
	/* A peer's channel closed; icsupervisor decides what that means. */
	void (*lost)(enum role, unsigned index);
	/* No channel to a peer is behind any more, and one was. */
	void (*caught_up)(void);
	unsigned nbehind;		/* channels to peers that are */
	/* Channel 3 closed; exits afterwards. Only auditd has a last duty. */
	void (*orphan)(void);
};

/*
 * Non-dumpable first, then warm() (libraries load and open what they need),
 * lock-down by the table, HELLO. Whatever fails is fatal. timers: how many
 * may be armed at once.
 */
void worker_init(struct worker *, enum role, const struct confine *,
    void (*warm)(void), size_t timers);
/*
 * Takes messages by the handlers (PEER, START, STOP are the worker's own)
 * until the end. Never returns: exits 0 when told to stop, 1 when a channel
 * is gone, 2 when a peer broke the protocol.
 */
void worker_serve(struct worker *, const struct chan_handler *, size_t)
    __attribute__((noreturn));
/* Sends to a peer; quietly drops when it is gone. Takes fd. */
void worker_send(struct worker *, enum role, unsigned index, enum msg_type,
    const void *msg, int fd);
/* Sends what was to be sent at the end of this turn, and exits. */
void worker_exit(struct worker *, int status) __attribute__((noreturn));
/*
 * Returns true while a peer is far behind in taking what we send.  A worker
 * then reads nothing from outside that could make it send more; it goes on
 * reading its channels.
 */
bool worker_is_behind(const struct worker *);

#endif
