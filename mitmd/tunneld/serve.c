/* SPDX-License-Identifier: ISC */
/*
 * The messages of tunneld: the proxy, the credential and the lists of hosts
 * before START, then one TUNNEL after another.
 */
#include "tunneld/tunneld.h"

static int
serve_proxy(struct chan *c, const struct msg_VIA_PROXY *m)
{
	struct tunneld_env *e = &tunneld_env;

	if (e->port != 0)
		return chan_violation(c, "VIA_PROXY twice");
	if (m->port == 0 || egress_host(m->host, e->host) == -1)
		return chan_violation(c, "VIA_PROXY is impossible");
	e->port = m->port;
	return 0;
}

static int
serve_target(struct chan *c, const struct msg_TARGET *m)
{
	struct tunneld_env *e = &tunneld_env;
	struct hop *h = &e->hops[e->nhops];

	if (e->w.started && m->index < PROTO_FIRST_ADDED &&
	    m->which != PROTO_TARGET_TOKEN)
		return chan_violation(c, "TARGET %u in a session", m->index);
	if (e->nhops == TUNNELD_MAX_HOPS || m->port == 0 ||
	    egress_host(m->host, h->host) == -1)
		return chan_violation(c, "TARGET %u is impossible", m->index);
	h->port = m->port;
	e->nhops++;
	if (e->w.started)
		link_target();
	return 0;
}

static int
serve_door(struct chan *c, const struct msg_DOOR *m)
{
	if (m->server >= PROTO_MAX_SERVERS)
		return chan_violation(c, "DOOR to a service");
	if (egress_add(&tunneld_env.doors[m->server], m->host, m->port,
		m->denied != 0) == -1)
		return chan_violation(c, "DOOR is impossible, or too many");
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(VIA_PROXY,	serve_proxy),
	HANDLER(TARGET,		serve_target),
	HANDLER(DOOR,		serve_door),
	HANDLER(SECRET,		tunneld_secret),
	HANDLER(TUNNEL,		tunneld_tunnel),
};
/* clang-format on */

static void
serve_after(void *arg)
{
	link_reap();
}

void
tunneld_serve(void)
{
	struct tunneld_env *e = &tunneld_env;

	TAILQ_INIT(&e->links);
	TAILQ_INIT(&e->dead);
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
