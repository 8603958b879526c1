/* SPDX-License-Identifier: ISC */
/*
 * Tells the workers of the model path about a provider: its file, its hosts,
 * its credential and its placeholder key.
 */
#include "core/sup.h"

#include <string.h>

void
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
	/* tunneld first, because dialerd asks it. */
	child_send(ROLE_TUNNEL, 0, MSG_TARGET, &t, -1);
	child_send(ROLE_DIAL, 0, MSG_TARGET, &t, -1);
}

/* Returns true for a remote server that may not have a private address. */
static bool
setup_is_public(const struct provider *p)
{
	return p->server != 0 && sup.servers[p->server - 1].def->remote->public;
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
	/* A gateway that the user named may have a private address. */
	struct msg_TARGET t = {.index = (uint16_t)i,
	    .host = u.host,
	    .port = u.port,
	    .private_ok = own != NULL && !setup_is_public(p),
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
	/* A remote server without a login has nobody yet who renews it. */
	if (p->login != -1 && (p->server == 0 || !p->waits))
		setup_token(i);
	if (p->waits) {
		sup.keys[i].known = true;
		sup.keys[i].state = PROTO_KEY_WAITING;
		return;
	}
	child_send(ROLE_KEY, i, MSG_SECRET, &secret, sup.keys[i].cred.fd);
	sup.keys[i].cred.fd = -1;
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
	/* dialerd must know the targets before keyd asks for them. */
	setup_key(i);
	if (setup_peers_of(ROLE_KEY, i, fault) == -1)
		return -1;
	setup_roots_of(i);
	child_send(ROLE_KEY, i, MSG_START, &start, -1);
	if (c != NULL && c->chan != NULL)
		chan_phase(c->chan, PHASE_RUN);
	/* Sent last: from here on the agent can reach the provider. */
	child_send(ROLE_MITM, 0, MSG_PROVIDER, &m, -1);
	return 0;
}

void
setup_providers(void)
{
	const struct msg_SEAL seal = {
	    .open = sup.config.proxy_tools || sup.config.asks_hosts,
	    .ask = sup.config.asks_hosts,
	    .unasked = span_str(adapter_unasked(&sup.adapter))};
	struct msg_SEAL dials = {.open = seal.open};
	struct msg_BODIES bodies = {
	    .bytes = (uint64_t)sup.config.held_mb << 20};
	struct msg_PROVIDER m;

	for (unsigned i = 0; i < sup.providers.n; i++) {
		struct provider *p = &sup.providers.list[i];

		setup_provider_file(i, &m);
		if (p->server == 0 && !provider_is(p, PROVIDER_POSTGRES))
			child_send(ROLE_MITM, 0, MSG_PROVIDER, &m, -1);
		if (provider_is(p, "forge"))
			child_send(ROLE_POLICY, 0, MSG_PROVIDER, &m, -1);
		if (p->key != NULL)
			setup_sentinel(i, ROLE_MITM, 0);
		child_send(ROLE_KEY, i, MSG_PROVIDER, &m, -1);
		setup_key(i);
		/* The first login of a remote server adds a target. */
		dials.open = dials.open || (p->server != 0 && p->waits);
	}
	child_send(ROLE_MITM, 0, MSG_BODIES, &bodies, -1);
	child_send(ROLE_MITM, 0, MSG_SEAL, &seal, -1);
	child_send(ROLE_DIAL, 0, MSG_SEAL, &dials, -1);
}
