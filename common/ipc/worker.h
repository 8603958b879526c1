/* SPDX-License-Identifier: ISC */
/*
 * The common part of all workers: the start sequence, the channel to
 * icsupervisor on descriptor 3, channels to peers, and the end.  A program is
 * worker_init() and its own X_serve(); tests link the real program with a
 * hostile serve function instead.
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
	/*
	 * The limit of descriptors. One that comes in a message while all are
	 * in use is lost, and the session with it: a worker whose outside can
	 * make it open more keeps some free.
	 */
	unsigned files;
	bool started;
	const struct chan_handler *handlers;
	size_t nhandlers;
	void (*start)(void);		/* after START: peers are open */
	void (*stop)(void);		/* on STOP; NULL: exit 0 */
	/*
	 * A peer's channel has closed; icsupervisor decides the consequences.
	 */
	void (*lost)(enum role, unsigned index);
	/* No channel to a peer is behind any more, after at least one was. */
	void (*caught_up)(void);
	unsigned nbehind;		/* channels to peers that are behind */
	/*
	 * Channel 3 has closed; the worker exits afterwards.  Only auditd has a
	 * last duty.
	 */
	void (*orphan)(void);
};

/*
 * Become non-dumpable, call warm() (in which libraries load and open what they
 * need) and confine the process by the table.  Any failure is fatal.  `timers`
 * is the most that may be armed at once.
 */
void worker_init(struct worker *, enum role, const struct confine *,
    void (*warm)(void), size_t timers);
/*
 * Returns how many descriptors are left for the outside if the worker needs
 * `others` for itself: at least half of them, however few there are.
 */
unsigned worker_files_left(const struct worker *, unsigned others);
/*
 * Send HELLO and handle messages until the end; PEER, START and STOP are
 * handled by the worker itself.  Never returns: exits with 0 when told to stop,
 * 1 when the channel to icsupervisor is gone, 2 when a peer has broken the
 * protocol.
 */
void worker_serve(struct worker *, const struct chan_handler *, size_t)
    __attribute__((noreturn));
/*
 * Send to a peer; silently drops the message if the peer is gone.  Takes over
 * `fd`.
 */
void worker_send(struct worker *, enum role, unsigned index, enum msg_type,
    const void *msg, int fd);
/* Send everything that is queued for the end of this turn, then exit. */
void worker_exit(struct worker *, int status) __attribute__((noreturn));
/*
 * Returns true while a peer is far behind in reading.  A worker then reads
 * nothing from outside that could make it send more, but goes on reading its
 * channels.
 */
bool worker_is_behind(const struct worker *);

#endif
