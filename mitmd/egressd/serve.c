/* SPDX-License-Identifier: ISC */
/*
 * The messages of egressd: its list and listener before START, then the
 * outcomes of the connections that it asked for.
 */
#include "egressd/egressd.h"

#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "egressd/front.h"

/* The row is a service: all rows are. */
static int
serve_service(struct chan *c, const struct msg_DOOR *m)
{
	struct egressd_env *e = &egressd_env;
	const unsigned n = e->list.n;

	if ((n != 0 && !e->services) || n == PROTO_MAX_SERVICES ||
	    span_copy(m->name, e->names[n], sizeof(e->names[n])) == -1 ||
	    (m->key != 0 && front_add(n, m) == -1))
		return chan_violation(c, "DOOR of a service is impossible");
	e->services = true;
	e->head = service_read;
	return 0;
}

static int
serve_door(struct chan *c, const struct msg_DOOR *m)
{
	struct egress_list *l = &egressd_env.list;

	if (m->server == PROTO_SERVICES && serve_service(c, m) == -1)
		return -1;
	if (egress_add(l, m->host, m->port, m->denied != 0) == -1)
		return chan_violation(c, "DOOR is impossible, or too many");
	l->rows[l->n - 1].opaque = m->opaque != 0;
	l->private_ok = m->private_ok != 0;
	return 0;
}

static int
serve_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	if (egressd_env.listener != -1) {
		close(fd);
		return chan_violation(c, "LISTEN twice");
	}
	egressd_env.listener = fd;
	return 0;
}

/* Over TCP, gated has proven that the sandbox has made it. */
static int
serve_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	if (!egressd_env.services) {
		close(fd);
		return chan_violation(c, "CONNECTION of a server");
	}
	tunnel_take(fd);
	return 0;
}

static int
serve_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	struct tunnel *t = tunnel_find(m->id);

	if (t == NULL)
		close(fd); /* the server closed the connection meanwhile */
	else
		tunnel_open(t, fd);
	return 0;
}

static int
serve_logged_in(struct chan *c, const struct msg_LOGGED_IN *m, int fd)
{
	struct tunnel *t = tunnel_find(m->id);

	if (t == NULL || !t->front || t->cancels) {
		close(fd); /* the client closed the connection meanwhile */
		return 0;
	}
	return front_open(t, m->parameters, fd) == -1
		   ? chan_violation(c, "LOGGED_IN with bad parameters")
		   : 0;
}

static int
serve_login_fail(struct chan *c, const struct msg_LOGIN_FAIL *m)
{
	struct tunnel *t = tunnel_find(m->id);
	char text[401];

	(void)c;
	if (t == NULL || !t->front)
		return 0;
	(void)span_copy(m->text, text, sizeof(text));
	if (t->cancels)
		tunnel_end(t, text);
	else
		front_stop(t, text);
	return 0;
}

static int
serve_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	struct tunnel *t = tunnel_find(m->id);
	char text[300];

	if (t == NULL)
		return 0;
	snprintf(text, sizeof(text), "There is no connection: %.*s.",
	    (int)m->text.len, (const char *)m->text.p);
	tunnel_refuse(t, 502, text);
	return 0;
}

static int
serve_refused(struct chan *c, const struct msg_REFUSED *m)
{
	struct tunnel *t = tunnel_find(m->exchange);

	if (t != NULL)
		tunnel_refuse(t, 503,
		    "The audit log cannot be written, so "
		    "nothing is connected. Do not retry.");
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(DOOR,		serve_door),
	HANDLER(LISTEN,		serve_listen),
	HANDLER(CONNECTION,	serve_connection),
	HANDLER(DIALED,		serve_dialed),
	HANDLER(DIAL_FAIL,	serve_dial_fail),
	HANDLER(LOGGED_IN,	serve_logged_in),
	HANDLER(LOGIN_FAIL,	serve_login_fail),
	HANDLER(REFUSED,	serve_refused),
};
/* clang-format on */

static void
serve_start(void)
{
	struct egressd_env *e = &egressd_env;

	if (e->listener == -1 || loop_add(&e->w.loop, &e->accept, e->listener,
				     EPOLLIN, tunnel_accept, NULL) == -1)
		fatal("listener");
}

static void
serve_after(void *arg)
{
	tunnel_reap();
}

void
egressd_serve(void)
{
	struct egressd_env *e = &egressd_env;

	TAILQ_INIT(&e->tunnels);
	e->listener = -1;
	e->accept.fd = -1;
	e->head = connect_line;
	e->client = front_read;
	e->refuse = front_stop;
	e->first = first_read;
	e->spoken = first_spoken;
	e->w.start = serve_start;
	e->w.loop.after = serve_after;
	e->w.caught_up = tunnel_listen;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
