/* SPDX-License-Identifier: ISC */
/* Messages of the agent, which may be anything. */
#include "workers/acpd/acp_priv.h"

#include <stdio.h>

#include "common/log.h"

#define SHOWN 160
/* The text is read by the model, too. */
#define REFUSAL                                                                \
	"%s is not available: you run in a sandbox, and the editor's files "   \
	"and "                                                                 \
	"terminals are outside of it. Use your own tools on the workspace "    \
	"%s, "                                                                 \
	"and the MCP tools of the server ironcurtain for anything else. Do "   \
	"not "                                                                 \
	"retry"

static void
agent_updates(struct acp *a, const struct jsonrpc *m)
{
	static const char *const pieces[ACP_TEXTS] = {
	    "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"};
	struct acp_copy c = {.acp = a, .to_editor = true};
	const struct value *update = value_get(m->params, "update");
	struct span kind = value_str(update, "sessionUpdate");
	const struct acp_member *members = acp_update_find(kind);
	struct span id = value_str(m->params, "sessionId");
	struct value *o, *inner;
	char shown[SHOWN];

	if (members == NULL || id.p == NULL) {
		acp_note(a, true,
		    "an update of the agent is not passed on: \"%s\" is "
		    "unknown",
		    log_vis(kind, shown, sizeof(shown)));
		return;
	}
	for (size_t i = 0; i < ACP_TEXTS; i++)
		if (span_is(kind, pieces[i]))
			c.images = &a->texts[i];
	o = value_new(a->pool, VALUE_OBJECT);
	inner = acp_members(&c, update, members);
	if (o == NULL || inner == NULL ||
	    acp_put(a, inner, "sessionUpdate", kind) == -1 ||
	    acp_put(a, o, "sessionId", id) == -1 ||
	    value_set(o, SPAN("update"), inner) == -1) {
		acp_note(a, true, "an update of the agent is too large");
		return;
	}
	acp_to_editor(a, PROTO_ACP_UPDATE, 0, NULL, o);
}

static void
agent_asks(struct acp *a, const struct jsonrpc *m)
{
	static const struct acp_member members[] = {{"options", ACP_COPY},
	    {"sessionId", ACP_COPY}, {"toolCall", ACP_COPY}, {NULL, ACP_COPY}};
	const struct acp_copy c = {.acp = a, .to_editor = true};
	struct acp_call *call;
	struct value *o;

	if (acp_calls_by_id(&a->asks, &m->id) != NULL) {
		acp_agent_error(a, &m->id, JSONRPC_INVALID,
		    "a request with this id is waiting already");
		return;
	}
	if ((o = acp_members(&c, m->params, members)) == NULL) {
		acp_agent_error(
		    a, &m->id, JSONRPC_LIMIT, "the message is too large");
		return;
	}
	if ((call = acp_calls_new(&a->asks, &m->id)) == NULL) {
		acp_agent_error(a, &m->id, JSONRPC_LIMIT,
		    "too many requests are waiting for the editor");
		return;
	}
	acp_to_editor(a, PROTO_ACP_PERMISSION, call->n, NULL, o);
}

static void
agent_cancels(struct acp *a, const struct jsonrpc *m)
{
	const struct value *v = value_get(m->params, "requestId");
	struct jsonrpc_id id;
	struct acp_call *call;
	struct value *o;

	if (v == NULL || jsonrpc_id_set(&id, v) == -1 ||
	    (call = acp_calls_by_id(&a->asks, &id)) == NULL ||
	    (o = value_new(a->pool, VALUE_OBJECT)) == NULL)
		return;
	acp_to_editor(a, PROTO_ACP_CANCEL, call->n, NULL, o);
}

static void
agent_calls(struct acp *a, const struct jsonrpc *m)
{
	const bool request = m->kind == JSONRPC_REQUEST;
	char text[600], shown[SHOWN];

	if (!request && span_is(m->method, "session/update")) {
		agent_updates(a, m);
	} else if (request &&
		   span_is(m->method, "session/request_permission")) {
		agent_asks(a, m);
	} else if (!request && span_is(m->method, "$/cancel_request")) {
		agent_cancels(a, m);
	} else {
		log_vis(m->method, shown, sizeof(shown));
		if (span_starts(m->method, SPAN("fs/")) ||
		    span_starts(m->method, SPAN("terminal/")))
			a->ops->refused(a, m->method);
		else
			acp_note(a, true,
			    "the agent's %s is not passed on to the editor",
			    shown);
		snprintf(text, sizeof(text), REFUSAL, shown, a->paths.inside);
		if (request)
			acp_agent_error(a, &m->id, JSONRPC_METHOD, text);
	}
}

static void
agent_fails(struct acp *a, const struct jsonrpc *m, struct acp_call *call)
{
	struct value *e = value_new(a->pool, VALUE_OBJECT);

	if (e != NULL && acp_put_number(a, e, "code", m->error) == 0 &&
	    acp_put(a, e, "message", m->message) == 0)
		acp_to_editor(a, PROTO_ACP_ERROR, 0, &call->id, e);
}

static void
agent_answers(struct acp *a, const struct jsonrpc *m)
{
	const struct acp_copy c = {.acp = a, .to_editor = true};
	struct acp_call *call = acp_calls_answered(&a->calls, &m->id);
	struct value *o;

	if (call == NULL) {
		acp_note(a, true, "the agent answered what was not asked");
		return;
	}
	call->state = ACP_FREE;
	if (m->kind == JSONRPC_ERROR) {
		agent_fails(a, m, call);
		return;
	}
	o = span_is(span_str(call->method->name), "initialize")
		? acp_initialized(a, m->result)
		: acp_members(&c, m->result, call->method->result);
	if (o == NULL)
		acp_editor_error(a, &call->id, JSONRPC_INTERNAL,
		    "the agent's answer is too large, or of another version "
		    "of the protocol than 1");
	else
		acp_to_editor(a, PROTO_ACP_RESULT, 0, &call->id, o);
}

/* A line that cannot be read may be an answer: its request ends with it. */
static void
agent_broken(struct acp *a, struct idscan *scan, const char *why)
{
	struct jsonrpc_id id;
	struct acp_call *call;
	char shown[SHOWN];

	acp_note(a, true,
	    "a line of the agent is not passed on: %s. It begins: %s", why,
	    log_vis(span_of(scan->shown, scan->nshown), shown, sizeof(shown)));
	if (idscan_end(scan, &id) == -1)
		return;
	if (!scan->response) {
		acp_agent_error(a, &id, JSONRPC_INVALID, why);
	} else if ((call = acp_calls_answered(&a->calls, &id)) != NULL) {
		call->state = ACP_FREE;
		acp_editor_error(a, &call->id, JSONRPC_INTERNAL,
		    "the agent's answer cannot be read");
	}
}

void
acp_agent_line(struct acp *a, struct span line)
{
	struct idscan scan = {.ids = 0};
	struct jsonrpc m;

	if (line.len == 0)
		return;
	jsonrpc_read_repaired(a->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_REQUEST:
	case JSONRPC_NOTIFICATION:
		agent_calls(a, &m);
		break;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		agent_answers(a, &m);
		break;
	case JSONRPC_BAD:
		idscan_feed(&scan, line);
		agent_broken(a, &scan, m.why);
		break;
	}
	value_pool_reset(a->pool);
}

void
acp_agent_long(struct acp *a, struct idscan *scan)
{
	agent_broken(a, scan, "it is longer than 4 MiB");
	value_pool_reset(a->pool);
}
