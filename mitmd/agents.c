/* SPDX-License-Identifier: ISC */
/*
 * All connections of the agent: accepting them, their deadlines between
 * requests, and their turns when there is room again.
 */
#include "mitmd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "body.h"
#include "common/log.h"

#define AGENTS_ACCEPTS 8 /* connections per wake-up */

static void
agents_late(struct agent *a)
{
	switch (a->state) {
	case AGENT_CONNECT:
		mitmd_note(a, "no CONNECT within %u ms", MITMD_CONNECT_MS);
		agent_close(a);
		break;
	case AGENT_WANTED:
		connect_late(a);
		break;
	case AGENT_TLS:
		mitmd_note(a, "no TLS handshake within %u ms", MITMD_TLS_MS);
		agent_close(a);
		break;
	case AGENT_OPEN:
		if (a->h2 != NULL) {
			h2_expired(a);
		} else if (a->in.len != 0) {
			request_late(a->x, "no whole head", MITMD_HEAD_MS);
		} else {
			mitmd_note(a, "idle for %u ms: closed", MITMD_IDLE_MS);
			agent_linger(a);
		}
		break;
	case AGENT_PENALTY:
		deny_after_penalty(a);
		break;
	case AGENT_LINGER:
		agent_close(a);
		break;
	}
}

/* Free the protocol's part of the connection. */
static void
agents_free(struct agent *a)
{
	h2_free(a->h2);
}

static const struct agent_ops agents_ops = {
    .reads = input_reads,
    .resume = input_resume,
    .late = agents_late,
    .free = agents_free,
};

static int
agents_new(int fd)
{
	struct agent *a;

	if ((a = calloc(1, sizeof(*a))) == NULL)
		return -1;
	a->number = ++mitmd_env.last_agent;
	a->ops = &agents_ops;
	a->fd = fd;
	a->io.fd = -1;
	a->progress = loop_now(&mitmd_env.w.loop);
	TAILQ_INIT(&a->exchanges);
	TAILQ_INIT(&a->parked);
	TAILQ_INIT(&a->gone);
	TAILQ_INIT(&a->turns);
	buf_init(&a->in, MITMD_MAX_IN);
	buf_init(&a->out, MITMD_MAX_QUEUE);
	if (loop_add(&mitmd_env.w.loop, &a->io, fd, EPOLLIN, input_ready, a) ==
	    -1) {
		free(a);
		return -1;
	}
	TAILQ_INSERT_TAIL(&mitmd_env.agents, a, entry);
	mitmd_env.nagents++;
	agent_enter(a, AGENT_CONNECT, MITMD_CONNECT_MS);
	return 0;
}

/* Out of descriptors: stop accepting until a connection closes. */
static void
agents_full(struct loop_io *io)
{
	static bool told;

	if (loop_mod(&mitmd_env.w.loop, io, 0) == -1)
		fatal("epoll_ctl");
	if (!told)
		log_warnx("out of descriptors: connections wait; raise the "
			  "limit (ulimit -Hn) of icsupervisor");
	told = mitmd_env.full = true;
}

void
agents_take_one(int fd)
{
	if (mitmd_env.nagents >= mitmd_env.most || agents_new(fd) == -1) {
		connect_busy(fd);
		close(fd);
	}
}

void
agents_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	for (int i = 0; i < AGENTS_ACCEPTS; i++) {
		/* The other descriptors are for streams and bodies. */
		if (mitmd_env.most < MITMD_MAX_AGENTS &&
		    mitmd_env.nagents >= mitmd_env.most) {
			agents_full(io);
			return;
		}
		fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1) {
			if (errno == EMFILE || errno == ENFILE)
				agents_full(io);
			return;
		}
		agents_take_one(fd);
	}
}

void
agents_drained(void)
{
	static struct agent *all[MITMD_MAX_AGENTS];
	struct agent *a;
	unsigned n = 0;

	/* Resuming one connection may close another. */
	TAILQ_FOREACH (a, &mitmd_env.agents, entry) {
		agent_hold(a);
		all[n++] = a;
	}
	for (unsigned i = 0; i < n; i++) {
		agent_resume(all[i]);
		agent_leave(all[i]);
	}
}

/* Let the agent's waiting requests go on, as far as there is room. */
static void
agents_wake_one(struct agent *a)
{
	struct exchange *x, *next;

	agent_hold(a);
	for (x = TAILQ_FIRST(&a->exchanges); x != NULL && !a->dead && !x->gone;
	     x = next) {
		next = TAILQ_NEXT(x, entry);
		if (x->holding)
			x->front->drained(x);
	}
	agent_leave(a);
}

/* If there is room again, read the connections that had to wait for it. */
static void
agents_wake(void)
{
	struct agent *a, *next;

	if (!mitmd_env.starved || !mitmd_env.freed)
		return;
	/* A connection that still finds no room sets `starved` again. */
	mitmd_env.starved = mitmd_env.freed = false;
	for (a = TAILQ_FIRST(&mitmd_env.agents); a != NULL; a = next) {
		next = TAILQ_NEXT(a, entry);
		if (!a->dead && a->busy == 0 && !TAILQ_EMPTY(&a->exchanges))
			agents_wake_one(a);
	}
}

void
agents_left(struct loop_turn *t)
{
	exchange_dequeue();
	agents_wake();
}
