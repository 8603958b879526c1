/* SPDX-License-Identifier: ISC */
/*
 * Connections of the agent: accepting, what their sockets are watched for,
 * deadlines between requests, and their end.  What bounds them is in mitmd.h.
 */
#include "mitmd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "body.h"
#include "common/log.h"

#define AGENT_ACCEPTS 8 /* per wake-up */

static void
agent_free(struct agent *a)
{
	exchange_reap(a);
	h2_free(a->h2);
	SSL_free(a->ssl);
	buf_free(&a->in);
	buf_free(&a->out);
	free(a);
	trim_freed(&mitmd_env.trim, mitmd_env.nagents);
}

void
agent_hold(struct agent *a)
{
	a->busy++;
}

void
agent_leave(struct agent *a)
{
	if (--a->busy != 0)
		return;
	if (a->dead) {
		agent_free(a);
	} else {
		exchange_reap(a);
		agent_watch(a);
	}
	exchange_dequeue();
	body_wake();
}

/* Requests are over, whatever became of them. */
static void
agent_drop_exchanges(struct agent *a)
{
	struct exchange *x;

	a->x = NULL;
	while ((x = TAILQ_FIRST(&a->exchanges)) != NULL ||
	       (x = TAILQ_FIRST(&a->parked)) != NULL)
		exchange_free(x);
}

void
agent_close(struct agent *a)
{
	if (a->dead)
		return;
	a->dead = true;
	agent_drop_exchanges(a);
	loop_timer_clear(&mitmd_env.w.loop, &a->timer);
	loop_del(&mitmd_env.w.loop, &a->io);
	close(a->fd);
	a->fd = -1;
	TAILQ_REMOVE(&mitmd_env.agents, a, entry);
	mitmd_env.nagents--;
	if (mitmd_env.full &&
	    loop_mod(&mitmd_env.w.loop, &mitmd_env.accept, EPOLLIN) == -1)
		fatal("epoll_ctl");
	mitmd_env.full = false;
	if (a->busy == 0)
		agent_free(a);
}

/* Says goodbye once nothing is queued. */
static void
agent_shut(struct agent *a)
{
	if (a->shut || a->out.len != 0)
		return;
	a->shut = true;
	if (a->ssl != NULL && !a->cut && SSL_is_init_finished(a->ssl))
		(void)SSL_shutdown(a->ssl);
	/* A close now could take what we said with it, if bytes wait here. */
	(void)shutdown(a->fd, SHUT_WR);
	agent_enter(a, AGENT_LINGER, MITMD_LINGER_MS);
}

void
agent_linger(struct agent *a)
{
	if (a->dead)
		return;
	if (a->state == AGENT_LINGER) {
		agent_shut(a);
		return;
	}
	agent_drop_exchanges(a);
	agent_enter(a, AGENT_LINGER, MITMD_STALL_MS);
	agent_shut(a);
}

static void
agent_expired(struct loop_timer *t)
{
	struct agent *a = t->arg;

	agent_hold(a);
	switch (a->state) {
	case AGENT_CONNECT:
		mitmd_note(a, "no CONNECT within %u ms", MITMD_CONNECT_MS);
		agent_close(a);
		break;
	case AGENT_TLS:
		mitmd_note(a, "no TLS handshake within %u ms", MITMD_TLS_MS);
		agent_close(a);
		break;
	case AGENT_OPEN:
		if (a->h2 != NULL) {
			h2_expired(a);
		} else if (a->in.len != 0) {
			exchange_late(a->x, "no whole head", MITMD_HEAD_MS);
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
	agent_leave(a);
}

void
agent_enter(struct agent *a, enum agent_state state, uint64_t ms)
{
	a->state = state;
	loop_timer_set(&mitmd_env.w.loop, &a->timer, ms, agent_expired, a);
}

void
agent_watch(struct agent *a)
{
	struct exchange *x;
	uint32_t want;

	want = agent_reads(a) ? (uint32_t)EPOLLIN : 0;
	if (a->out.len != 0 || a->want_write || agent_pending(a))
		want |= EPOLLOUT;
	if (loop_mod(&mitmd_env.w.loop, &a->io, want) == -1)
		fatal("epoll_ctl");
	TAILQ_FOREACH (x, &a->exchanges, entry)
		exchange_watch(x);
}

static int
agent_new(int fd)
{
	struct agent *a;

	if ((a = calloc(1, sizeof(*a))) == NULL)
		return -1;
	a->number = ++mitmd_env.last_agent;
	a->fd = fd;
	a->io.fd = -1;
	a->progress = loop_now(&mitmd_env.w.loop);
	TAILQ_INIT(&a->exchanges);
	TAILQ_INIT(&a->parked);
	TAILQ_INIT(&a->gone);
	buf_init(&a->in, MITMD_MAX_IN);
	buf_init(&a->out, MITMD_MAX_QUEUE);
	if (loop_add(&mitmd_env.w.loop, &a->io, fd, EPOLLIN, agent_ready, a) ==
	    -1) {
		free(a);
		return -1;
	}
	TAILQ_INSERT_TAIL(&mitmd_env.agents, a, entry);
	mitmd_env.nagents++;
	agent_enter(a, AGENT_CONNECT, MITMD_CONNECT_MS);
	return 0;
}

/* No descriptor is left: who waits, waits until one of ours is closed. */
static void
agent_full(struct loop_io *io)
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
agent_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	(void)events;
	for (int i = 0; i < AGENT_ACCEPTS; i++) {
		fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1) {
			if (errno == EMFILE || errno == ENFILE)
				agent_full(io);
			return;
		}
		if (mitmd_env.nagents >= MITMD_MAX_AGENTS ||
		    agent_new(fd) == -1) {
			connect_busy(fd);
			close(fd);
		}
	}
}
