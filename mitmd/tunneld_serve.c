/* SPDX-License-Identifier: ISC */
/*
 * tunneld's messages: the proxy and the credential before START, one TUNNEL
 * after the other from then on.
 */
#include "tunneld.h"

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

static const struct chan_handler serve_handlers[] = {
    {MSG_VIA_PROXY, serve_proxy},
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
