/* SPDX-License-Identifier: ISC */
/*
 * The requests that an agent may make.  A line is read into a tree, checked
 * member by member, and either answered here (initialize, server/discover,
 * ping, tools/list) or turned into a CALL.  Only the id, the progress token and
 * the name are kept.
 */
#include "proxy.h"

#include "common/log.h"

#define SHOWN 96

struct ask {
	const struct jsonrpc *m;
	const struct era *era;
	struct span name;
	const struct value *args;
	struct jsonrpc_id token;
};

static int
wrong_params(struct agent *a, const struct ask *q, const char *what)
{
	answer_fail(a, &q->m->id, JSONRPC_PARAMS, "Invalid params: %s", what);
	return -1;
}

/*
 * Take the progress token, the only member of params._meta that is used here.
 */
static int
take_token(struct agent *a, struct ask *q, const struct value *meta)
{
	const struct value *token = value_get(meta, "progressToken");

	q->token.len = 0;
	if (meta != NULL && meta->type != VALUE_OBJECT)
		return wrong_params(a, q, "_meta must be an object");
	if (token != NULL && jsonrpc_id_set(&q->token, token) == -1)
		return wrong_params(a, q,
		    "_meta.progressToken must be a string of at most 254 "
		    "bytes or an integer");
	return 0;
}

/* The members of tools/call, sorted as those of a message are. */
enum member {
	MEMBER_META,
	MEMBER_ARGUMENTS,
	MEMBER_INPUT, /* only in revision 2026-07-28, as is the state */
	MEMBER_NAME,
	MEMBER_STATE,
	MEMBER_TASK, /* ignored, since tasks are not offered */
	NMEMBERS,
};

static const struct span members[NMEMBERS] = {SPAN("_meta"), SPAN("arguments"),
    SPAN("inputResponses"), SPAN("name"), SPAN("requestState"), SPAN("task")};

static int __attribute__((noinline))
wrong_member(struct agent *a, const struct ask *q, struct span name)
{
	char shown[SHOWN];

	answer_fail(a, &q->m->id, JSONRPC_PARAMS,
	    "Invalid params: unknown member \"%s\" of tools/call",
	    log_vis(name, shown, sizeof(shown)));
	return -1;
}

/*
 * Find the members.  Refuse unknown ones: "Name" beside "name" would be one
 * member to a reader that folds case.
 */
static int
take_members(
    struct agent *a, const struct ask *q, const struct value *found[NMEMBERS])
{
	const struct value *v;
	unsigned i = 0;

	for (v = q->m->params->child; v != NULL; v = v->next) {
		while (i < NMEMBERS && span_cmp(members[i], v->key) < 0)
			found[i++] = NULL;
		if (i == NMEMBERS || !span_eq(members[i], v->key))
			return wrong_member(a, q, v->key);
		found[i++] = v;
	}
	while (i < NMEMBERS)
		found[i++] = NULL;
	return 0;
}

/* Check the params of tools/call.  Returns -1 if an error was answered. */
static int
take_call(struct agent *a, struct ask *q)
{
	const struct value *params = q->m->params, *name, *found[NMEMBERS];

	if (params == NULL)
		return wrong_params(a, q, "tools/call without params");
	if (take_members(a, q, found) == -1)
		return -1;
	for (size_t i = MEMBER_INPUT; i <= MEMBER_STATE; i += 2)
		if (found[i] != NULL && !q->era->modern)
			return wrong_member(a, q, members[i]);
	if (take_token(a, q, found[MEMBER_META]) == -1)
		return -1;
	if ((name = found[MEMBER_NAME]) == NULL)
		return wrong_params(a, q, "name is missing");
	if (name->type != VALUE_STRING)
		return wrong_params(a, q, "name must be a string");
	q->name = name->text;
	if (q->name.len == 0)
		return wrong_params(a, q, "name is empty");
	if (q->name.len > PROXY_MAX_TOOL)
		return wrong_params(a, q, "name is longer than 256 bytes");
	if (memchr(q->name.p, '\0', q->name.len) != NULL)
		return wrong_params(a, q, "name holds a NUL");
	q->args = found[MEMBER_ARGUMENTS];
	if (q->args != NULL && q->args->type != VALUE_OBJECT)
		return wrong_params(a, q, "arguments must be an object");
	return 0;
}

/* Encode the arguments into p->tree.  Returns -1 if an error was answered. */
static int
encode_args(struct agent *a, struct ask *q)
{
	struct proxy *p = a->p;

	if (q->args == NULL &&
	    (q->args = value_new(p->pool, VALUE_OBJECT)) == NULL)
		return wrong_params(a, q, "out of memory");
	buf_reset(&p->tree, 2 * LINES_READ);
	if (value_encode(q->args, &p->tree) == -1)
		return wrong_params(a, q, "arguments exceed 4194304 bytes");
	return 0;
}

/*
 * Returns true, having answered an error, if the id is in use on this
 * connection.
 */
static bool
in_flight(struct agent *a, const struct jsonrpc *m)
{
	if (calls_find_rid(a, &m->id) == NULL && !listen_uses(a, &m->id))
		return false;
	answer_fail(a, NULL, JSONRPC_INVALID,
	    "Invalid Request: id %.*s is already used by another request",
	    (int)m->id.len, (const char *)m->id.text);
	return true;
}

static int
take_tools_call(struct agent *a, const struct jsonrpc *m, const struct era *era)
{
	struct proxy *p = a->p;
	struct ask q UNCLEARED;
	struct msg_CALL msg;
	struct span tool;
	struct call *c;

	q.m = m;
	q.era = era;
	if (in_flight(a, m) || take_call(a, &q) == -1 ||
	    encode_args(a, &q) == -1)
		return 0;
	msg.server = tools_server_of(p, q.name, &tool);
	if (parts_is_call(tool)) {
		(void)wrong_params(a, &q, "there is no such tool");
		return 0;
	}
	msg.tool = tool;
	msg.args = buf_span(&p->tree);
	msg.progress = q.token.len != 0;
	msg.modern = era->modern;
	msg.state = era->state;
	if (!calls_admit(p, msg.server, msg.args.len))
		return -1;
	c = calls_new(a, CALL_TOOL, msg.server, msg.args.len, &m->id);
	jsonrpc_id_copy(&c->token, &q.token);
	c->modern = era->modern;
	c->level = era->level;
	c->declares = era->declares;
	memcpy(c->name, q.name.p, q.name.len);
	c->name[q.name.len] = '\0';
	msg.id = c->id;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_CALL, &msg, -1);
	return 0;
}

static int
take_tools_list(struct agent *a, const struct jsonrpc *m, bool modern)
{
	if (in_flight(a, m))
		return 0;
	if (value_get(m->params, "cursor") != NULL) {
		answer_fail(a, &m->id, JSONRPC_PARAMS,
		    "Invalid params: unknown cursor, the list has one page");
		return 0;
	}
	return tools_ask(a, &m->id, modern);
}

static void
take_initialize(struct agent *a, const struct jsonrpc *m)
{
	struct span version = value_str(m->params, "protocolVersion");

	if (a->greeted) {
		answer_fail(a, &m->id, JSONRPC_INVALID,
		    "Invalid Request: initialize was answered already");
		return;
	}
	if (version.p == NULL) {
		answer_fail(a, &m->id, JSONRPC_PARAMS,
		    "Invalid params: protocolVersion must be a string");
		return;
	}
	a->greeted = true;
	answer_hello(a, &m->id, version);
}

static void
unknown_method(struct agent *a, const struct jsonrpc *m)
{
	char shown[SHOWN];

	answer_fail(a, &m->id, JSONRPC_METHOD, "Method not found: \"%s\"",
	    log_vis(m->method, shown, sizeof(shown)));
}

/* Process a request that both kinds of revisions have. */
static int
take_common(struct agent *a, const struct jsonrpc *m, const struct era *era)
{
	bool known;
	int r;

	if (span_is(m->method, "tools/call"))
		return take_tools_call(a, m, era);
	if (span_is(m->method, "tools/list"))
		return take_tools_list(a, m, era->modern);
	if ((r = parts_take(a, m, era, &known)) == -1 || known)
		return r;
	unknown_method(a, m);
	return 0;
}

/* Process a request that says that it is of revision 2026-07-28. */
static int
take_modern(struct agent *a, const struct jsonrpc *m)
{
	struct era era = {.modern = true};

	if (modern_check(a, m, &era) == -1 ||
	    modern_state(a, m, &era.state) == -1 || in_flight(a, m) ||
	    modern_take(a, m))
		return 0;
	parts_level(a->p, era.level);
	return take_common(a, m, &era);
}

static int
take_request(struct agent *a, const struct jsonrpc *m)
{
	const struct era old = {.state = SPAN("")};

	if (a->full != 0) {
		agent_end(a, &m->id, JSONRPC_LIMIT, PROXY_FULL_TEXT);
		return 0;
	}
	if (modern_is(m))
		return take_modern(a, m);
	if (span_is(m->method, "initialize"))
		take_initialize(a, m);
	else if (span_is(m->method, "ping"))
		answer_ping(a, &m->id);
	else if (a->greeted)
		return take_common(a, m, &old);
	else if (span_is(m->method, "tools/call") ||
		 span_is(m->method, "tools/list"))
		answer_fail(a, &m->id, JSONRPC_INVALID,
		    "Invalid Request: %.*s before initialize",
		    (int)m->method.len, (const char *)m->method.p);
	else
		unknown_method(a, m);
	return 0;
}

/* Process a cancellation; a cancelled request gets no answer. */
static void
take_cancelled(struct agent *a, const struct jsonrpc *m)
{
	const struct value *rid = value_get(m->params, "requestId");
	struct jsonrpc_id id;
	struct call *c;

	if (rid == NULL || jsonrpc_id_set(&id, rid) == -1)
		proxy_count(&a->p->ignored, "notifications of the agent");
	else if (listen_cancel(a, &id))
		return;
	else if ((c = calls_find_rid(a, &id)) == NULL)
		proxy_count(&a->p->ignored, "notifications of the agent");
	else {
		calls_cancel(a->p, c);
		agent_cancelled(a);
	}
}

/*
 * Answer a line that is no request. Even an unreadable one may contain the id
 * to answer. This is not part of request_take(), because the compiler zeroes
 * `scan` in each call of the function that has it.
 */
static void __attribute__((noinline))
take_bad(struct agent *a, struct span line, struct jsonrpc *m)
{
	struct idscan scan;

	if (m->code == JSONRPC_PARSE &&
	    (idscan_line(line, &scan, &m->id) == -1 || scan.response))
		m->id.len = 0;
	answer_fail(a, &m->id, m->code, "%s", m->why);
}

int
request_take(struct agent *a, struct span line)
{
	struct jsonrpc m UNCLEARED;
	int r = 0;

	value_pool_reset(a->p->pool);
	jsonrpc_read(a->p->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_REQUEST:
		r = take_request(a, &m);
		break;
	case JSONRPC_NOTIFICATION:
		if (span_is(m.method, "notifications/cancelled"))
			take_cancelled(a, &m);
		else if (!span_is(m.method, "notifications/initialized"))
			proxy_count(
			    &a->p->ignored, "notifications of the agent");
		break;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		/*
		 * We sent no request, and answering an answer could go on for
		 * ever.
		 */
		proxy_count(&a->p->ignored, "notifications of the agent");
		break;
	case JSONRPC_BAD:
		take_bad(a, line, &m);
		break;
	}
	return r;
}
