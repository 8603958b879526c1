/* SPDX-License-Identifier: ISC */
/*
 * Tunnels: accepted, opened when dialerd's socket arrives, then two buffers of
 * a fixed size. While a side does not take its bytes, the other is not read.
 * When one direction closes, that is passed on.
 */
#include "egressd/egressd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"

static void side_ready(struct loop_io *, uint32_t);
static void tunnel_late(struct loop_timer *);

static struct side *
side_other(struct side *s)
{
	return s == &s->t->in ? &s->t->up : &s->t->in;
}

static void
side_close(struct side *s)
{
	if (s->fd != -1) {
		loop_del(&egressd_env.w.loop, &s->io);
		close(s->fd);
	}
	s->fd = -1;
	buf_free(&s->out);
}

/* End the tunnel and record how it ended. */
static void
tunnel_end(struct tunnel *t, const char *error)
{
	struct egressd_env *e = &egressd_env;
	struct msg_CONNECT_END m = {.id = t->id,
	    .sent = t->up.taken,
	    .received = t->in.taken,
	    .error = span_str(error)};

	if (t->id != 0)
		worker_send(&e->w, ROLE_AUDIT, 0, MSG_CONNECT_END, &m, -1);
	t->id = 0;
	t->dead = true;
}

/* Read as much as fits. Returns false if the connection broke. */
static bool
side_read(struct side *s)
{
	struct buf *to = &side_other(s)->out;
	size_t free = EGRESSD_WINDOW - to->len;
	uint8_t *room;
	ssize_t n;

	if (s->eof || free == 0)
		return true;
	if ((room = buf_room(to, free)) == NULL)
		fatal("tunnel");
	n = read(s->fd, room, free);
	if (n == -1)
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
	struct span out = buf_span(&s->out);
	ssize_t n;

	if (out.len != 0) {
		n = send(s->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1)
			return errno == EAGAIN || errno == EINTR;
		buf_drain(&s->out, (size_t)n);
		s->taken += (uint64_t)n;
	}
	if (s->out.len == 0 && side_other(s)->eof && !s->shut) {
		s->shut = true;
		(void)shutdown(s->fd, SHUT_WR);
	}
	return true;
}

static void
side_watch(struct side *s)
{
	uint32_t want = 0;

	if (s->fd == -1)
		return;
	if (s->t->state == TUNNEL_DIAL) {
		/* Only a hang-up matters here, and it ends the tunnel. */
		if (loop_mod(&egressd_env.w.loop, &s->io, 0) == -1)
			fatal("epoll");
		return;
	}
	if (s->t->state != TUNNEL_OPEN ||
	    (!s->eof && side_other(s)->out.len < EGRESSD_WINDOW))
		want = EPOLLIN;
	if (s->t->state == TUNNEL_OPEN && s->out.len != 0)
		want |= EPOLLOUT;
	if (loop_watch(
		&egressd_env.w.loop, &s->io, s->fd, want, side_ready, s) == -1)
		fatal("epoll");
}

static void
tunnel_time(struct tunnel *t, uint64_t ms)
{
	loop_timer_set(&egressd_env.w.loop, &t->timer, ms, tunnel_late, t);
}

static void
tunnel_move(struct tunnel *t)
{
	if (!side_read(&t->in) || !side_read(&t->up) || !side_write(&t->up) ||
	    !side_write(&t->in)) {
		tunnel_end(t, "a side broke the connection");
		return;
	}
	if (t->in.shut && t->up.shut)
		tunnel_end(t, "");
	else
		tunnel_time(t, EGRESSD_IDLE_MS);
}

/* Drop further input of a refused server, so that it can read the answer. */
static void
tunnel_drop(struct tunnel *t)
{
	uint8_t sink[4096];
	ssize_t n = read(t->in.fd, sink, sizeof(sink));

	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		t->dead = true;
}

static void
side_ready(struct loop_io *io, uint32_t events)
{
	struct side *s = io->arg;
	struct tunnel *t = s->t;

	if (t->dead)
		return;
	switch (t->state) {
	case TUNNEL_HEAD:
		egressd_env.head(t);
		if (t->state == TUNNEL_DIAL)
			tunnel_time(t, EGRESSD_DIAL_MS);
		break;
	case TUNNEL_DIAL:
		/* Only errors and hang-ups are reported here. */
		if (events & (EPOLLERR | EPOLLHUP))
			tunnel_end(t, "the server closed it");
		break;
	case TUNNEL_OPEN:
		tunnel_move(t);
		break;
	case TUNNEL_LINGER:
		tunnel_drop(t);
		break;
	}
	if (!t->dead) {
		side_watch(&t->in);
		side_watch(&t->up);
	}
}

static void
tunnel_late(struct loop_timer *timer)
{
	struct tunnel *t = timer->arg;

	switch (t->state) {
	case TUNNEL_HEAD:
		tunnel_refuse(t, 408, "No CONNECT came within 15 seconds.");
		break;
	case TUNNEL_DIAL:
		tunnel_refuse(t, 504,
		    "There is no connection after 65 "
		    "seconds. A retry may help.");
		break;
	case TUNNEL_OPEN:
		tunnel_end(t, "no byte for 10 minutes");
		break;
	case TUNNEL_LINGER:
		t->dead = true;
		break;
	}
}

void
tunnel_refuse(struct tunnel *t, unsigned status, const char *text)
{
	struct buf b;

	buf_init(&b, 32768);
	buf_printf(&b,
	    "HTTP/1.1 %u Refused\r\nContent-Type: text/plain\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
	    status, strlen(text) + 1, text);
	/* The answer fits any socket's buffer; otherwise the rest is lost. */
	(void)send(t->in.fd, buf_span(&b).p, buf_span(&b).len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	buf_free(&b);
	if (t->id != 0) {
		tunnel_end(t, text);
		t->dead = false;
	}
	(void)shutdown(t->in.fd, SHUT_WR);
	t->state = TUNNEL_LINGER;
	tunnel_time(t, EGRESSD_LINGER_MS);
	side_watch(&t->in);
}

struct tunnel *
tunnel_find(uint32_t id)
{
	struct tunnel *t;

	TAILQ_FOREACH (t, &egressd_env.tunnels, entry)
		if (t->id == id && t->state == TUNNEL_DIAL && !t->dead)
			return t;
	return NULL;
}

void
tunnel_open(struct tunnel *t, int fd)
{
	static const struct span yes =
	    SPAN("HTTP/1.1 200 Connection Established\r\n\r\n");

	t->up.fd = fd;
	buf_addspan(&t->in.out, yes);
	if (loop_add(&egressd_env.w.loop, &t->up.io, fd, EPOLLIN, side_ready,
		&t->up) == -1 ||
	    t->in.out.failed)
		fatal("tunnel");
	/* Do not count the answer as received bytes. */
	t->in.taken -= yes.len;
	t->state = TUNNEL_OPEN;
	tunnel_move(t);
	if (!t->dead) {
		side_watch(&t->in);
		side_watch(&t->up);
	}
}

static void
side_init(struct side *s, struct tunnel *t, int fd)
{
	s->t = t;
	s->fd = fd;
	s->io.fd = -1;
	buf_init(&s->out, EGRESSD_WINDOW);
}

/* A connection makes at least two messages, and few are pending. */
void
tunnel_listen(void)
{
	struct egressd_env *e = &egressd_env;
	bool takes =
	    e->ntunnels < EGRESSD_MAX_TUNNELS && !worker_is_behind(&e->w);

	if (e->accept.fd != -1 && loop_mod(&e->w.loop, &e->accept,
				      takes ? (uint32_t)EPOLLIN : 0) == -1)
		fatal("epoll");
}

void
tunnel_accept(struct loop_io *io, uint32_t events)
{
	struct egressd_env *e = &egressd_env;
	struct tunnel *t;
	int fd;

	fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	if ((t = calloc(1, sizeof(*t))) == NULL)
		fatal("calloc");
	side_init(&t->in, t, fd);
	side_init(&t->up, t, -1);
	TAILQ_INSERT_TAIL(&e->tunnels, t, entry);
	if (loop_add(&e->w.loop, &t->in.io, fd, EPOLLIN, side_ready, &t->in) ==
	    -1)
		fatal("epoll");
	tunnel_time(t, EGRESSD_HEAD_MS);
	e->ntunnels++;
	tunnel_listen();
}

void
tunnel_reap(void)
{
	struct egressd_env *e = &egressd_env;
	struct tunnel *t, *next;

	for (t = TAILQ_FIRST(&e->tunnels); t != NULL; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (!t->dead)
			continue;
		TAILQ_REMOVE(&e->tunnels, t, entry);
		loop_timer_clear(&e->w.loop, &t->timer);
		side_close(&t->in);
		side_close(&t->up);
		free(t);
		e->ntunnels--;
	}
	tunnel_listen();
}
