/* SPDX-License-Identifier: ISC */
/*
 * After every HELLO: peers by the topology table, then configuration, each to
 * those whom it concerns.  The order is the one in which the receivers need
 * it; nothing waits but for rules, CA and credentials, at the end.
 */
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/jsonfile.h"
#include "domains.h"
#include "sup.h"
#include "topology.h"

static int
setup_pair(
    enum role a, unsigned ia, enum role b, unsigned ib, struct fault *fault)
{
	struct msg_PEER pa = {.role = (uint8_t)b, .index = (uint16_t)ib};
	struct msg_PEER pb = {.role = (uint8_t)a, .index = (uint16_t)ia};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1)
		return fault_errno(fault, "socketpair");
	child_send(a, ia, MSG_PEER, &pa, pair[0]);
	child_send(b, ib, MSG_PEER, &pb, pair[1]);
	return 0;
}

int
setup_peers(struct fault *fault)
{
	const struct topology_size size = sup_size();
	const struct topology_pair *p;
	unsigned na, nb;

	for (size_t i = 0; i < topology_npairs; i++) {
		p = &topology_pairs[i];
		na = topology_instances(p->a, &size);
		nb = topology_instances(p->b, &size);
		for (unsigned a = 0; a < na; a++)
			for (unsigned b = 0; b < nb; b++)
				if (topology_runs(p->a, a, &size) &&
				    topology_runs(p->b, b, &size) &&
				    setup_pair(p->a, a, p->b, b, fault) == -1)
					return -1;
	}
	return 0;
}

int
setup_peers_of(enum role role, unsigned index, struct fault *fault)
{
	const struct topology_pair *p;

	for (size_t i = 0; i < topology_npairs; i++) {
		p = &topology_pairs[i];
		if (p->a == role &&
		    setup_pair(role, index, p->b, 0, fault) == -1)
			return -1;
		if (p->b == role &&
		    setup_pair(p->a, 0, role, index, fault) == -1)
			return -1;
	}
	return 0;
}

static void
setup_log(void)
{
	struct msg_LOG log = {.seq = sup.session.seq,
	    .prev = span_of(sup.session.prev, sizeof(sup.session.prev)),
	    .sync = sup.config.sync};

	child_send(ROLE_AUDIT, 0, MSG_LOG, &log, sup.session.audit);
	sup.session.audit = -1;
	sup.logging = true;
}

static void
setup_protect(const char *path)
{
	struct msg_PROTECT m = {.path = span_str(path)};

	if (m.path.len != 0 && m.path.len <= 4096)
		child_send(ROLE_POLICY, 0, MSG_PROTECT, &m, -1);
}

static void
setup_view(unsigned i)
{
	const struct view *v = &sup.servers[i].view;
	struct msg_VIEW m = {.server = (uint16_t)i};

	for (unsigned k = 0; !sup.servers[i].def->internal && k < v->nrows;
	     k++) {
		m.path = span_str(v->rows[k].path);
		m.host = span_str(v->rows[k].host);
		m.kind = (uint8_t)v->rows[k].kind;
		child_send(ROLE_POLICY, 0, MSG_VIEW, &m,
		    fcntl(v->rows[k].fd, F_DUPFD_CLOEXEC, 0));
	}
}

static void
setup_server_rows(void)
{
	const struct server_def *d;
	struct msg_SERVER m;
	uint8_t command[32];

	for (unsigned i = 0; i < sup.nservers; i++) {
		d = sup.servers[i].def;
		memset(&m, 0, sizeof(m));
		m.index = (uint16_t)i;
		m.name = span_str(d->name);
		m.cwd = span_str(!d->sandboxed  ? sup.workspace_path
				 : d->workspace ? "/workspace"
						: "/");
		m.domains = span_str(d->domains != NULL ? d->domains : "");
		m.internal = d->internal;
		m.git = d->git;
		/* Our own file server is no stranger: it has no pins. */
		pins_command(&sup.servers[i], command);
		m.command = span_of(command, sizeof(command));
		m.trusted = config_trusts(&sup.config, d->name);
		child_send(ROLE_AUDIT, 0, MSG_SERVER, &m, -1);
		child_send(ROLE_POLICY, 0, MSG_SERVER, &m, -1);
		/* No name that an agent says leads to one of our own. */
		if (!d->internal)
			child_send(ROLE_PROXY, 0, MSG_SERVER, &m, -1);
	}
	domains_setup();
}

static void
setup_policy(void)
{
	struct msg_SETTINGS set = {.hold_ms = sup.config.hold_ms,
	    .ask = sup.opt.ask,
	    .redact = sup.config.redact,
	    .strict = sup.config.strict,
	    .home = span_str(sup.paths.user_home)};

	child_send(ROLE_POLICY, 0, MSG_SETTINGS, &set, -1);
	setup_protect(sup.paths.home);
	setup_protect(sup.session.dir);
	if (sup.config.file != NULL)
		setup_protect(sup.config.file);
	if (sup.defs.file != NULL)
		setup_protect(sup.defs.file);
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		if (sup.rules[k].path != NULL)
			setup_protect(sup.rules[k].path);
	setup_server_rows();
	for (unsigned i = 0; i < sup.nservers; i++)
		setup_view(i);
	pins_send();
	sup.rules_sent = rules_send(sup.rules);
}

/* Where a login is renewed: a target of its own. */
static void
setup_token(unsigned i)
{
	const struct provider *p = &sup.providers.list[i];
	bool own = p->config != NULL && p->config->token.set;
	const struct config_upstream *up =
	    own ? &p->config->token : &p->logins[p->login].token;
	struct msg_TOKEN m = {.host = span_str(up->host),
	    .port = up->port,
	    .tls = up->tls,
	    .path = span_str(up->prefix[0] != '\0' ? up->prefix : "/")};
	struct msg_TARGET t = {.index = (uint16_t)i,
	    .host = m.host,
	    .port = m.port,
	    .private_ok = own,
	    .which = PROTO_TARGET_TOKEN};

	child_send(ROLE_KEY, i, MSG_TOKEN, &m, -1);
	/* First to who is asked by the other. */
	child_send(ROLE_TUNNEL, 0, MSG_TARGET, &t, -1);
	child_send(ROLE_DIAL, 0, MSG_TARGET, &t, -1);
}

static void
setup_host(unsigned i, unsigned n)
{
	const struct provider *p = &sup.providers.list[i];
	const struct config_upstream *own =
	    config_upstream_of(p->config, n, p->hosts[n]);
	struct msg_UPSTREAM u = {.which = (uint8_t)n,
	    .host = span_str(own != NULL ? own->host : p->hosts[n]),
	    .port = own != NULL ? own->port : 443,
	    .tls = own != NULL ? own->tls : true,
	    .prefix = span_str(own != NULL ? own->prefix : ""),
	    .reuse = p->config == NULL || p->config->reuse};
	/* A gateway that the user named may be anywhere. */
	struct msg_TARGET t = {.index = (uint16_t)i,
	    .host = u.host,
	    .port = u.port,
	    .private_ok = own != NULL,
	    .which = (uint8_t)n};

	child_send(ROLE_KEY, i, MSG_UPSTREAM, &u, -1);
	child_send(ROLE_TUNNEL, 0, MSG_TARGET, &t, -1);
	child_send(ROLE_DIAL, 0, MSG_TARGET, &t, -1);
}

static void
setup_sentinel(unsigned i, enum role role, unsigned index)
{
	struct msg_SENTINEL m = {.provider = (uint16_t)i,
	    .key = span_str(sup.providers.list[i].key)};

	child_send(role, index, MSG_SENTINEL, &m, -1);
}

static void
setup_key(unsigned i)
{
	const struct provider *p = &sup.providers.list[i];
	struct msg_SECRET secret = {
	    .kind = (uint8_t)(p->login + 1), .again = credential_again(p)};

	for (unsigned n = 0; n < p->nhosts; n++)
		setup_host(i, n);
	if (p->env == NULL) {
		sup.keys[i].known = true;
		return;
	}
	if (p->captures)
		setup_sentinel(i, ROLE_KEY, i);
	if (p->login != -1)
		setup_token(i);
	if (p->waits) {
		sup.keys[i].known = true;
		sup.keys[i].state = PROTO_KEY_WAITING;
		return;
	}
	child_send(ROLE_KEY, i, MSG_SECRET, &secret, sup.keys[i].cred.fd);
	sup.keys[i].cred.fd = -1;
}

/* dialerd connects to it, tunneld asks it for hosts. */
static void
setup_proxy(void)
{
	struct proxy *p = &sup.proxy;
	struct msg_SECRET secret = {.kind = p->escaped};
	struct msg_VIA_PROXY m;

	if (!p->set)
		return;
	m = (struct msg_VIA_PROXY){.host = span_str(p->host),
	    .port = p->port,
	    .direct = span_str(p->direct)};
	child_send(ROLE_DIAL, 0, MSG_VIA_PROXY, &m, -1);
	child_send(ROLE_TUNNEL, 0, MSG_VIA_PROXY, &m, -1);
	if (p->cred.fd != -1)
		child_send(ROLE_TUNNEL, 0, MSG_SECRET, &secret, p->cred.fd);
	p->cred.fd = -1;
}

static void
setup_provider_file(unsigned i, struct msg_PROVIDER *m)
{
	const struct provider *p = &sup.providers.list[i];

	memset(m, 0, sizeof(*m));
	m->index = (uint16_t)i;
	m->name = span_str(p->name);
	m->json = span_of(p->json, p->json_len);
}

int
setup_provider(unsigned i, struct fault *fault)
{
	static const struct msg_START start;
	struct child *c = child_find(ROLE_KEY, i);
	struct msg_PROVIDER m;

	setup_provider_file(i, &m);
	child_send(ROLE_KEY, i, MSG_PROVIDER, &m, -1);
	/* dialerd knows where to before it is asked. */
	setup_key(i);
	if (setup_peers_of(ROLE_KEY, i, fault) == -1)
		return -1;
	setup_roots_of(i);
	child_send(ROLE_KEY, i, MSG_START, &start, -1);
	if (c != NULL && c->chan != NULL)
		chan_phase(c->chan, PHASE_RUN);
	/* The last: from here on the agent can reach it. */
	child_send(ROLE_MITM, 0, MSG_PROVIDER, &m, -1);
	return 0;
}

static void
setup_model(void)
{
	const struct msg_SEAL seal = {.open = sup.config.proxy_tools};
	struct msg_BODIES bodies = {
	    .bytes = (uint64_t)sup.config.held_mb << 20};
	struct msg_PROVIDER m;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		struct provider *p = &sup.providers.list[i];

		setup_provider_file(i, &m);
		child_send(ROLE_MITM, 0, MSG_PROVIDER, &m, -1);
		if (p->key != NULL)
			setup_sentinel(i, ROLE_MITM, 0);
		child_send(ROLE_KEY, i, MSG_PROVIDER, &m, -1);
		setup_key(i);
	}
	child_send(ROLE_MITM, 0, MSG_BODIES, &bodies, -1);
	child_send(ROLE_MITM, 0, MSG_SEAL, &seal, -1);
	child_send(ROLE_DIAL, 0, MSG_SEAL, &seal, -1);
}

/* The same rows to all: who asks, who connects, who asks the proxy. */
static void
setup_door(unsigned i)
{
	static const struct msg_LISTEN listen_msg;
	struct server *s = &sup.servers[i];
	const struct server_def *d = s->def;
	struct msg_DOOR m = {
	    .server = (uint16_t)i, .private_ok = d->egress->private_ok};

	for (unsigned k = 0; k < d->egress->n; k++) {
		m.host = span_str(d->egress->rows[k].host);
		m.port = d->egress->rows[k].port;
		m.denied = d->egress->rows[k].denied;
		child_send(ROLE_EGRESS, i, MSG_DOOR, &m, -1);
		child_send(ROLE_TUNNEL, 0, MSG_DOOR, &m, -1);
		child_send(ROLE_DIAL, 0, MSG_DOOR, &m, -1);
	}
	child_send(ROLE_EGRESS, i, MSG_LISTEN, &listen_msg, s->door);
	s->door = -1;
}

void
setup_config(void)
{
	static const struct msg_LISTEN listen_msg;

	/* The slowest first: mitmd makes keys meanwhile, policyd reads. */
	setup_model();
	setup_proxy();
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->egress != NULL)
			setup_door(i);
	setup_policy();
	setup_log();
	child_send(ROLE_PROXY, 0, MSG_LISTEN, &listen_msg, sup.listen_mcp);
	child_send(ROLE_MITM, 0, MSG_LISTEN, &listen_msg, sup.listen_mitm);
	sup.listen_mcp = sup.listen_mitm = -1;
	terminal_setup();
}

static void
setup_start_role(enum role role)
{
	static const struct msg_START start;
	struct child *c;

	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		if (c->role != role || c->chan == NULL)
			continue;
		child_send(role, c->index, MSG_START, &start, -1);
		chan_phase(c->chan, PHASE_RUN);
	}
}

void
setup_start(void)
{
	/* From the valves to the mouths: no word comes before its reader. */
	static const enum role order[] = {ROLE_AUDIT, ROLE_KEY, ROLE_TUNNEL,
	    ROLE_DIAL, ROLE_EGRESS, ROLE_POLICY, ROLE_BACK, ROLE_MITM,
	    ROLE_PROXY, ROLE_TERM};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		setup_start_role(order[i]);
	sup.started = true;
}
