/* SPDX-License-Identifier: ISC */
/*
 * Reads the request for a stream to a service of the agent: one byte, the index
 * of its row. The bytes behind it are the service's, and stay in the socket
 * until the service is connected. An index that is not there is refused, so
 * that nothing in the sandbox can name an address.
 */
#include "egressd/egressd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

bool
service_takes(void)
{
	const struct egressd_env *e = &egressd_env;
	const struct tunnel *t;
	unsigned dials = 0;

	if (e->ntunnels >= PROTO_MAX_STREAMS)
		return false;
	TAILQ_FOREACH (t, &e->tunnels, entry)
		if (t->state == TUNNEL_DIAL && !t->dead)
			dials++;
	return dials < EGRESSD_MAX_DIALS;
}

bool
service_full(unsigned service)
{
	const struct tunnel *t;
	unsigned n = 0;

	TAILQ_FOREACH (t, &egressd_env.tunnels, entry)
		if (t->id != 0 && t->service == service)
			n++;
	return n >= PROTO_MAX_STREAMS_EACH;
}

void
service_deny(struct tunnel *t, const char *code, const char *target)
{
	const struct msg_CONNECT_DENIED m = {
	    .code = span_str(code), .target = span_str(target)};

	worker_send(&egressd_env.w, ROLE_AUDIT, 0, MSG_CONNECT_DENIED, &m, -1);
	t->dead = true;
}

static void
service_asked(struct tunnel *t, unsigned n)
{
	struct egressd_env *e = &egressd_env;
	const struct egress_row *r;
	struct msg_CONNECT m;
	char text[16];

	if (n >= e->list.n) {
		snprintf(text, sizeof(text), "%u", n);
		service_deny(t, "index", text);
		return;
	}
	r = &e->list.rows[n];
	if (r->denied) {
		service_deny(t, "off", e->names[n]);
		return;
	}
	if (service_full(n)) {
		service_deny(t, "limit", e->names[n]);
		return;
	}
	t->service = n;
	(void)strlcpy(t->host, r->host, sizeof(t->host));
	t->port = r->port;
	t->opaque = true;
	if (e->logins[n]) {
		t->front = true;
		return;
	}
	t->id = ++e->last;
	t->state = TUNNEL_DIAL;
	m = (struct msg_CONNECT){
	    .id = t->id, .host = span_str(r->host), .port = r->port};
	worker_send(&e->w, ROLE_AUDIT, 0, MSG_CONNECT, &m, -1);
}

void
service_read(struct tunnel *t)
{
	uint8_t n;
	ssize_t got;

	if (t->front) {
		egressd_env.client(t);
		return;
	}
	got = read(t->in.fd, &n, 1);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == 1)
		service_asked(t, n);
	else
		t->dead = true;
}
