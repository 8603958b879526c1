/* SPDX-License-Identifier: ISC */
/*
 * The messages of tunneld: the proxy, the credential and the lists of hosts
 * before START, then one TUNNEL after another.
 */
#include "tunneld/tunneld.h"

static int
serve_proxy(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_VIA_PROXY *m = &msg->VIA_PROXY;
	struct tunneld_env *e = &tunneld_env;

	(void)fd;
	if (e->port != 0)
		return chan_violation(c, "VIA_PROXY twice");
	if (m->port == 0 || egress_host(m->host, e->host) == -1)
		return chan_violation(c, "VIA_PROXY is impossible");
	e->port = m->port;
	return 0;
}

static int
serve_target(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_TARGET *m = &msg->TARGET;
	struct tunneld_env *e = &tunneld_env;
	struct hop *h = &e->hops[e->nhops];

	(void)fd;
	if (e->w.started && m->index < PROTO_FIRST_ADDED)
		return chan_violation(c, "TARGET %u in a session", m->index);
	if (e->nhops == TUNNELD_MAX_HOPS || m->port == 0 ||
	    egress_host(m->host, h->host) == -1)
		return chan_violation(c, "TARGET %u is impossible", m->index);
	h->port = m->port;
	e->nhops++;
	return 0;
}

static int
serve_door(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_DOOR *m = &msg->DOOR;

	(void)fd;
	if (egress_add(&tunneld_env.doors[m->server], m->host, m->port,
		m->denied != 0) == -1)
		return chan_violation(c, "DOOR is impossible, or too many");
	return 0;
}

static const struct chan_handler serve_handlers[] = {
    {MSG_VIA_PROXY, serve_proxy},
    {MSG_TARGET, serve_target},
    {MSG_DOOR, serve_door},
    {MSG_SECRET, tunneld_secret},
    {MSG_TUNNEL, tunneld_tunnel},
};

static void
serve_after(void *arg)
{
	(void)arg;
	link_reap();
}

void
tunneld_serve(void)
{
	struct tunneld_env *e = &tunneld_env;

	TAILQ_INIT(&e->links);
	TAILQ_INIT(&e->dead);
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers,
	    sizeof(serve_handlers) / sizeof(serve_handlers[0]));
}
