/* SPDX-License-Identifier: ISC */
/*
 * Services of the session's own. Nothing of the host connects into their
 * sandboxes: ic-bridge, in there, keeps a few connections to a listener that
 * dialerd has, as it does for published ports (common/publish_stream.h). A
 * connection of the agent takes one of them: dialerd writes the number of the
 * port, reads one byte, which says whether the service took it, and hands the
 * socket over. The program in the sandbox may be hostile: it can keep, send and
 * close what it likes on its own connections, and nothing else.
 */
#include "dialerd/dialerd.h"

#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/publish_stream.h"

struct own;

/* A connection of a sandbox. */
struct ready {
	int fd; /* -1: none */
	struct loop_io io;
	struct own *own;
};

struct own {
	char host[33];
	uint16_t port;
	int listener;
	struct loop_io io;
	struct ready ready[DIALERD_OWN_IDLE];
	unsigned nready;
	bool came;     /* its sandbox has connected */
	uint64_t last; /* when the last connection closed or was used, in ms */
};

/* A connection of the agent. */
struct ask {
	bool set;
	uint32_t id;
	struct own *own;
	int fd; /* -1: waits for a connection of the sandbox */
	struct loop_io io;
	struct loop_timer timer;
	uint64_t deadline;
};

static struct {
	struct own list[PROTO_MAX_SERVICES];
	unsigned n;
	struct ask asks[DIALERD_OWN_ASKS];
} own_env;

static void own_serve(struct own *);
static void ask_late(struct loop_timer *);

int
own_add(struct chan *c, const struct msg_SERVICE_OWN *m, int fd)
{
	struct own *o = &own_env.list[own_env.n];

	if (own_env.n == PROTO_MAX_SERVICES || m->host.len == 0 ||
	    m->port == 0 ||
	    span_copy(m->host, o->host, sizeof(o->host)) == -1) {
		close(fd);
		return chan_violation(
		    c, "SERVICE_OWN is impossible, or too many");
	}
	o->port = m->port;
	o->listener = fd;
	o->io.fd = -1;
	for (unsigned i = 0; i < DIALERD_OWN_IDLE; i++)
		o->ready[i] = (struct ready){
		    .fd = -1, .io = LOOP_IO_INIT, .own = o};
	own_env.n++;
	return 0;
}

/* Accept no more than there is room for: the others wait in the listener. */
static void
own_watch(struct own *o)
{
	if (loop_mod(&dialerd_env.w.loop, &o->io,
		o->nready < DIALERD_OWN_IDLE ? (uint32_t)EPOLLIN : 0) == -1)
		fatal("epoll");
}

/* Take the connection out of the list. Returns its descriptor. */
static int
ready_take(struct ready *r)
{
	const int fd = r->fd;

	loop_del(&dialerd_env.w.loop, &r->io);
	r->fd = -1;
	r->own->nready--;
	r->own->last = loop_now(&dialerd_env.w.loop);
	own_watch(r->own);
	return fd;
}

/* A byte before it was asked for one, or the end: it is of no use. */
static void
ready_event(struct loop_io *io, uint32_t events)
{
	(void)events;
	close(ready_take(io->arg));
}

static void
own_accept(struct loop_io *io, uint32_t events)
{
	struct own *o = io->arg;
	struct ready *r = o->ready;
	int fd;

	(void)events;
	fd = accept4(o->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd == -1)
		return;
	while (r->fd != -1)
		r++;
	if (loop_add(&dialerd_env.w.loop, &r->io, fd, EPOLLIN, ready_event,
		r) == -1) {
		close(fd);
		return;
	}
	r->fd = fd;
	o->came = true;
	o->nready++;
	own_watch(o);
	own_serve(o);
}

void
own_start(void)
{
	for (unsigned i = 0; i < own_env.n; i++)
		if (loop_add(&dialerd_env.w.loop, &own_env.list[i].io,
			own_env.list[i].listener, EPOLLIN, own_accept,
			&own_env.list[i]) == -1)
			fatal("epoll");
}

static void
ask_end(struct ask *a)
{
	loop_timer_clear(&dialerd_env.w.loop, &a->timer);
	if (a->fd != -1) {
		loop_del(&dialerd_env.w.loop, &a->io);
		close(a->fd);
	}
	a->set = false;
}

static void
ask_fail(struct ask *a, const char *why)
{
	const struct msg_DIAL_FAIL m = {.id = a->id, .text = span_str(why)};

	worker_send(&dialerd_env.w, ROLE_EGRESS, PROTO_SERVICES, MSG_DIAL_FAIL,
	    &m, -1);
	ask_end(a);
}

/* Hand the connection over. */
static void
ask_done(struct ask *a)
{
	const struct msg_DIALED m = {
	    .id = a->id, .address = span_str(a->own->host)};
	const int fd = a->fd;

	loop_del(&dialerd_env.w.loop, &a->io);
	a->fd = -1;
	worker_send(
	    &dialerd_env.w, ROLE_EGRESS, PROTO_SERVICES, MSG_DIALED, &m, fd);
	ask_end(a);
}

/* The sandbox says whether the service has taken it. */
static void
ask_event(struct loop_io *io, uint32_t events)
{
	struct ask *a = io->arg;
	uint8_t said;
	ssize_t n;

	(void)events;
	n = recv(a->fd, &said, 1, 0);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == 1 && said == PUBLISH_YES)
		ask_done(a);
	else if (n == 1)
		ask_fail(a, "nothing listens at this port in the service's "
			    "sandbox");
	else
		ask_fail(a, "the service's sandbox closed the connection");
}

/* Ask for the port, on this connection. Returns false if that is impossible. */
static bool
ask_send(struct ask *a, int fd)
{
	static const uint8_t first = 0; /* it has one port */

	if (send(fd, &first, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1 ||
	    loop_add(&dialerd_env.w.loop, &a->io, fd, EPOLLIN, ask_event, a) ==
		-1) {
		close(fd);
		return false;
	}
	a->fd = fd;
	return true;
}

/* Returns the time until the sandbox without connections counts as ended. */
static uint64_t
own_grace(const struct own *o, uint64_t now)
{
	if (!o->came || o->nready != 0)
		return DIALERD_OWN_MS;
	return o->last + DIALERD_GONE_MS > now
		   ? o->last + DIALERD_GONE_MS - now
		   : 0;
}

/* Wait for the sandbox to connect, or for the service to take it. */
static void
ask_time(struct ask *a)
{
	const uint64_t now = loop_now(&dialerd_env.w.loop);
	uint64_t ms = a->deadline > now ? a->deadline - now : 0;

	if (a->fd == -1 && own_grace(a->own, now) < ms)
		ms = own_grace(a->own, now);
	loop_timer_set(
	    &dialerd_env.w.loop, &a->timer, ms == 0 ? 1 : ms, ask_late, a);
}

static void
ask_late(struct loop_timer *t)
{
	struct ask *a = t->arg;
	const uint64_t now = loop_now(&dialerd_env.w.loop);

	if (a->fd == -1 && own_grace(a->own, now) == 0)
		ask_fail(a, "the service has ended");
	else if (now >= a->deadline)
		ask_fail(a, a->own->came
			? "the service took no connection within 60 seconds"
			: "the service has not started within 60 seconds");
	else
		ask_time(a);
}

/* Give connections of the sandbox to those that wait. */
static void
own_serve(struct own *o)
{
	struct ask *a = own_env.asks, *end = a + DIALERD_OWN_ASKS;
	struct ready *r;

	for (; a < end && o->nready != 0; a++) {
		if (!a->set || a->own != o || a->fd != -1)
			continue;
		for (r = o->ready; o->nready != 0 && a->fd == -1; r++)
			if (r->fd != -1)
				(void)ask_send(a, ready_take(r));
		ask_time(a);
	}
}

bool
own_dial(const char *host, uint16_t port, uint32_t id)
{
	const struct msg_DIAL_FAIL busy = {.id = id,
	    .text = SPAN("too many connections are being made at once")};
	struct own *o = own_env.list;
	struct ask *a = own_env.asks;

	while (o < own_env.list + own_env.n &&
	       (o->port != port || strcmp(o->host, host) != 0))
		o++;
	if (o == own_env.list + own_env.n)
		return false;
	while (a < own_env.asks + DIALERD_OWN_ASKS && a->set)
		a++;
	if (a == own_env.asks + DIALERD_OWN_ASKS) {
		worker_send(&dialerd_env.w, ROLE_EGRESS, PROTO_SERVICES,
		    MSG_DIAL_FAIL, &busy, -1);
		return true;
	}
	*a = (struct ask){.set = true,
	    .id = id,
	    .own = o,
	    .fd = -1,
	    .io = LOOP_IO_INIT,
	    .deadline = loop_now(&dialerd_env.w.loop) + DIALERD_OWN_MS};
	ask_time(a);
	own_serve(o);
	return true;
}

void
own_drop(void)
{
	for (unsigned i = 0; i < DIALERD_OWN_ASKS; i++)
		if (own_env.asks[i].set)
			ask_end(&own_env.asks[i]);
}
