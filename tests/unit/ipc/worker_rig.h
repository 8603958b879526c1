/* SPDX-License-Identifier: ISC */
/*
 * The program of one worker, started as icsupervisor starts it; icsupervisor
 * and the worker's peers are channel ends of the test, all in one loop.
 */
#ifndef WORKER_RIG_H
#define WORKER_RIG_H

#include <sys/types.h>

#include "common/ipc/chan.h"

struct worker_rig {
	struct loop loop;
	enum role role;
	const struct chan_ops *ops;
	struct chan *sup;
	pid_t pid;
	bool lost; /* the worker closed a channel */
	bool hello;
	uint32_t flags; /* from its HELLO */
};

/* The hard limit of the next workers' open files, or 0: as the test has it. */
extern unsigned worker_rig_files;

/*
 * For the test's table of handlers: processes HELLO, and the end of the
 * channel.
 */
int worker_rig_hello(struct chan *, const struct msg_HELLO *);
void worker_rig_closed(struct chan *, const char *why);

/* Run the program up to its HELLO; `ops` are those of every channel. */
void worker_rig_start(struct worker_rig *, const char *program, enum role,
    const struct chan_ops *);
/* Make a peer: the worker is sent the other end in a PEER. */
struct chan *worker_rig_peer(struct worker_rig *, enum role, unsigned index);
/* The same, with an arena. */
struct chan *worker_rig_arena(struct worker_rig *, enum role, unsigned index);
/*
 * Send a SECRET with this text, in as many parts as a command might write it.
 */
void worker_rig_secret(struct worker_rig *, const char *text, unsigned kind);
/* End the program; the test must free its peers before. */
void worker_rig_stop(struct worker_rig *);

/* Run one turn of the loop. */
void worker_rig_turn(struct worker_rig *);
/*
 * Wait until `*what` is `n`, the worker is lost or 30 s have passed.  Returns
 * true if it is `n`.
 */
bool worker_rig_until(struct worker_rig *, const unsigned *what, unsigned n);
/* Wait likewise for a flag, which may be ->lost. */
bool worker_rig_until_true(struct worker_rig *, const bool *what);

/* Make a listener on loopback, or a non-blocking connection to one. */
int worker_rig_listen(uint16_t *port);
int worker_rig_connect(uint16_t port);

#endif
