/* SPDX-License-Identifier: ISC */
/*
 * Requests that a person must approve: sent to policyd instead of auditd. The
 * body was held whole and its digest is part of the question; it waits here, or
 * in the socket until keyd reads it. After an approval keyd's answer comes as
 * usual; after a denial auditd reports it. The command list of a push is parsed
 * here, from the agent's bytes.
 */
#include "mitmd.h"

#include "wire/git_push.h"

_Static_assert(GIT_PUSH_MAX_TEXT == PROTO_MAX_REFS,
    "a list of refs that is accepted fits its message");

static const struct provider_route *
ask_route(const struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	return &p->routes[x->req.route];
}

bool
ask_wanted(const struct exchange *x)
{
	return ask_route(x)->ask && !x->probe;
}

enum refusal
ask_look(struct exchange *x, struct span body)
{
	const char *why = NULL;

	if (!ask_route(x)->push)
		return REFUSE_NONE;
	x->probe = span_is(body, GIT_PUSH_PROBE);
	if (x->probe)
		return REFUSE_NONE;
	buf_init(&x->push.refs, GIT_PUSH_MAX_REFUSED);
	if (git_push_read(body, true, &x->push, &why) == GIT_PUSH_OK)
		return REFUSE_NONE;
	x->req.why = why;
	return REFUSE_PUSH;
}

/* Send the tree of a request to a forge, which belongs to the next REQUEST_ASK.
 */
static void
ask_tree(const struct exchange *x, uint32_t id)
{
	struct msg_FORGE_TREE m = {.id = id};
	struct span rest = buf_span(&x->tree);

	while (rest.len != 0) {
		m.piece = rest;
		if (m.piece.len > PROTO_MAX_PIECE)
			m.piece.len = PROTO_MAX_PIECE;
		rest = span_of(
		    rest.p + m.piece.len, rest.len - m.piece.len);
		worker_send(
		    &mitmd_env.w, ROLE_POLICY, 0, MSG_FORGE_TREE, &m, -1);
	}
}

bool
ask_send(struct exchange *x, const struct msg_REQUEST *r)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct msg_REQUEST_ASK m = {F_REQUEST(PROTO_COPY, r)};

	m.refs = buf_span(&x->push.refs);
	m.name = p->name;
	m.host_name = mitmd_host(x->a);
	m.method = ask_route(x)->method;
	if (mitmd_env.asks >= PROTO_MAX_ASKS)
		return false;
	m.id = ++mitmd_env.last_ask;
	mitmd_env.asks++;
	x->ask = m.id;
	ask_tree(x, m.id);
	worker_send(&mitmd_env.w, ROLE_POLICY, 0, MSG_REQUEST_ASK, &m, -1);
	return true;
}

void
ask_over(struct exchange *x, bool cancel)
{
	struct msg_REQUEST_CANCEL m = {.id = x->ask};

	if (x->ask == 0)
		return;
	x->ask = 0;
	mitmd_env.asks--;
	if (cancel)
		worker_send(
		    &mitmd_env.w, ROLE_POLICY, 0, MSG_REQUEST_CANCEL, &m, -1);
}
