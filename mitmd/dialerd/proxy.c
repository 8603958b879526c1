/* SPDX-License-Identifier: ISC */
/*
 * Connections through a corporate proxy, if there is one. A dial connects to
 * the proxy, whose address may be private; then tunneld asks the proxy for the
 * host, and the connection comes back. The host's name is not resolved here:
 * the proxy must screen its addresses. Hosts that are addresses are screened as
 * always.
 */
#include "dialerd/dialerd.h"

#include <stdio.h>

#include "common/log.h"

int
dialerd_proxy(struct chan *c, const struct msg_VIA_PROXY *m)
{
	struct dialerd_env *e = &dialerd_env;
	struct target *t = &e->targets[DIALERD_PROXY];
	struct span rest = m->direct;
	const uint8_t *nl;
	size_t n;

	if (t->set)
		return chan_violation(c, "VIA_PROXY twice");
	if (m->port == 0 || egress_host(m->host, t->host) == -1)
		return chan_violation(c, "VIA_PROXY is impossible");
	while (rest.len != 0) {
		nl = memchr(rest.p, '\n', rest.len);
		if (nl == NULL ||
		    no_proxy_add(&e->direct,
			span_of(rest.p, (size_t)(nl - rest.p))) == -1)
			return chan_violation(c, "VIA_PROXY has a bad row");
		n = (size_t)(nl - rest.p) + 1;
		rest = span_of(rest.p + n, rest.len - n);
	}
	t->port = m->port;
	t->private_ok = true;
	t->role = ROLE_SUP;
	t->literal = target_literal(t);
	t->set = true;
	return 0;
}

bool
proxy_serves(const struct target *t)
{
	const struct dialerd_env *e = &dialerd_env;

	return e->targets[DIALERD_PROXY].set && !t->direct &&
	       !no_proxy_direct(&e->direct, t->host, t->port);
}

const char *
proxy_screen(const struct target *t)
{
	static char text[128];
	const char *what;

	what = t->literal ? screen_address(&t->addr.sa, t->private_ok)
			  : screen_name(span_str(t->host), t->private_ok);
	if (what == NULL)
		return NULL;
	snprintf(
	    text, sizeof(text), "the host is %s, which is not allowed", what);
	return text;
}

void
proxy_hand(struct dial *d, int fd)
{
	struct dialerd_env *e = &dialerd_env;
	const struct target *t = &e->targets[d->key];
	/* TLS and HTTP: a host is silent until it gets a request. */
	struct msg_TUNNEL m = {.id = ++e->tunnel,
	    .host = span_str(t->host),
	    .port = t->port,
	    .quiet = t->role != ROLE_EGRESS};

	d->tunnel = m.id;
	worker_send(&e->w, ROLE_TUNNEL, 0, MSG_TUNNEL, &m, fd);
}
