/* SPDX-License-Identifier: ISC */
/*
 * Resources, prompts and completion. Lists are answered from what policyd
 * published. Reading, getting and completing are calls: the agent's names lead
 * to a server, whose own names are sent to it, and the other way round in its
 * answer, which must be about what was asked for.
 */
#include "proxy.h"

#include <string.h>

#include "common/json/json.h"
#include "common/log.h"

#define UNSUBSCRIBE "resources/unsubscribe"

static const struct {
	const char *method;
	const char *list; /* the member of its result, or NULL: a call */
	uint8_t part;
	enum proto_list which;
} methods[] = {
    {"resources/list", "resources", PROTO_PART_RESOURCES, PROTO_LIST_RESOURCES},
    {"resources/templates/list", "resourceTemplates", PROTO_PART_RESOURCES,
	PROTO_LIST_TEMPLATES},
    {"prompts/list", "prompts", PROTO_PART_PROMPTS, PROTO_LIST_PROMPTS},
    {"resources/read", NULL, PROTO_PART_RESOURCES, 0},
    {PARTS_SUBSCRIBE, NULL, PROTO_PART_SUBSCRIBE, 0},
    {UNSUBSCRIBE, NULL, PROTO_PART_SUBSCRIBE, 0},
    {"prompts/get", NULL, PROTO_PART_PROMPTS, 0},
    {"completion/complete", NULL, PROTO_PART_COMPLETION, 0},
};

bool
parts_is_call(struct span method)
{
	for (size_t i = 0; i < nitems(methods); i++)
		if (methods[i].list == NULL &&
		    span_is(method, methods[i].method))
			return true;
	return false;
}

static int
wrong(struct agent *a, const struct jsonrpc *m, const char *what)
{
	answer_fail(a, &m->id, JSONRPC_PARAMS, "Invalid params: %s", what);
	return -1;
}

/* Add a member to the arguments of the call. Returns 0, or -1. */
static int
put(struct value *o, const char *key, struct value *v)
{
	return value_set(o, span_str(key), v);
}

/* Copy the member of the params, which is an object of texts, if it is there.
 */
static int
put_texts(struct agent *a, const struct jsonrpc *m, struct value *o,
    const struct value *v, const char *key)
{
	const struct value *one;

	if (v == NULL)
		return 0;
	if (v->type != VALUE_OBJECT)
		return wrong(a, m, "arguments must be an object");
	for (one = v->child; one != NULL; one = one->next)
		if (one->type != VALUE_STRING)
			return wrong(a, m, "an argument is no string");
	return put(o, key, value_copy(a->p->pool, v)) == -1
		   ? wrong(a, m, "arguments are too large")
		   : 0;
}

/* Answer with the error that MCP has for a resource that is not there. */
static int
no_resource(struct agent *a, const struct jsonrpc *m, struct span uri)
{
	struct buf data;

	buf_init(&data, 8 * PARTS_URI);
	if (uri.len <= PARTS_URI) {
		buf_adds(&data, "{\"uri\":");
		(void)json_write_string(&data, uri);
		buf_addc(&data, '}');
	}
	(void)jsonrpc_add_error_data(&a->out, &m->id,
	    modern_is(m) ? JSONRPC_PARAMS : JSONRPC_NO_RESOURCE,
	    SPAN("Resource not found: its address begins with " PARTS_SCHEME
		 "SERVER/, as resources/list has it, and its server's own has "
		 "at most 2048 bytes"),
	    data.failed ? SPAN("") : buf_span(&data));
	buf_free(&data);
	agent_wrote(a);
	return -1;
}

/* resources/read {uri} */
static int
take_read(struct agent *a, const struct jsonrpc *m, struct value *o,
    uint16_t *server, struct span *own)
{
	struct span uri = value_str(m->params, "uri");

	if (uri.p == NULL)
		return wrong(a, m, "uri must be a string");
	*server = parts_server(a->p, uri, own);
	if (*server == PROTO_NO_SERVER)
		return no_resource(a, m, uri);
	return put(o, "uri", value_new_string(a->p->pool, *own)) == -1
		   ? wrong(a, m, "uri is too long")
		   : 0;
}

/* prompts/get {name, arguments} */
static int
take_get(struct agent *a, const struct jsonrpc *m, struct value *o,
    uint16_t *server, struct span *own)
{
	struct span name = value_str(m->params, "name");

	if (name.p == NULL || name.len > PROXY_MAX_TOOL)
		return wrong(
		    a, m, "name must be a string of at most 256 bytes");
	*server = tools_server_of(a->p, name, own);
	if (*server == PROTO_NO_SERVER)
		return wrong(a, m, "there is no such prompt");
	if (put_texts(
		a, m, o, value_get(m->params, "arguments"), "arguments") == -1)
		return -1;
	return put(o, "name", value_new_string(a->p->pool, *own)) == -1
		   ? wrong(a, m, "name is too long")
		   : 0;
}

/* The `ref` of completion/complete: a prompt's name, or a template's address.
 */
static int
take_ref(struct agent *a, const struct jsonrpc *m, struct value *o,
    uint16_t *server, struct span *own)
{
	const struct value *ref = value_get(m->params, "ref");
	struct value *out = value_new(a->p->pool, VALUE_OBJECT);
	struct span type = value_str(ref, "type"), name;
	bool prompt = type.p != NULL && span_is(type, "ref/prompt");

	name = value_str(ref, prompt ? "name" : "uri");
	if (type.p == NULL || name.p == NULL ||
	    (!prompt && !span_is(type, "ref/resource")))
		return wrong(a, m, "ref must name a prompt or a resource");
	*server = prompt ? tools_server_of(a->p, name, own)
			 : parts_server(a->p, name, own);
	if (*server == PROTO_NO_SERVER)
		return wrong(a, m, "ref leads to no server");
	if (put(out, prompt ? "name" : "uri",
		value_new_string(a->p->pool, *own)) == -1 ||
	    put(out, "type", value_new_string(a->p->pool, type)) == -1 ||
	    put(o, "ref", out) == -1)
		return wrong(a, m, "ref is too long");
	return 0;
}

/* completion/complete {ref, argument {name, value}, context {arguments}} */
static int
take_complete(struct agent *a, const struct jsonrpc *m, struct value *o,
    uint16_t *server, struct span *own)
{
	const struct value *argument = value_get(m->params, "argument");
	const struct value *context = value_get(m->params, "context");
	struct value *c;

	if (argument == NULL || value_str(argument, "name").p == NULL ||
	    value_str(argument, "value").p == NULL)
		return wrong(a, m, "argument must have a name and a value");
	if (put_texts(a, m, o, argument, "argument") == -1 ||
	    take_ref(a, m, o, server, own) == -1)
		return -1;
	if (value_get(context, "arguments") == NULL)
		return 0;
	c = value_new(a->p->pool, VALUE_OBJECT);
	if (c == NULL || put_texts(a, m, c, value_get(context, "arguments"),
			     "arguments") == -1)
		return -1;
	return put(o, "context", c) == -1 ? wrong(a, m, "context is too large")
					  : 0;
}

/*
 * Returns true if the server is to be asked: for a subscription, if there is
 * room, and for the end of the last one.
 */
static bool
take_sub(
    struct agent *a, const struct jsonrpc *m, uint16_t server, struct span own)
{
	bool end = span_is(m->method, UNSUBSCRIBE), has;
	char uri[PARTS_URI + 1];

	has = span_copy(own, uri, sizeof(uri)) == 0 && subs_has(a, server, uri);
	if (!end && !has && subs_full(a)) {
		(void)wrong(a, m, "a connection has at most 64 subscriptions");
		return false;
	}
	if (end ? has && subs_last(a, server, uri) : !has)
		return true;
	if (end)
		subs_end(a, server, uri);
	answer_ping(a, &m->id);
	return false;
}

/* Turn the request into a call. Returns -1 if the agent is at a limit. */
static int
take_call(struct agent *a, const struct jsonrpc *m, uint8_t part,
    const struct era *era)
{
	struct proxy *p = a->p;
	struct value *o = value_new(p->pool, VALUE_OBJECT);
	struct msg_CALL msg = {
	    .tool = m->method, .modern = era->modern, .state = era->state};
	struct span own = SPAN("");
	struct call *c;
	int r;

	r = o == NULL ? -1
	    : part == PROTO_PART_RESOURCES || part == PROTO_PART_SUBSCRIBE
		? take_read(a, m, o, &msg.server, &own)
	    : part == PROTO_PART_PROMPTS
		? take_get(a, m, o, &msg.server, &own)
		: take_complete(a, m, o, &msg.server, &own);
	if (r == -1)
		return 0;
	if (part == PROTO_PART_SUBSCRIBE && !take_sub(a, m, msg.server, own))
		return 0;
	buf_reset(&p->tree, 2 * LINES_READ);
	if (value_encode(o, &p->tree) == -1) {
		(void)wrong(a, m, "arguments exceed 4194304 bytes");
		return 0;
	}
	msg.args = buf_span(&p->tree);
	if (!calls_admit(p, msg.server, msg.args.len))
		return -1;
	c = calls_new(a, CALL_TOOL, msg.server, msg.args.len, &m->id);
	c->part = part;
	c->modern = era->modern;
	c->level = era->level;
	c->declares = era->declares;
	if ((part == PROTO_PART_RESOURCES || part == PROTO_PART_SUBSCRIBE) &&
	    (c->asked = strndup((const char *)own.p, own.len)) == NULL)
		fatal("strndup");
	(void)span_copy(m->method, c->name, sizeof(c->name));
	msg.id = c->id;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_CALL, &msg, -1);
	return 0;
}

/* The least level that an agent wants, one more than it; 0: none wants any. */
static void
tell_level(struct proxy *p)
{
	struct msg_LOG_LEVEL m = {.level = PROTO_LEVEL_LAST};

	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;)
		if (a->level != 0 && a->level - 1U < m.level)
			m.level = (uint8_t)(a->level - 1U);
	if (p->level == m.level + 1U)
		return;
	p->level = m.level + 1U;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_LOG_LEVEL, &m, -1);
}

void
parts_level(struct proxy *p, uint8_t level)
{
	const struct msg_LOG_LEVEL m = {.level = (uint8_t)(level - 1)};

	if (level == 0 || (p->level != 0 && p->level <= level) ||
	    (p->parts & PROTO_PART_LOGGING) == 0)
		return;
	p->level = level;
	worker_send(&p->w, ROLE_POLICY, 0, MSG_LOG_LEVEL, &m, -1);
}

static void
take_level(struct agent *a, const struct jsonrpc *m)
{
	const int level = proto_level_find(value_str(m->params, "level"));

	if (level != -1) {
		a->level = (uint8_t)(level + 1);
		tell_level(a->p);
		answer_ping(a, &m->id);
		return;
	}
	(void)wrong(a, m,
	    "level must be debug, info, notice, warning, error, "
	    "critical, alert or emergency");
}

int
parts_take(struct agent *a, const struct jsonrpc *m, const struct era *era,
    bool *known)
{
	const struct proxy *p = a->p;

	*known = true;
	if (span_is(m->method, "logging/setLevel") && !era->modern &&
	    (p->parts & PROTO_PART_LOGGING) != 0) {
		take_level(a, m);
		return 0;
	}
	for (size_t i = 0; i < nitems(methods); i++) {
		if (!span_is(m->method, methods[i].method) ||
		    (p->parts & methods[i].part) == 0 ||
		    (era->modern && methods[i].part == PROTO_PART_SUBSCRIBE))
			continue;
		if (calls_find_rid(a, &m->id) != NULL ||
		    listen_uses(a, &m->id)) {
			answer_fail(a, NULL, JSONRPC_INVALID,
			    "Invalid Request: id %.*s is already used by "
			    "another request",
			    (int)m->id.len, (const char *)m->id.text);
			return 0;
		}
		if (methods[i].list == NULL)
			return take_call(a, m, methods[i].part, era);
		if (value_get(m->params, "cursor") != NULL)
			(void)wrong(
			    a, m, "unknown cursor, the list has one page");
		else
			answer_list(a, &m->id, era->modern, methods[i].list,
			    methods[i].which);
		return 0;
	}
	*known = false;
	return 0;
}

int
parts_set(struct proxy *p, const struct msg_PARTS *m)
{
	uint8_t part = m->list == PROTO_LIST_PROMPTS ? PROTO_PART_PROMPTS
						     : PROTO_PART_RESOURCES;
	struct buf *b = &p->lists[m->list];

	if (m->text.len < 2 || m->text.p[0] != '[' ||
	    m->text.p[m->text.len - 1] != ']' ||
	    memchr(m->text.p, '\n', m->text.len) != NULL)
		return -1;
	p->parts = m->parts;
	p->lists_ttl[m->list] = m->ttl;
	if (span_eq(buf_span(b), m->text))
		return 0;
	buf_reset(b, 0);
	buf_addspan(b, m->text);
	if (b->failed)
		return -1;
	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;) {
		if (a->greeted)
			answer_list_changed(a, part);
		listen_changed(a, part);
	}
	return 0;
}

/*
 * Returns true if the agent wants messages of this level: by its own level, or
 * by that of a request that this server has not answered yet.
 */
static bool
wants_notice(const struct agent *a, uint16_t server, uint8_t level)
{
	const struct call *c;

	if (a->level != 0 && level + 1U >= a->level)
		return true;
	TAILQ_FOREACH (c, &a->calls, of_agent)
		if (c->server == server && c->level != 0 &&
		    level + 1U >= c->level)
			return true;
	return false;
}

/* Messages are dropped for an agent that does not read, before all else. */
void
parts_notice(struct proxy *p, uint16_t server, const struct msg_NOTICE *m)
{
	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;)
		if (wants_notice(a, server, m->level) &&
		    buf_span(&a->out).len < LINES_READ)
			answer_notice(a, proto_level_name(m->level),
			    span_str(p->servers[server].name_text), m->logger,
			    m->text);
}
