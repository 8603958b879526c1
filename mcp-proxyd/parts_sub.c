/* SPDX-License-Identifier: ISC */
/*
 * The addresses of resources as agents have them, and subscriptions that are a
 * part of another request.
 */
#include "proxy.h"

#include <string.h>

#include "common/log.h"

uint16_t
parts_server(const struct proxy *p, struct span uri, struct span *own)
{
	const struct span scheme = SPAN(PARTS_SCHEME);
	const struct proxy_server *s;

	if (uri.len > PARTS_URI || !span_starts(uri, scheme))
		return PROTO_NO_SERVER;
	uri.p += scheme.len;
	uri.len -= scheme.len;
	for (uint16_t i = 0; i < p->nservers; i++) {
		s = &p->servers[i];
		if (!s->used || uri.len <= s->name.len + 1 ||
		    !span_starts(uri, s->name) || uri.p[s->name.len] != '/')
			continue;
		*own =
		    span_of(uri.p + s->name.len + 1, uri.len - s->name.len - 1);
		return i;
	}
	return PROTO_NO_SERVER;
}

int
parts_subscribe(struct agent *a, const struct jsonrpc_id *id, struct span uri,
    void (*decided)(struct call *, bool good, bool listening))
{
	struct proxy *p = a->p;
	struct value *o = value_new(p->pool, VALUE_OBJECT);
	struct msg_CALL msg = {
	    .tool = SPAN(PARTS_SUBSCRIBE), .modern = true, .state = SPAN("")};
	struct span own;
	struct call *c;

	msg.server = parts_server(p, uri, &own);
	if (msg.server == PROTO_NO_SERVER ||
	    memchr(own.p, '\0', own.len) != NULL || o == NULL ||
	    value_set(o, SPAN("uri"), value_new_string(p->pool, own)) == -1)
		return -1;
	buf_reset(&p->tree, 2 * LINES_READ);
	if (value_encode(o, &p->tree) == -1)
		return -1;
	msg.args = buf_span(&p->tree);
	if (!calls_admit(p, msg.server, msg.args.len))
		return -1;
	c = calls_new(a, CALL_TOOL, msg.server, msg.args.len, id);
	c->part = PROTO_PART_SUBSCRIBE;
	c->modern = true;
	c->decided = decided;
	if ((c->asked = strndup((const char *)own.p, own.len)) == NULL)
		fatal("strndup");
	(void)span_copy(msg.tool, c->name, sizeof(c->name));
	msg.id = c->id;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_CALL, &msg, -1);
	return 0;
}
