/* SPDX-License-Identifier: ISC */
/*
 * Reads the request for a tunnel: one CONNECT for a host and port of the
 * server's list, and nothing after it until it is answered.
 */
#include "egressd/egressd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

/* Write "This server may connect to a:443, *.b:443 only" and so on to `b`. */
static const char *
connect_list(struct buf *b)
{
	const struct egress_list *l = &egressd_env.list;

	buf_adds(b, "This server may connect to ");
	for (unsigned i = 0, n = 0; i < l->n && n < 32; i++) {
		if (l->rows[i].denied)
			continue;
		buf_printf(b, "%s%s:%u", n++ == 0 ? "" : ", ", l->rows[i].host,
		    l->rows[i].port);
	}
	buf_adds(b, " only. More hosts: sandbox.network.allowedDomains of its "
		    "entry in mcp-servers.json, then start a new session.");
	buf_addc(b, '\0');
	return b->failed ? "" : (const char *)buf_span(b).p;
}

static void
connect_denied(struct tunnel *t, const char *code, struct span target)
{
	struct msg_CONNECT_DENIED m = {.code = span_str(code)};
	struct buf b;

	m.target = span_of(target.p, target.len < 256 ? target.len : 256);
	if (target.len == 0 || memchr(target.p, '\0', m.target.len))
		m.target = SPAN("");
	worker_send(&egressd_env.w, ROLE_AUDIT, 0, MSG_CONNECT_DENIED, &m, -1);
	buf_init(&b, 16384);
	tunnel_refuse(t, 403, connect_list(&b));
	buf_free(&b);
}

static void
connect_head(struct tunnel *t, const struct http1_head *h)
{
	struct egressd_env *e = &egressd_env;
	char host[EGRESS_MAX_HOST + 1];
	struct msg_CONNECT m = {.port = 0};
	struct http1_body body;

	if (!span_is(h->method, "CONNECT")) {
		connect_denied(t, "method", h->target);
		return;
	}
	if (http1_request_body(h, &body) != HTTP1_OK || !body.done ||
	    t->up.out.len != h->size ||
	    egress_target(h->target, host, &m.port) == -1) {
		tunnel_refuse(t, 400,
		    "This is no CONNECT HOST:PORT. Do not "
		    "retry it as it is.");
		return;
	}
	if (!egress_allows(&e->list, host, m.port)) {
		connect_denied(t, "host", h->target);
		return;
	}
	(void)strlcpy(t->host, host, sizeof(t->host));
	t->port = m.port;
	t->opaque = egress_is_opaque(&e->list, host, m.port);
	t->id = m.id = ++e->last;
	m.host = span_str(host);
	t->state = TUNNEL_DIAL;
	worker_send(&e->w, ROLE_AUDIT, 0, MSG_CONNECT, &m, -1);
}

void
connect_line(struct tunnel *t)
{
	static struct http1_head head;
	struct buf *in = &t->up.out;
	uint8_t *room;
	ssize_t n;

	if ((room = buf_room(in, EGRESSD_MAX_HEAD - in->len)) == NULL)
		fatal("head");
	n = read(t->in.fd, room, EGRESSD_MAX_HEAD - in->len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		t->dead = true;
		return;
	}
	buf_grow(in, (size_t)n);
	switch (http1_request_more(buf_span(in), &t->seen, &head)) {
	case HTTP1_OK:
		connect_head(t, &head);
		buf_reset(in, 0);
		break;
	case HTTP1_MORE:
		if (in->len == EGRESSD_MAX_HEAD)
			tunnel_refuse(t, 431,
			    "The head of a CONNECT is at "
			    "most 8 KiB.");
		break;
	case HTTP1_BAD:
		tunnel_refuse(t, 400,
		    "This is no HTTP/1.1 request. Do not "
		    "retry it as it is.");
		break;
	}
}
