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
	bool lost; /* it closed a channel */
	bool hello;
	uint32_t flags; /* of its HELLO */
};

/* For the table of the test: takes HELLO, and the end. */
int worker_rig_hello(struct chan *, const union proto_any *, int fd);
void worker_rig_closed(struct chan *, const char *why);

/* Runs the program up to its HELLO. ops: of every channel. */
void worker_rig_start(struct worker_rig *, const char *program, enum role,
    const struct chan_ops *);
/* The end of a peer, whose other end the worker is sent as a PEER. */
struct chan *worker_rig_peer(struct worker_rig *, enum role, unsigned index);
/* SECRET: text, in as many parts as a command might write it. */
void worker_rig_secret(struct worker_rig *, const char *text, unsigned kind);
/* Ends the program; the test frees its peers before. */
void worker_rig_stop(struct worker_rig *);

/* One turn of the loop. */
void worker_rig_turn(struct worker_rig *);
/* Until *what is n, the worker is lost or 30 s; says whether it is n. */
bool worker_rig_until(struct worker_rig *, const unsigned *what, unsigned n);
/* The same of a flag, which may be ->lost. */
bool worker_rig_until_true(struct worker_rig *, const bool *what);

/* A listener on loopback; a non-blocking connection to one. */
int worker_rig_listen(uint16_t *port);
int worker_rig_connect(uint16_t port);

#endif
