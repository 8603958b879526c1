/* SPDX-License-Identifier: ISC */
/*
 * The tool list as policyd published it, kept as the text that policyd composed
 * from decoded and pinned definitions.  An agent that asks before every server
 * has listed or failed waits for that, for at most 30 s from the start.
 */
#include "proxy.h"

/* Returns the length of "SERVER__", if the name begins so, or 0. */
static size_t
prefix_of(struct span name, struct span server)
{
	if (name.len < server.len + 3 || !span_starts(name, server) ||
	    memcmp(name.p + server.len, "__", 2) != 0)
		return 0;
	return server.len + 2;
}

/*
 * A tool is named server__tool; the longest server name that matches wins. A
 * long one may stand there shortened.
 */
uint16_t
tools_server_of(const struct proxy *p, struct span name, struct span *tool)
{
	uint16_t found = PROTO_NO_SERVER;
	size_t best = 0, n;

	for (uint16_t i = 0; i < p->nservers; i++) {
		const struct proxy_server *s = &p->servers[i];

		if (!s->used)
			continue;
		if ((n = prefix_of(name, s->name)) == 0)
			n = prefix_of(name, span_str(s->alias));
		if (n > best) {
			best = n;
			found = i;
		}
	}
	*tool = span_of(name.p + best, name.len - best);
	return found;
}

int
tools_set(struct proxy *p, const struct msg_TOOLS *m)
{
	bool complete = m->complete != 0, changed;
	struct span text = m->text;

	if (text.len < 2 || text.p[0] != '[' || text.p[text.len - 1] != ']' ||
	    memchr(text.p, '\n', text.len) != NULL)
		return -1;
	changed = !span_eq(buf_span(&p->tools), text);
	if (changed) {
		buf_reset(&p->tools, 0);
		buf_addspan(&p->tools, text);
		if (p->tools.failed)
			return -1;
		outputs_set(p, buf_span(&p->tools));
	}
	p->tools_known = true;
	p->tools_complete = complete;
	p->tools_ttl = m->ttl;
	for (struct agent *a = NULL;
	     changed && (a = agents_next(p, a)) != NULL;) {
		if (a->listed)
			answer_changed(a);
		listen_changed(a, 0);
	}
	for (size_t i = 0; complete && i < p->call_rows; i++) {
		struct call *c = &p->calls[i];

		if (c->id == 0 || c->kind != CALL_LIST)
			continue;
		answer_tools(c->agent, &c->rid, c->modern);
		calls_end(p, c);
	}
	return 0;
}

int
tools_ask(struct agent *a, const struct jsonrpc_id *id, bool modern)
{
	struct proxy *p = a->p;
	uint64_t now = loop_now(&p->w.loop);
	struct call *c;

	if (p->tools_complete || now >= p->list_until) {
		answer_tools(a, id, modern);
		return 0;
	}
	if (!calls_admit(p, PROTO_NO_SERVER, 0))
		return -1;
	c = calls_new(a, CALL_LIST, PROTO_NO_SERVER, 0, id);
	c->deadline = p->list_until;
	c->modern = modern;
	return 0;
}
