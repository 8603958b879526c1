/* SPDX-License-Identifier: ISC */
/*
 * mitmd's messages: providers, placeholder keys, the seal and the listener
 * before START, streams and refusals after it. Owns the table of providers.
 * Trusts icsupervisor's configuration; accepts from keyd and auditd only
 * messages for a connection that waits for them.
 */
#include "mitmd.h"

#include <sys/random.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "body.h"
#include "common/log.h"
#include "tls.h"

/* Returns true if another provider has one of its hosts. */
static bool
serve_is_taken(const struct provider *p)
{
	const struct provider *q;

	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		q = mitmd_env.providers[i].p;
		if (mitmd_env.providers[i].dropped)
			continue;
		for (unsigned k = 0; q != NULL && k < q->nhosts; k++)
			for (unsigned n = 0; n < p->nhosts; n++)
				if (span_eq(q->hosts[k], p->hosts[n]))
					return true;
	}
	return false;
}

static int
on_provider(struct chan *c, const struct msg_PROVIDER *m)
{
	struct mitmd_provider *pv = &mitmd_env.providers[m->index];
	struct provider *p;
	char err[512];

	/*
	 * Initial providers come before the list is sealed, added ones after.
	 */
	if (pv->p != NULL ||
	    mitmd_env.sealed != (m->index >= PROTO_FIRST_ADDED))
		return chan_violation(
		    c, "PROVIDER %u sealed or twice", m->index);
	if ((p = provider_parse(m->json, err, sizeof(err))) == NULL)
		return chan_violation(c, "PROVIDER %u: %s", m->index, err);
	if (serve_is_taken(p)) {
		provider_free(p);
		return chan_violation(c, "PROVIDER %u: host twice", m->index);
	}
	if (!mitmd_env.sealed) {
		pv->p = p;
	} else if (added_take(pv, p) == -1) {
		provider_free(p);
		return chan_violation(
		    c, "PROVIDER %u: %s", m->index, strerror(errno));
	} else {
		connect_opened(p);
	}
	return 0;
}

static int
on_sentinel(struct chan *c, const struct msg_SENTINEL *m)
{
	struct mitmd_provider *pv = &mitmd_env.providers[m->provider];

	if (pv->p == NULL || pv->keyed || m->key.len < 16)
		return chan_violation(c,
		    "SENTINEL %u: short, twice or of no "
		    "provider",
		    m->provider);
	mitmd_sha256(m->key, pv->sentinel);
	pv->keyed = true;
	return 0;
}

/* Make a leaf for each host, and a context that owns the leaf's key. */
static int
serve_contexts(struct mitmd_provider *pv)
{
	struct mitmd_leaf leaf;

	for (unsigned k = 0; pv->p != NULL && k < pv->p->nhosts; k++) {
		if (mitmd_ca_leaf(&mitmd_env.ca, pv->p->hosts[k], &leaf) == -1)
			return -1;
		pv->ctx[k] =
		    mitmd_tls_ctx(&leaf, &pv->p->hosts[k], pv->p->http1);
		mitmd_leaf_free(&leaf);
		if (pv->ctx[k] == NULL)
			return -1;
	}
	return 0;
}

/*
 * Make the leaves of the start list, unless they exist already. After that, a
 * closed list has no CA key any more.
 */
static void
serve_leaves(struct loop_turn *t)
{
	if (!mitmd_env.leafless)
		return;
	mitmd_env.leafless = false;
	loop_turn_del(&mitmd_env.w.loop, t);
	for (unsigned i = 0; i < PROTO_FIRST_ADDED; i++)
		if (serve_contexts(&mitmd_env.providers[i]) == -1)
			fatalx("OpenSSL makes no certificate: %s",
			    mitmd_tls_error());
	if (!mitmd_env.open)
		mitmd_ca_free(&mitmd_env.ca);
}

_Static_assert(
    PROTO_MAX_PROVIDERS *PROTO_MAX_HOSTS <= MITMD_CA_HOSTS, "a leaf for each");

static int
on_seal(struct chan *c, const struct msg_SEAL *m)
{
	static struct span hosts[MITMD_CA_HOSTS];
	const struct provider *p;
	struct msg_CA ca = {.der = {NULL, 0}};
	unsigned n = 0;

	if (mitmd_env.sealed)
		return chan_violation(c, "SEAL twice");
	mitmd_env.sealed = true;
	if (m->ask != 0 && m->open == 0)
		return chan_violation(c, "SEAL asks for hosts, and is closed");
	mitmd_env.open = m->open != 0;
	mitmd_env.asks_hosts = m->ask != 0;
	if (span_copy(m->unasked, mitmd_env.unasked,
		sizeof(mitmd_env.unasked)) == -1)
		return chan_violation(c, "SEAL: names that are not asked for");
	for (unsigned i = 0; i < PROTO_MAX_PROVIDERS; i++) {
		p = mitmd_env.providers[i].p;
		for (unsigned k = 0; p != NULL && k < p->nhosts; k++)
			hosts[n++] = p->hosts[k];
	}
	/* Without a provider there is no CA: every CONNECT is refused. */
	if (n != 0 || mitmd_env.open) {
		if (mitmd_ca_make(
			hosts, n, mitmd_env.open, &ca.der, &mitmd_env.ca) == -1)
			fatalx("OpenSSL makes no certificate: %s",
			    mitmd_tls_error());
		mitmd_env.leafless = true;
	}
	worker_send(&mitmd_env.w, ROLE_SUP, 0, MSG_CA, &ca, -1);
	OPENSSL_free((void *)(uintptr_t)ca.der.p);
	/* This turn begins once the CA, for which READY waits, is sent. */
	mitmd_env.leaves.fn = serve_leaves;
	if (mitmd_env.leafless)
		loop_turn_add(&mitmd_env.w.loop, &mitmd_env.leaves);
	return 0;
}

static int
on_bodies(struct chan *c, const struct msg_BODIES *m)
{
	if (m->bytes < PROVIDER_MAX_BODY + MITMD_HELD_READ)
		return chan_violation(c, "BODIES: too few for one");
	mitmd_env.max_held = (size_t)m->bytes;
	return 0;
}

static int
on_listen(struct chan *c, const struct msg_LISTEN *m, int fd)
{
	if (mitmd_env.listener != -1) {
		close(fd);
		return chan_violation(c, "LISTEN twice");
	}
	mitmd_env.listener = fd;
	return 0;
}

static int
on_stream(struct chan *c, const struct msg_STREAM *m, int fd)
{
	struct exchange *x;
	struct agent *a;

	if (chan_peer(c) == ROLE_FOLLOW) {
		reply_follow(m->stream, fd);
		return 0;
	}
	/* The agent may have left meanwhile. */
	if (m->stream == 0 || (x = exchange_find(m->stream)) == NULL ||
	    x->a->provider != chan_index(c)) {
		close(fd);
		return 0;
	}
	if (x->state != EXCHANGE_OPENING || x->up.fd != -1) {
		close(fd);
		return chan_violation(c, "STREAM %u twice", m->stream);
	}
	a = x->a;
	agent_hold(a);
	streams_exchange(x, fd);
	agent_leave(a);
	return 0;
}

static int
on_refused(struct chan *c, const struct msg_REFUSED *m)
{
	struct exchange *x;
	struct agent *a;

	if (m->stream == 0 || (x = exchange_find(m->stream)) == NULL ||
	    x->state != EXCHANGE_ON || x->up.exchange != m->exchange)
		return 0;
	a = x->a;
	agent_hold(a);
	switch ((enum proto_refused)m->reason) {
	case PROTO_REFUSED_AUDIT:
		ask_over(x, false);
		deny_exchange(x, REFUSE_AUDIT, NULL);
		break;
	case PROTO_REFUSED_GONE:
		ask_over(x, false);
		deny_exchange(x, REFUSE_GONE, NULL);
		break;
	case PROTO_REFUSED_DENIED:
		deny_asked(x, REFUSE_ASK_DENIED);
		break;
	case PROTO_REFUSED_EXPIRED:
		deny_asked(x, REFUSE_ASK_EXPIRED);
		break;
	case PROTO_REFUSED_HEADLESS:
		deny_asked(x, REFUSE_ASK_HEADLESS);
		break;
	case PROTO_REFUSED_ELSEWHERE:
		deny_asked(x, REFUSE_ASK_ELSEWHERE);
		break;
	case PROTO_REFUSED_LARGE:
		deny_asked(x, REFUSE_ASK_LARGE);
		break;
	}
	agent_leave(a);
	return 0;
}

static int
on_connection(struct chan *c, const struct msg_CONNECTION *m, int fd)
{
	agents_take_one(fd);
	return 0;
}

static void
serve_rehearse(struct loop_turn *t)
{
	mitmd_tls_rehearse();
}

static void
serve_start(void)
{
	static struct loop_turn rehearsal = {.fn = serve_rehearse};

	if (mitmd_env.listener == -1 || !mitmd_env.sealed)
		fatalx("START without a listener or before SEAL");
	serve_leaves(&mitmd_env.leaves);
	if (loop_add(&mitmd_env.w.loop, &mitmd_env.accept, mitmd_env.listener,
		EPOLLIN, agents_accept, NULL) == -1)
		fatal("listener");
	loop_turn_add(&mitmd_env.w.loop, &rehearsal);
}

void
mitmd_serve(void)
{
	/* clang-format off */
	static const struct chan_handler handlers[] = {
		HANDLER(PROVIDER,	on_provider),
		HANDLER(PROVIDER_DROP,	added_drop),
		HANDLER(SENTINEL,	on_sentinel),
		HANDLER(BODIES,		on_bodies),
		HANDLER(SEAL,		on_seal),
		HANDLER(LISTEN,		on_listen),
		HANDLER(CONNECTION,	on_connection),
		HANDLER(STREAM,		on_stream),
		HANDLER(REFUSED,	on_refused),
		HANDLER(HOST_SHUT_GO,	connect_shut),
	};
	/* clang-format on */
	uint64_t seed[2];

	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		fatal("getrandom");
	body_seed_set(seed);
	TAILQ_INIT(&mitmd_env.agents);
	mitmd_env.left.fn = agents_left;
	TAILQ_INIT(&mitmd_env.queued);
	TAILQ_INIT(&mitmd_env.spare);
	TAILQ_INIT(&mitmd_env.holding);
	mitmd_env.max_held = MITMD_MAX_HELD;
	mitmd_env.listener = -1;
	mitmd_env.accept.fd = -1;
	mitmd_env.w.start = serve_start;
	mitmd_env.w.caught_up = agents_drained;
	worker_serve(&mitmd_env.w, handlers, nitems(handlers));
}
