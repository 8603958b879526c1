/* SPDX-License-Identifier: ISC */
/*
 * The idle connections that ic-bridge keeps open to publish.sock. Any program
 * in the sandbox may be the peer, which makes no difference: what it can get
 * are the requests that a browser sends to that sandbox. One that says
 * anything before it is asked is closed.
 */
#include "workers/portd/portd.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"

static void
idle_close(struct idle *i)
{
	loop_del(&portd_env.w.loop, &i->io);
	close(i->fd);
	i->fd = -1;
}

/* The peer has closed it, or spoken out of turn. */
static void
idle_ready(struct loop_io *io, uint32_t events)
{
	idle_close(io->arg);
}

static struct idle *
idle_find(bool used)
{
	for (size_t i = 0; i < PORTD_MAX_IDLE; i++)
		if ((portd_env.idle[i].fd != -1) == used)
			return &portd_env.idle[i];
	return NULL;
}

void
box_take(int fd)
{
	struct idle *i = idle_find(false);

	if (i == NULL) {
		close(fd);
		return;
	}
	i->fd = fd;
	if (loop_add(
		&portd_env.w.loop, &i->io, fd, EPOLLIN, idle_ready, i) == -1)
		fatal("epoll");
}

void
box_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	for (unsigned n = 0; n < PORTD_ACCEPTS; n++) {
		fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd == -1)
			return;
		box_take(fd);
	}
}

/*
 * Take an idle connection and ask it for the port. Returns -1 if none is left.
 */
static int
idle_ask(uint8_t index)
{
	struct idle *i;
	int fd;

	while ((i = idle_find(true)) != NULL) {
		fd = i->fd;
		if (send(fd, &index, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) {
			idle_close(i);
			continue;
		}
		loop_del(&portd_env.w.loop, &i->io);
		i->fd = -1;
		return fd;
	}
	return -1;
}

void
box_match(void)
{
	struct conn *c;
	int fd;

	if (portd_env.nwait == 0)
		return;
	TAILQ_FOREACH (c, &portd_env.conns, entry) {
		if (c->dead || c->state != CONN_WAIT)
			continue;
		if (portd_env.nopen == PORTD_MAX_OPEN ||
		    (fd = idle_ask(c->port->use.index)) == -1)
			return;
		copy_ask(c, fd);
	}
}
