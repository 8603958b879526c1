/* SPDX-License-Identifier: ISC */
/*
 * dialerd's messages: the targets before START, one DIAL after the other from
 * then on.  Whose target is meant is decided by the channel that asks; the
 * keyd says only whether its provider or its token endpoint.
 */
#include "dialerd/dialerd.h"

#include <arpa/inet.h>

#include "common/log.h"

bool
target_literal(struct target *t)
{
	t->addr = (union addr){.in6 = {0}};
	if (inet_pton(AF_INET, t->host, &t->addr.in.sin_addr) == 1) {
		t->addr.sa.sa_family = AF_INET;
		t->addr.in.sin_port = htons(t->port);
		return true;
	}
	if (inet_pton(AF_INET6, t->host, &t->addr.in6.sin6_addr) == 1) {
		t->addr.sa.sa_family = AF_INET6;
		t->addr.in6.sin6_port = htons(t->port);
		return true;
	}
	return false;
}

static int
serve_target(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_TARGET *m = &msg->TARGET;
	struct target *t =
	    &dialerd_env.targets[dial_target(m->index, m->which)];

	(void)fd;
	if (t->set)
		return chan_violation(c, "TARGET %u twice", m->index);
	if (dialerd_env.w.started &&
	    (!dialerd_env.open || m->index < PROTO_FIRST_ADDED))
		return chan_violation(c, "TARGET %u in a session", m->index);
	if (m->port == 0 || m->host.len == 0 ||
	    span_copy(m->host, t->host, sizeof(t->host)) == -1)
		return chan_violation(c, "TARGET %u is impossible", m->index);
	t->port = m->port;
	t->private_ok = m->private_ok != 0;
	t->role = ROLE_KEY;
	t->index = m->index;
	t->literal = target_literal(t);
	t->set = true;
	if (dialerd_env.w.started)
		resolve_declare(dial_target(m->index, m->which));
	return 0;
}

static int
serve_seal(struct chan *c, const union proto_any *msg, int fd)
{
	(void)c;
	(void)fd;
	dialerd_env.open = msg->SEAL.open != 0;
	return 0;
}

static int
serve_door(struct chan *c, const union proto_any *msg, int fd)
{
	const struct msg_DOOR *m = &msg->DOOR;
	struct egress_list *l = &dialerd_env.doors[m->server];

	(void)fd;
	if (egress_add(l, m->host, m->port, m->denied != 0) == -1)
		return chan_violation(c, "DOOR is impossible, or too many");
	l->private_ok = m->private_ok != 0;
	return 0;
}

static const struct chan_handler serve_handlers[] = {
    {MSG_TARGET, serve_target},
    {MSG_VIA_PROXY, dialerd_proxy},
    {MSG_TUNNELED, dialerd_tunneled},
    {MSG_TUNNEL_FAIL, dialerd_tunnel_fail},
    {MSG_SEAL, serve_seal},
    {MSG_DIAL, dialerd_dial},
    {MSG_DOOR, serve_door},
    {MSG_CONNECT_GO, dialerd_connect},
};

static void
serve_lost(enum role role, unsigned index)
{
	log_info("%s %u is gone", role_name(role), index);
	dial_drop(role, index);
}

static void
serve_after(void *arg)
{
	(void)arg;
	dial_reap();
}

void
dialerd_serve(void)
{
	struct dialerd_env *e = &dialerd_env;

	TAILQ_INIT(&e->dials);
	TAILQ_INIT(&e->dead_dials);
	e->w.start = resolve_start;
	e->w.lost = serve_lost;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers,
	    sizeof(serve_handlers) / sizeof(serve_handlers[0]));
}
