/* SPDX-License-Identifier: ISC */
/*
 * The frame of every worker: confine, report it, take peers and configuration
 * from icsupervisor, and read from anyone else only after START.  icsupervisor
 * decides when the worker ends; a worker whose channel 3 closes exits.
 */
#include "common/ipc/worker.h"

#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

#define WORKER_EXIT_PROTOCOL 2

static struct {
	struct worker *w;
	struct chan_handler *handlers;
	struct chan_ops ops;
} worker_env;

void
worker_exit(struct worker *w, int status)
{
	loop_turns(&w->loop);
	_exit(status);
}

static void
worker_closed(struct chan *c, const char *why)
{
	struct worker *w = chan_arg(c);
	enum role peer = chan_peer(c);
	unsigned index = chan_index(c);

	if (why != NULL) {
		log_warnx("%s broke the protocol: %s", role_name(peer), why);
		if (peer != ROLE_SUP || w->orphan == NULL)
			worker_exit(w, WORKER_EXIT_PROTOCOL);
	}
	if (peer == ROLE_SUP) {
		if (w->orphan != NULL)
			w->orphan();
		worker_exit(w, 1);
	}
	w->peers[peer][index] = NULL;
	chan_free(c);
	if (w->lost != NULL)
		w->lost(peer, index);
}

static void
worker_behind(struct chan *c, bool behind)
{
	struct worker *w = chan_arg(c);

	if (chan_peer(c) == ROLE_SUP)
		return;
	w->nbehind += behind ? 1 : -1U;
	if (w->nbehind == 0 && w->caught_up != NULL)
		w->caught_up();
}

bool
worker_is_behind(const struct worker *w)
{
	return w->nbehind != 0;
}

_Static_assert(PROTO_MAX_SERVERS <= PROTO_MAX_PEERS &&
		   PROTO_MAX_PROVIDERS <= PROTO_MAX_PEERS,
    "a place for each");

static int
worker_peer(struct chan *c, const struct msg_PEER *p, int fd)
{
	struct worker *w = chan_arg(c);
	struct chan *peer;

	if (p->role == ROLE_SUP || p->index >= PROTO_MAX_PEERS ||
	    w->peers[p->role][p->index] != NULL) {
		close(fd);
		return chan_violation(
		    c, "PEER %u/%u twice or impossible", p->role, p->index);
	}
	if ((peer = chan_new(&w->loop, fd, w->role, (enum role)p->role,
		 p->index, &worker_env.ops, w)) == NULL)
		fatal("chan_new");
	if (chan_memory_take(peer, (enum proto_memory)p->memory) == -1)
		fatal("the memory shared with %s",
		    role_name((enum role)p->role));
	w->peers[p->role][p->index] = peer;
	if (w->started) {
		chan_phase(peer, PHASE_RUN);
		if (chan_open(peer) == -1)
			fatal("chan_open");
	}
	return 0;
}

static int
worker_start(struct chan *c, const struct msg_START *m)
{
	struct worker *w = chan_arg(c);

	w->started = true;
	chan_phase(w->sup, PHASE_RUN);
	for (size_t r = 0; r < ROLE_COUNT; r++) {
		for (size_t i = 0; i < PROTO_MAX_PEERS; i++) {
			if (w->peers[r][i] == NULL)
				continue;
			chan_phase(w->peers[r][i], PHASE_RUN);
			if (chan_open(w->peers[r][i]) == -1)
				fatal("chan_open");
		}
	}
	if (w->start != NULL)
		w->start();
	return 0;
}

static int
worker_stop(struct chan *c, const struct msg_STOP *m)
{
	struct worker *w = chan_arg(c);

	if (w->stop != NULL)
		w->stop();
	else
		worker_exit(w, 0);
	return 0;
}

static void
worker_check_channel(void)
{
	socklen_t len = sizeof(int);
	int type;

	if (getsockopt(WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &len) == -1 ||
	    type != SOCK_SEQPACKET ||
	    fcntl(WORKER_FD, F_SETFD, FD_CLOEXEC) == -1)
		fatalx("descriptor %d is no channel: icsupervisor starts this "
		       "program, people start icsupervisor",
		    WORKER_FD);
}

static int
worker_compare(const void *a, const void *b)
{
	return memcmp(a, b, 1);
}

/*
 * Do everything that libc opens or asks only once, before that is forbidden:
 * qsort asks for the machine's memory (sysinfo) when it first sorts 1 KiB or
 * more.
 */
static void
worker_warm(void)
{
	static uint8_t bytes[2048];

	(void)proto_find(0);
	(void)strerror(EPERM);
	qsort(bytes, sizeof(bytes), 1, worker_compare);
}

/* Returns true if the role may send a descriptor, that of a memfd included. */
static bool
worker_sends_fds(enum role role)
{
	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if ((m->from & (1U << role)) != 0 &&
		    (m->nfds != 0 ||
			(m->nfields != 0 &&
			    m->fields[m->nfields - 1].kind == PROTO_big)))
			return true;
	}
	return false;
}

void
worker_init(struct worker *w, enum role role, const struct confine *confine,
    void (*warm)(void), size_t timers)
{
	confine_early();
	memset(w, 0, sizeof(*w));
	w->role = role;
	log_init(role_name(role), false);
	worker_check_channel();
	if (((confine->keep & CONFINE_KEEP_FILES) != 0) !=
	    worker_sends_fds(role))
		fatalx("bug: the limit on open files of %s", role_name(role));
	if (loop_init(&w->loop, timers) == -1)
		fatal("loop_init");
	worker_warm();
	if (warm != NULL)
		warm();
	w->files = confine_files(confine);
	if (confine_apply(confine, &w->state) == -1)
		fatalx("not confined: refusing to start");
}

unsigned
worker_files_left(const struct worker *w, unsigned others)
{
	return w->files < 2 * others ? w->files - w->files / 2
				     : w->files - others;
}

void
worker_serve(struct worker *w, const struct chan_handler *handlers, size_t n)
{
	/* clang-format off */
	static const struct chan_handler own[] = {
		HANDLER(PEER,	worker_peer),
		HANDLER(START,	worker_start),
		HANDLER(STOP,	worker_stop),
	};
	/* clang-format on */
	const size_t nown = nitems(own);
	struct msg_HELLO hello = {.proto = proto_id()};

	worker_env.w = w;
	if ((worker_env.handlers = calloc(n + nown, sizeof(own[0]))) == NULL)
		fatal("calloc");
	memcpy(worker_env.handlers, handlers, n * sizeof(own[0]));
	memcpy(worker_env.handlers + n, own, sizeof(own));
	worker_env.ops.handlers = worker_env.handlers;
	worker_env.ops.nhandlers = n + nown;
	worker_env.ops.closed = worker_closed;
	worker_env.ops.behind = worker_behind;
	if ((w->sup = chan_new(&w->loop, WORKER_FD, w->role, ROLE_SUP, 0,
		 &worker_env.ops, w)) == NULL ||
	    chan_open(w->sup) == -1)
		fatal("channel");
	hello.role = (uint8_t)w->role;
	hello.flags = w->state.flags;
	hello.landlock = w->state.landlock_abi;
	if (chan_send(w->sup, MSG_HELLO, &hello, -1) == -1)
		fatal("HELLO");
	if (loop_run(&w->loop) == -1)
		fatal("epoll_wait");
	worker_exit(w, 0);
}

void
worker_send(struct worker *w, enum role role, unsigned index,
    enum msg_type type, const void *msg, int fd)
{
	struct chan *c = role == ROLE_SUP          ? w->sup
			 : index < PROTO_MAX_PEERS ? w->peers[role][index]
						   : NULL;

	if (c == NULL) {
		if (fd != -1)
			close(fd);
		return;
	}
	if (chan_send(c, type, msg, fd) == -1 && errno == ENOBUFS) {
		/* No honest session gets here: see the limits in proto.h. */
		log_warnx("queue to %s is full", role_name(role));
		worker_exit(w, WORKER_EXIT_PROTOCOL);
	}
}
