/* SPDX-License-Identifier: ISC */
/*
 * The messages of dialerd: the targets before START, then one DIAL after
 * another. The channel of a request decides which keyd's target is meant; the
 * keyd chooses only between its hosts and its token endpoint.
 */
#include "dialerd/dialerd.h"

#include <unistd.h>

#include "common/forge/hosts.h"
#include "common/log.h"

/* Returns the role that has this index: in a session, always a keyd. */
static enum role
serve_asker(unsigned index)
{
	if (dialerd_env.w.peers[ROLE_META][index] != NULL)
		return ROLE_META;
	return dialerd_env.w.peers[ROLE_GRANT][index] != NULL ? ROLE_GRANT
							      : ROLE_KEY;
}

static int
serve_target(struct chan *c, const struct msg_TARGET *m)
{
	struct target *t =
	    &dialerd_env.targets[dial_target(m->index, m->which)];

	if (t->set)
		return chan_violation(c, "TARGET %u twice", m->index);
	/* The first login at a remote MCP server may come in a session. */
	if (dialerd_env.w.started &&
	    (!dialerd_env.open || (m->index < PROTO_FIRST_ADDED &&
				      m->which != PROTO_TARGET_TOKEN)))
		return chan_violation(c, "TARGET %u in a session", m->index);
	if (m->port == 0 || m->host.len == 0 ||
	    span_copy(m->host, t->host, sizeof(t->host)) == -1)
		return chan_violation(c, "TARGET %u is impossible", m->index);
	t->port = m->port;
	t->private_ok = m->private_ok != 0;
	t->role = serve_asker(m->index);
	t->index = m->index;
	t->literal = target_literal(t);
	t->set = true;
	if (dialerd_env.w.started) {
		resolve_declare(dial_target(m->index, m->which));
		untargeted_begin(m->index, m->which);
	}
	return 0;
}

static int
serve_dial(struct chan *c, const struct msg_DIAL *m)
{
	const unsigned key = chan_index(c);

	if (!dial_has_target(key, m->which, chan_peer(c)))
		return untargeted_keep(c, m)
			   ? 0
			   : chan_violation(c, "%s %u has no target %u",
				 role_name(chan_peer(c)), key, m->which);
	if (dial_start(dial_target(key, m->which), m->id, m->avoid) == -1)
		return chan_violation(c, "DIAL repeated, or too many");
	return 0;
}

static int
serve_seal(struct chan *c, const struct msg_SEAL *m)
{
	dialerd_env.open = m->open != 0;
	return 0;
}

static int
serve_door(struct chan *c, const struct msg_DOOR *m)
{
	struct egress_list *l = &dialerd_env.doors[m->server];
	char host[EGRESS_MAX_HOST + 1];

	/* A service is one address: nothing resolves a name for it. */
	if (m->server == PROTO_SERVICES &&
	    (egress_host(m->host, host) == -1 || !egress_is_address(host)))
		return chan_violation(c, "DOOR to a service without address");
	if (egress_add(l, m->host, m->port, m->denied != 0) == -1)
		return chan_violation(c, "DOOR is impossible, or too many");
	l->private_ok = m->private_ok != 0;
	dialerd_env.door_set[m->server] = true;
	return 0;
}

/* The hosts of redirects are compiled in: no setting adds one. */
static void
serve_follows(void)
{
	struct egress_list *l = &dialerd_env.doors[PROTO_FOLLOWS];

	if (dialerd_env.w.peers[ROLE_FOLLOW][0] == NULL)
		return;
	for (const char *const *h = forge_hosts; *h != NULL; h++)
		if (egress_add(l, span_str(*h), 443, false) == -1)
			fatalx("bug: a host of redirects that is none");
	dialerd_env.door_set[PROTO_FOLLOWS] = true;
}

static void
serve_start(void)
{
	serve_follows();
	own_start();
	resolve_start();
}

/* Returns the dial, or NULL if it was given up meanwhile. */
static struct dial *
serve_tunnel(uint32_t tunnel)
{
	struct dial *d;

	TAILQ_FOREACH (d, &dialerd_env.dials, entry)
		if (d->state == DIAL_TUNNEL && d->tunnel == tunnel)
			return d;
	return NULL;
}

static int
serve_tunneled(struct chan *c, const struct msg_TUNNELED *m, int fd)
{
	uint32_t id = m->id;
	struct dial *d;

	if (id == 0 || id > dialerd_env.tunnel) {
		close(fd);
		return chan_violation(c, "TUNNELED %u was not asked for", id);
	}
	if ((d = serve_tunnel(id)) == NULL)
		close(fd);
	else
		dial_done(d, fd);
	dial_next();
	return 0;
}

static int
serve_tunnel_fail(struct chan *c, const struct msg_TUNNEL_FAIL *m)
{
	struct dial *d;
	char text[257];

	if (m->id == 0 || m->id > dialerd_env.tunnel)
		return chan_violation(
		    c, "TUNNEL_FAIL %u was not asked for", m->id);
	if ((d = serve_tunnel(m->id)) != NULL) {
		(void)span_copy(m->text, text, sizeof(text));
		dial_refuse(d, (enum proto_proxy)m->proxy, text);
	}
	dial_next();
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(TARGET,		serve_target),
	HANDLER(VIA_PROXY,	dialerd_proxy),
	HANDLER(TUNNELED,	serve_tunneled),
	HANDLER(TUNNEL_FAIL,	serve_tunnel_fail),
	HANDLER(SEAL,		serve_seal),
	HANDLER(DIAL,		serve_dial),
	HANDLER(DOOR,		serve_door),
	HANDLER(SERVICE_OWN,	own_add),
	HANDLER(CONNECT_GO,	dialerd_connect),
	HANDLER(FOLLOW_DIAL,	dialerd_follow),
};
/* clang-format on */

static void
serve_lost(enum role role, unsigned index)
{
	untargeted_drop(role, index);
	dial_drop(role, index);
	if (role == ROLE_EGRESS && index == PROTO_SERVICES)
		own_drop();
}

static void
serve_after(void *arg)
{
	dial_reap();
}

void
dialerd_serve(void)
{
	struct dialerd_env *e = &dialerd_env;

	TAILQ_INIT(&e->dials);
	TAILQ_INIT(&e->dead_dials);
	e->resolved = dial_resolved;
	e->w.start = serve_start;
	e->w.lost = serve_lost;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
