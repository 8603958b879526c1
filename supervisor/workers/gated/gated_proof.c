/* SPDX-License-Identifier: ISC */
/*
 * Connections on their way to a proof. Whoever can reach a listener may
 * connect, so that few of them are kept, and the oldest makes room for a new
 * one: a flood cannot keep out ic-bridge, whose token comes with its first
 * packet.
 */
#include "workers/gated/gated.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static void
refused_tell(struct loop_timer *t)
{
	if (!gated_env.news)
		return;
	gated_env.news = false;
	worker_send(&gated_env.w, ROLE_SUP, 0, MSG_GATE_REFUSED,
	    &gated_env.refused, -1);
	loop_timer_set(&gated_env.w.loop, t, GATED_TELL_MS, refused_tell, NULL);
}

/* The first refusal is reported at once, later ones after a while. */
static void
refused_count(uint64_t *what)
{
	(*what)++;
	gated_env.news = true;
	if (gated_env.tell.at == 0)
		loop_timer_set(&gated_env.w.loop, &gated_env.tell, 1,
		    refused_tell, NULL);
}

/* Returns the connection, which the caller owns from now on. */
static int
unproven_forget(struct unproven *u)
{
	int fd = u->fd;

	loop_del(&gated_env.w.loop, &u->io);
	loop_timer_clear(&gated_env.w.loop, &u->late);
	explicit_bzero(u->got, sizeof(u->got));
	u->fd = -1;
	return fd;
}

static void
unproven_refuse(struct unproven *u, uint64_t *what)
{
	close(unproven_forget(u));
	refused_count(what);
}

static void
unproven_late(struct loop_timer *t)
{
	unproven_refuse(t->arg, &gated_env.refused.late);
}

/* Compare in a time that does not depend on where they differ. */
static bool
token_is(const uint8_t *got)
{
	volatile uint8_t differ = 0;

	for (size_t i = 0; i < GATE_TOKEN; i++)
		differ |= got[i] ^ gated_env.token[i];
	return differ == 0;
}

/* The token has come, or something of its length. */
static void
unproven_judge(struct unproven *u)
{
	struct msg_GATE_OPEN m = {.way = (uint8_t)u->way};

	if (!token_is(u->got)) {
		unproven_refuse(u, &gated_env.refused.wrong);
		return;
	}
	worker_send(&gated_env.w, ROLE_SUP, 0, MSG_GATE_OPEN, &m,
	    unproven_forget(u));
}

static void
unproven_ready(struct loop_io *io, uint32_t events)
{
	struct unproven *u = io->arg;
	ssize_t n;

	/* Bytes after the token are for another process. */
	n = recv(u->fd, u->got + u->len, GATE_TOKEN - u->len, 0);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Nothing was said: a look whether the port is open. */
	if (n == 0 && u->len == 0) {
		close(unproven_forget(u));
		return;
	}
	if (n <= 0) {
		unproven_refuse(u, &gated_env.refused.wrong);
		return;
	}
	u->len += (size_t)n;
	if (u->len == GATE_TOKEN)
		unproven_judge(u);
}

/* Returns a free place, if need be that of the oldest connection. */
static struct unproven *
unproven_place(void)
{
	struct unproven *u = &gated_env.unproven[0];

	for (size_t i = 0; i < GATED_MAX_UNPROVEN; i++) {
		if (gated_env.unproven[i].fd == -1)
			return &gated_env.unproven[i];
		if (gated_env.unproven[i].number < u->number)
			u = &gated_env.unproven[i];
	}
	unproven_refuse(u, &gated_env.refused.over);
	return u;
}

static void
proof_begin(enum gate_way way, int fd)
{
	struct unproven *u = unproven_place();

	u->fd = fd;
	u->way = way;
	u->number = ++gated_env.number;
	u->len = 0;
	if (loop_add(&gated_env.w.loop, &u->io, fd, EPOLLIN, unproven_ready,
		u) == -1)
		fatal("epoll");
	loop_timer_set(
	    &gated_env.w.loop, &u->late, GATED_PROOF_MS, unproven_late, u);
}

static void proof_accept(struct loop_io *, uint32_t);

static void
proof_watch(uint32_t events)
{
	for (size_t i = 0; i < GATE_WAYS; i++)
		if (gated_env.ways[i].fd != -1 &&
		    loop_watch(&gated_env.w.loop, &gated_env.ways[i].io,
			gated_env.ways[i].fd, events, proof_accept, NULL) == -1)
			fatal("listener");
}

/* Accept again once icsupervisor has taken what was sent. */
static void
proof_again(struct loop_timer *t)
{
	if (chan_queued(gated_env.w.sup) == 0)
		proof_watch(EPOLLIN);
	else
		loop_timer_set(&gated_env.w.loop, t, GATED_PAUSE_MS,
		    proof_again, NULL);
}

static void
proof_accept(struct loop_io *io, uint32_t events)
{
	enum gate_way way = GATE_CHECK;
	int fd;

	while (&gated_env.ways[way].io != io)
		way++;
	for (unsigned i = 0; i < GATED_ACCEPTS; i++) {
		if (chan_queued(gated_env.w.sup) != 0) {
			proof_watch(0);
			loop_timer_set(&gated_env.w.loop, &gated_env.pause,
			    GATED_PAUSE_MS, proof_again, NULL);
			return;
		}
		fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1)
			return;
		proof_begin(way, fd);
	}
}

void
proof_start(void)
{
	proof_watch(EPOLLIN);
}
