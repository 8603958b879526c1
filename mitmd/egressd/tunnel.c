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

void
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

/* Returns the bytes that may be written to a side now. */
static struct span
side_ready_bytes(const struct side *s)
{
	struct span out = buf_span(&s->out);

	/* The host gets nothing that was not looked at. */
	if (s == &s->t->up && s->t->state != TUNNEL_OPEN && out.len > s->t->may)
		out.len = s->t->may;
	return out;
}

static bool
side_write(struct side *s)
{
	struct span out = side_ready_bytes(s);
	ssize_t n;

	if (out.len != 0) {
		n = send(s->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1)
			return errno == EAGAIN || errno == EINTR;
		buf_drain(&s->out, (size_t)n);
		s->taken += (uint64_t)n;
		if (s == &s->t->up && s->t->state != TUNNEL_OPEN)
			s->t->may -= (size_t)n;
	}
	if (s->out.len == 0 && side_other(s)->eof && !s->shut) {
		s->shut = true;
		(void)shutdown(s->fd, SHUT_WR);
	}
	return true;
}

/* Returns true if both sides are there. */
static bool
tunnel_connected(const struct tunnel *t)
{
	return t->state == TUNNEL_FIRST || t->state == TUNNEL_ANSWER ||
	       t->state == TUNNEL_AGAIN || t->state == TUNNEL_OPEN;
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
	if (!tunnel_connected(s->t) ||
	    (!s->eof && side_other(s)->out.len < EGRESSD_WINDOW))
		want = EPOLLIN;
	if (tunnel_connected(s->t) && side_ready_bytes(s).len != 0)
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
tunnel_write(struct tunnel *t)
{
	if (!side_write(&t->up) || !side_write(&t->in)) {
		tunnel_end(t, "a side broke the connection");
		return;
	}
	if (t->in.shut && t->up.shut)
		tunnel_end(t, "");
	else if (!egressd_env.services)
		tunnel_time(t, EGRESSD_IDLE_MS);
}

static void
tunnel_move(struct tunnel *t)
{
	if (!side_read(&t->in) || !side_read(&t->up))
		tunnel_end(t, "a side broke the connection");
	else
		tunnel_write(t);
}

/* Answer the CONNECT, and wait for a ClientHello. */
static void
tunnel_first(struct tunnel *t)
{
	const size_t waits = t->in.out.len;

	if (!side_read(&t->in) || !side_read(&t->up)) {
		tunnel_end(t, "a side broke the connection");
		return;
	}
	if (t->in.out.len != waits) {
		egressd_env.spoken(t);
		return;
	}
	if (t->in.out.len != 0 && !side_write(&t->in))
		tunnel_end(t, "a side broke the connection");
	else if (t->in.out.len == 0)
		egressd_env.first(t);
}

/*
 * Look for a second ClientHello behind the records that may precede it, which
 * can be sent.
 */
static void
tunnel_again(struct tunnel *t)
{
	struct span out = buf_span(&t->up.out);

	if (t->up.eof) {
		if (t->in.out.len == 0)
			tunnel_end(t, "the host closed it");
		return;
	}
	if (out.len != t->may)
		t->may +=
		    answer_skip(span_of(out.p + t->may, out.len - t->may));
	egressd_env.first(t);
}

/*
 * Pass the host's answer. If it is a HelloRetryRequest, what the server sends
 * then is judged; every other one opens the tunnel.
 */
static void
tunnel_answer(struct tunnel *t)
{
	const size_t waits = t->in.out.len;
	enum answer_result r = ANSWER_MORE;
	struct span got;

	if (!side_read(&t->in) || !side_read(&t->up)) {
		tunnel_end(t, "a side broke the connection");
		return;
	}
	if (t->state == TUNNEL_ANSWER) {
		got = buf_span(&t->in.out);
		if (got.len != waits)
			r = answer_feed(&t->answer,
			    span_of(got.p + waits, got.len - waits));
		if (r == ANSWER_OTHER || (r == ANSWER_MORE && t->up.eof)) {
			tunnel_pass(t);
			return;
		}
		if (r == ANSWER_RETRY)
			t->state = TUNNEL_AGAIN;
	}
	if (t->state == TUNNEL_AGAIN)
		tunnel_again(t);
	if (!t->dead && tunnel_connected(t))
		tunnel_write(t);
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
			tunnel_end(t, egressd_env.services
					  ? "the sandbox closed it"
					  : "the server closed it");
		break;
	case TUNNEL_FIRST:
		tunnel_first(t);
		break;
	case TUNNEL_ANSWER:
	case TUNNEL_AGAIN:
		tunnel_answer(t);
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
		tunnel_refuse(t, 408,
		    t->front ? "No login came within 15 seconds."
			     : "No CONNECT came within 15 seconds.");
		break;
	case TUNNEL_DIAL:
		tunnel_refuse(t, 504,
		    "There is no connection after 65 "
		    "seconds. A retry may help.");
		break;
	case TUNNEL_FIRST:
		tunnel_end(t, "no TLS ClientHello within 15 seconds");
		break;
	case TUNNEL_ANSWER:
	case TUNNEL_AGAIN:
	case TUNNEL_OPEN:
		tunnel_end(t, "no byte for 10 minutes");
		break;
	case TUNNEL_LINGER:
		t->dead = true;
		break;
	}
}

void
tunnel_stop(struct tunnel *t, struct span answer, const char *error)
{
	/* Nobody reads an answer of ours in a service's own protocol. */
	if (egressd_env.services && !t->front) {
		tunnel_end(t, error);
		return;
	}
	/* The answer fits any socket's buffer; otherwise the rest is lost. */
	if (answer.len != 0 && t->in.out.len == 0)
		(void)send(t->in.fd, answer.p, answer.len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (t->id != 0) {
		tunnel_end(t, error);
		t->dead = false;
	}
	side_close(&t->up);
	(void)shutdown(t->in.fd, SHUT_WR);
	t->state = TUNNEL_LINGER;
	tunnel_time(t, EGRESSD_LINGER_MS);
	side_watch(&t->in);
}

void
tunnel_refuse(struct tunnel *t, unsigned status, const char *text)
{
	tunnel_answer_stop(t, status, text, text);
}

void
tunnel_answer_stop(
    struct tunnel *t, unsigned status, const char *text, const char *error)
{
	struct buf b;

	if (t->front) {
		egressd_env.refuse(t, text);
		return;
	}
	buf_init(&b, 32768);
	buf_printf(&b,
	    "HTTP/1.1 %u Refused\r\nContent-Type: text/plain\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
	    status, strlen(text) + 1, text);
	tunnel_stop(t, buf_span(&b), error);
	buf_free(&b);
}

void
tunnel_pass(struct tunnel *t)
{
	t->state = TUNNEL_OPEN;
	tunnel_move(t);
}

void
tunnel_pass_hello(struct tunnel *t, size_t n)
{
	t->state = TUNNEL_ANSWER;
	t->may = n;
	tunnel_write(t);
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
	if (!egressd_env.services) {
		buf_addspan(&t->in.out, yes);
		/* Do not count the answer as received bytes. */
		t->in.taken -= yes.len;
	}
	if (loop_add(&egressd_env.w.loop, &t->up.io, fd, EPOLLIN, side_ready,
		&t->up) == -1 ||
	    t->in.out.failed)
		fatal("tunnel");
	if (t->opaque) {
		loop_timer_clear(&egressd_env.w.loop, &t->timer);
		tunnel_pass(t);
	} else {
		t->state = TUNNEL_FIRST;
		tunnel_time(t, EGRESSD_FIRST_MS);
		tunnel_first(t);
	}
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
static bool
tunnel_takes(void)
{
	const struct egressd_env *e = &egressd_env;

	return !worker_is_behind(&e->w) &&
	       (e->services ? service_takes()
			    : e->ntunnels < EGRESSD_MAX_TUNNELS);
}

void
tunnel_listen(void)
{
	struct egressd_env *e = &egressd_env;

	if (e->accept.fd != -1 &&
	    loop_mod(&e->w.loop, &e->accept,
		tunnel_takes() ? (uint32_t)EPOLLIN : 0) == -1)
		fatal("epoll");
}

static void
tunnel_new(int fd)
{
	struct egressd_env *e = &egressd_env;
	struct tunnel *t;

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
tunnel_take(int fd)
{
	/* Such a connection cannot wait in a listener. */
	if (egressd_env.ntunnels < PROTO_MAX_STREAMS)
		tunnel_new(fd);
	else
		close(fd);
}

void
tunnel_accept(struct loop_io *io, uint32_t events)
{
	int fd;

	fd = accept4(egressd_env.listener, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd != -1)
		tunnel_new(fd);
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
