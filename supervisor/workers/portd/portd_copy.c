/* SPDX-License-Identifier: ISC */
/*
 * Copies bytes between a browser and the sandbox, through two buffers of a
 * fixed size. While one end does not take its bytes, the other is not read.
 * When one direction ends, that is passed on.
 */
#include "workers/portd/portd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/publish_stream.h"

static void side_ready(struct loop_io *, uint32_t);

static struct side *
side_other(struct side *s)
{
	return s == &s->conn->browser ? &s->conn->box : &s->conn->browser;
}

static void
side_init(struct side *s, struct conn *c, int fd)
{
	s->conn = c;
	s->fd = fd;
	s->io.fd = -1;
	buf_init(&s->out, PORTD_WINDOW);
}

static void
side_close(struct side *s)
{
	if (s->fd != -1) {
		loop_del(&portd_env.w.loop, &s->io);
		close(s->fd);
	}
	s->fd = -1;
	buf_free(&s->out);
}

static void
conn_end(struct conn *c)
{
	c->dead = true;
}

static void
conn_late(struct loop_timer *t)
{
	struct conn *c = t->arg;

	/* The sandbox does not answer: nothing in it can be reached. */
	if (c->state != CONN_OPEN) {
		c->port->use.silent++;
		port_news(c->port);
	}
	conn_end(c);
}

static void
conn_time(struct conn *c, uint64_t ms)
{
	loop_timer_set(&portd_env.w.loop, &c->timer, ms, conn_late, c);
}

static void
side_watch(struct side *s)
{
	const struct conn *c = s->conn;
	uint32_t want = 0;

	if (s->fd == -1)
		return;
	if (c->state == CONN_OPEN) {
		if (!s->eof && side_other(s)->out.len < PORTD_WINDOW)
			want |= EPOLLIN;
		if (s->out.len != 0)
			want |= EPOLLOUT;
	} else if (s == &c->box) {
		want = EPOLLIN;
	} else {
		/* Only a hang-up matters here, and it ends the connection. */
		if ((s->io.fd == -1 ? loop_add(&portd_env.w.loop, &s->io, s->fd,
					  0, side_ready, s)
				    : loop_mod(&portd_env.w.loop, &s->io, 0)) ==
		    -1)
			fatal("epoll");
		return;
	}
	if (loop_watch(&portd_env.w.loop, &s->io, s->fd, want, side_ready, s) ==
	    -1)
		fatal("epoll");
}

/* Read as much as fits. Returns false if the connection broke. */
static bool
side_read(struct side *s)
{
	struct buf *to = &side_other(s)->out;
	size_t room = PORTD_WINDOW - to->len;
	uint8_t *p;
	ssize_t n;

	if (s->eof || room == 0)
		return true;
	if ((p = buf_room(to, room)) == NULL)
		fatal("buffer");
	if ((n = read(s->fd, p, room)) == -1)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		s->eof = true;
	else
		buf_grow(to, (size_t)n);
	return true;
}

static bool
side_write(struct side *s)
{
	struct msg_PORT_USE *use = &s->conn->port->use;
	struct span out = buf_span(&s->out);
	ssize_t n;

	if (out.len != 0) {
		n = send(s->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1)
			return errno == EAGAIN || errno == EINTR;
		buf_drain(&s->out, (size_t)n);
		if (s == &s->conn->browser)
			use->sent += (uint64_t)n;
		else
			use->received += (uint64_t)n;
		port_news(s->conn->port);
	}
	if (s->out.len == 0 && side_other(s)->eof && !s->shut) {
		s->shut = true;
		(void)shutdown(s->fd, SHUT_WR);
	}
	return true;
}

static void
conn_move(struct conn *c)
{
	if (!side_read(&c->browser) || !side_read(&c->box) ||
	    !side_write(&c->box) || !side_write(&c->browser) ||
	    (c->browser.shut && c->box.shut)) {
		conn_end(c);
		return;
	}
	conn_time(c, PORTD_IDLE_MS);
}

/* ic-bridge says whether something listens on the port. */
static void
conn_answered(struct conn *c)
{
	uint8_t answer = PUBLISH_NO;
	ssize_t n = read(c->box.fd, &answer, 1);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n != 1 || answer != PUBLISH_YES) {
		c->port->use.silent++;
		port_news(c->port);
		conn_end(c);
		return;
	}
	c->state = CONN_OPEN;
	c->port->use.connections++;
	c->port->use.open++;
	port_news(c->port);
	conn_move(c);
}

static void
side_ready(struct loop_io *io, uint32_t events)
{
	struct side *s = io->arg;
	struct conn *c = s->conn;

	if (c->dead)
		return;
	if (c->state == CONN_OPEN)
		conn_move(c);
	else if (s == &c->box)
		conn_answered(c);
	else
		conn_end(c);
	if (!c->dead) {
		side_watch(&c->browser);
		side_watch(&c->box);
	}
}

void
conn_new(struct port *p, int fd)
{
	struct conn *c;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		fatal("calloc");
	c->port = p;
	side_init(&c->browser, c, fd);
	side_init(&c->box, c, -1);
	TAILQ_INSERT_TAIL(&portd_env.conns, c, entry);
	portd_env.nwait++;
	conn_time(c, PORTD_WAIT_MS);
	side_watch(&c->browser);
}

void
copy_ask(struct conn *c, int fd)
{
	c->state = CONN_ASKED;
	c->box.fd = fd;
	portd_env.nwait--;
	portd_env.nopen++;
	conn_time(c, PORTD_WAIT_MS);
	side_watch(&c->box);
}

void
conns_reap(void)
{
	struct conn *c, *next;

	for (c = TAILQ_FIRST(&portd_env.conns); c != NULL; c = next) {
		next = TAILQ_NEXT(c, entry);
		if (!c->dead)
			continue;
		TAILQ_REMOVE(&portd_env.conns, c, entry);
		if (c->state == CONN_OPEN) {
			c->port->use.open--;
			port_news(c->port);
		}
		if (c->state == CONN_WAIT)
			portd_env.nwait--;
		else
			portd_env.nopen--;
		loop_timer_clear(&portd_env.w.loop, &c->timer);
		side_close(&c->browser);
		side_close(&c->box);
		free(c);
	}
}
