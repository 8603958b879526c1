/* SPDX-License-Identifier: ISC */
/* Messages from icsupervisor to portd, all of which come before START. */
#include "workers/portd/portd.h"

#include <unistd.h>

#include "common/log.h"

static int
on_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	if (portd_env.box_listener != -1) {
		close(fd);
		return chan_violation(c, "LISTEN twice");
	}
	portd_env.box_listener = fd;
	return 0;
}

static int
on_peer_uid(struct chan *c, const struct msg_PEER_UID *m, int fd)
{
	if (portd_env.diag != -1) {
		close(fd);
		return chan_violation(c, "PEER_UID twice");
	}
	portd_env.diag = fd;
	portd_env.uid = m->uid;
	return 0;
}

static int
on_publish(struct chan *c, const struct msg_PUBLISH *m, int fd)
{
	struct port *p = &portd_env.ports[m->index];

	if (p->used || m->port == 0 || m->host_port == 0) {
		close(fd);
		return chan_violation(c, "PUBLISH twice, or without a port");
	}
	p->used = true;
	p->port = m->port;
	p->listener = fd;
	p->address = (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons(m->host_port),
	    .sin_addr = {.s_addr = htonl(m->address)}};
	p->use.index = m->index;
	p->use.port = m->port;
	return 0;
}

static int
on_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	box_take(fd);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(LISTEN,		on_listen),
	HANDLER(CONNECTION,	on_connection),
	HANDLER(PEER_UID,	on_peer_uid),
	HANDLER(PUBLISH,	on_publish),
};
/* clang-format on */

static void
serve_start(void)
{
	struct portd_env *e = &portd_env;

	if (e->box_listener == -1 || e->diag == -1)
		fatalx("START before LISTEN and PEER_UID");
	if (loop_add(&e->w.loop, &e->box_io, e->box_listener, EPOLLIN,
		box_accept, NULL) == -1)
		fatal("listener");
	for (size_t i = 0; i < nitems(e->ports); i++)
		if (e->ports[i].used &&
		    loop_add(&e->w.loop, &e->ports[i].io, e->ports[i].listener,
			EPOLLIN, browser_accept, &e->ports[i]) == -1)
			fatal("listener");
}

static void
serve_after(void *arg)
{
	/* A connection that ended makes room for one that waits. */
	conns_reap();
	box_match();
}

void
portd_serve(void)
{
	struct portd_env *e = &portd_env;

	TAILQ_INIT(&e->conns);
	e->box_listener = e->diag = -1;
	e->box_io.fd = -1;
	for (size_t i = 0; i < nitems(e->ports); i++)
		e->ports[i].listener = e->ports[i].io.fd = -1;
	for (size_t i = 0; i < nitems(e->idle); i++)
		e->idle[i].fd = e->idle[i].io.fd = -1;
	e->w.start = serve_start;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
