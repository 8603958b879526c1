/* SPDX-License-Identifier: ISC */
/* Messages of the editor. It belongs to the user, and may still be wrong. */
#include "workers/acpd/acp_priv.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

#define SHOWN 160

/* The editor's MCP servers would run in the sandbox: name them. */
static void
editor_servers(struct acp *a, const struct value *list)
{
	char text[400] = "", name[64];
	size_t n = 0;

	if (list == NULL || list->type != VALUE_ARRAY || list->child == NULL)
		return;
	for (const struct value *v = list->child; v != NULL; v = v->next)
		if (n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "%s%s", n == 0 ? "" : ", ",
			    log_vis(value_str(v, "name"), name, sizeof(name)));
	acp_note(a, false,
	    "MCP servers of the editor are not used: %s. The agent has those "
	    "of mcp-servers.json (icctl mcp)",
	    text);
}

/*
 * Compose the parameters. Returns NULL after `why` was filled in, or with `why`
 * empty if there is no room.
 */
static struct value *
editor_params(struct acp *a, const struct acp_method *method,
    const struct value *params, char *why, size_t cap)
{
	const struct acp_copy c = {.acp = a};
	struct value *o = acp_members(&c, params, method->params);
	const struct value *v;
	struct span path;
	char shown[SHOWN];

	why[0] = '\0';
	for (const struct acp_member *m = method->params;
	     o != NULL && m->name != NULL; m++) {
		v = value_get(params, m->name);
		if (m->rule == ACP_SERVERS) {
			editor_servers(a, v);
			if (value_set(o, span_str(m->name),
				value_new(a->pool, VALUE_ARRAY)) == -1)
				return NULL;
		} else if (m->rule == ACP_EXTRA && v != NULL &&
			   v->child != NULL) {
			acp_note(a, false,
			    "the agent sees the workspace only, and no further "
			    "directory of the editor");
		} else if (m->rule == ACP_CWD && v != NULL &&
			   v->type != VALUE_NULL) {
			if (v->type != VALUE_STRING ||
			    !acp_cwd(a, v->text, &path)) {
				snprintf(why, cap,
				    "the workspace of this session is %.200s, "
				    "which does not contain %s. Let the editor "
				    "run: icctl start --acp --workspace DIR",
				    a->paths.host[0],
				    log_vis(v->text, shown, sizeof(shown)));
				return NULL;
			}
			if (acp_put(a, o, m->name, path) == -1)
				return NULL;
		}
	}
	return o;
}

static void
editor_cancels(struct acp *a, const struct jsonrpc *m)
{
	const struct value *v = value_get(m->params, "requestId");
	struct jsonrpc_id id;
	struct acp_call *call;
	struct value *o;

	if (v == NULL || jsonrpc_id_set(&id, v) == -1 ||
	    (call = acp_calls_by_id(&a->calls, &id)) == NULL ||
	    (o = value_new(a->pool, VALUE_OBJECT)) == NULL ||
	    acp_put_number(a, o, "requestId", (int64_t)call->n) == -1)
		return;
	acp_to_agent(a, 0, m->method, o);
}

static void
editor_request(struct acp *a, const struct jsonrpc *m,
    const struct acp_method *method, struct value *params)
{
	struct acp_call *call;

	if (acp_calls_by_id(&a->calls, &m->id) != NULL) {
		acp_editor_error(a, &m->id, JSONRPC_INVALID,
		    "a request with this id is waiting already");
		return;
	}
	if ((call = acp_calls_new(&a->calls, &m->id)) == NULL) {
		acp_editor_error(a, &m->id, JSONRPC_LIMIT,
		    "too many requests are waiting for the agent");
		return;
	}
	call->method = method;
	/* Another turn, other texts. */
	if (span_is(m->method, "session/prompt")) {
		memset(a->texts, 0, sizeof(a->texts));
		a->ops->prompted(a);
	}
	acp_to_agent(a, call->n, m->method, params);
}

static void
editor_calls(struct acp *a, const struct jsonrpc *m)
{
	const struct acp_method *method = acp_method_find(m->method);
	const bool request = m->kind == JSONRPC_REQUEST;
	char why[600], shown[SHOWN];
	struct value *params;

	if (!request && span_is(m->method, "$/cancel_request")) {
		editor_cancels(a, m);
		return;
	}
	if (method == NULL || method->notification == request) {
		snprintf(why, sizeof(why),
		    "%s is not passed on to an agent in a sandbox",
		    log_vis(m->method, shown, sizeof(shown)));
		if (request)
			acp_editor_error(a, &m->id, JSONRPC_METHOD, why);
		return;
	}
	if (span_is(m->method, "initialize")) {
		params = acp_initialize(a, &m->id, m->params);
		if (params == NULL)
			return;
	} else if ((params = editor_params(
			a, method, m->params, why, sizeof(why))) == NULL ||
		   acp_inbox_name(a, params) == -1) {
		if (request)
			acp_editor_error(a, &m->id, JSONRPC_PARAMS,
			    why[0] != '\0' ? why : "the message is too large");
		return;
	}
	if (request)
		editor_request(a, m, method, params);
	else
		acp_to_agent(a, 0, m->method, params);
}

/* The answer to a permission request: a chosen option, or none. */
static void
editor_answers(struct acp *a, const struct jsonrpc *m)
{
	struct acp_call *call = acp_calls_answered(&a->asks, &m->id);
	const struct value *outcome = value_get(m->result, "outcome");
	struct span option = value_str(outcome, "optionId");
	struct value *o, *inner;
	bool chosen;

	if (call == NULL) {
		acp_note(a, false, "the editor answered what was not asked");
		return;
	}
	call->state = ACP_FREE;
	if (m->kind == JSONRPC_ERROR) {
		acp_agent_error(a, &call->id, m->error,
		    "the editor could not ask its user");
		return;
	}
	chosen = span_is(value_str(outcome, "outcome"), "selected") &&
		 option.p != NULL;
	o = value_new(a->pool, VALUE_OBJECT);
	inner = value_new(a->pool, VALUE_OBJECT);
	if (o == NULL || inner == NULL ||
	    acp_put(a, inner, "outcome",
		chosen ? SPAN("selected") : SPAN("cancelled")) == -1 ||
	    (chosen && acp_put(a, inner, "optionId", option) == -1) ||
	    value_set(o, SPAN("outcome"), inner) == -1)
		acp_agent_error(a, &call->id, JSONRPC_LIMIT,
		    "the editor's answer is too large");
	else
		acp_agent_result(a, &call->id, o);
}

static void
editor_line(struct acp *a, struct span line)
{
	struct jsonrpc m;

	jsonrpc_read(a->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_REQUEST:
		if (span_is(m.method, "session/prompt") &&
		    acp_inbox_keep(a, line, m.params))
			break;
		editor_calls(a, &m);
		break;
	case JSONRPC_NOTIFICATION:
		editor_calls(a, &m);
		break;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		editor_answers(a, &m);
		break;
	case JSONRPC_BAD:
		acp_note(a, false, "a message of the editor: %s", m.why);
		if (!m.response)
			acp_editor_error(a, &m.id, m.code, m.why);
		break;
	}
	value_pool_reset(a->pool);
}

/* Send the prompt that waits, if all of its images have been shown. */
static void
editor_prompt(struct acp *a)
{
	if (!acp_inbox_ready(a))
		return;
	editor_line(a, buf_span(&a->inbox.line));
	acp_inbox_sent(a);
}

void
acp_editor_line(struct acp *a, struct span line)
{
	if (line.len == 0)
		return;
	editor_line(a, line);
	editor_prompt(a);
}

void
acp_shown(struct acp *a, struct span name)
{
	acp_inbox_shown(a, name);
	editor_prompt(a);
}
