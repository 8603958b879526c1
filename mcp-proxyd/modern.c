/* SPDX-License-Identifier: ISC */
/*
 * Requests of revision 2026-07-28: each says in its _meta what it is, and needs
 * no `initialize`. A connection may have requests of both kinds. What an agent
 * wants to be told of changes, it asks for with subscriptions/listen, which
 * stays open.
 */
#include "proxy.h"

#include <stdlib.h>

#include "common/log.h"

#define META(name) JSONRPC_META name
#define SHOWN 64
#define LISTENS_MAX 4U /* for one connection */

/* An open subscription. */
struct listen {
	struct listen *next;
	struct jsonrpc_id id;
	uint8_t parts; /* PROTO_PART_* whose lists it is about */
	bool tools;
	bool confirmed;
	bool missed_tools; /* changed before it was confirmed */
	uint8_t missed;    /* likewise */
	unsigned waits;    /* resources that are not decided about */
	struct buf uris;   /* those that it is about, with commas between */
};

bool
modern_is(const struct jsonrpc *m)
{
	const struct value *meta = value_get(m->params, "_meta"), *v;

	if (span_is(m->method, "server/discover"))
		return true;
	if (meta == NULL || meta->type != VALUE_OBJECT)
		return false;
	for (v = meta->child; v != NULL; v = v->next)
		if (span_is(v->key, META("protocolVersion")) ||
		    span_is(v->key, META("clientCapabilities")))
			return true;
	return false;
}

static int
wrong(struct agent *a, const struct jsonrpc *m, const char *what)
{
	answer_fail(a, &m->id, JSONRPC_PARAMS, "Invalid params: %s", what);
	return -1;
}

static int
wrong_version(struct agent *a, const struct jsonrpc *m, struct span version)
{
	char shown[SHOWN];
	struct buf data;

	buf_init(&data, 4096);
	buf_adds(&data, "{\"requested\":");
	log_vis(version, shown, sizeof(shown));
	(void)json_write_string(&data, span_str(shown));
	buf_adds(&data, ",\"supported\":[\"" JSONRPC_MODERN "\"]}");
	(void)jsonrpc_add_error_data(&a->out, &m->id, JSONRPC_VERSION,
	    SPAN("Unsupported protocol version"), buf_span(&data));
	buf_free(&data);
	agent_wrote(a);
	return -1;
}

int
modern_check(struct agent *a, const struct jsonrpc *m, struct era *era)
{
	const struct value *meta = value_get(m->params, "_meta"), *v;
	int n;

	era->level = 0;
	if (meta == NULL || meta->type != VALUE_OBJECT)
		return wrong(a, m, "_meta is missing");
	if ((v = value_get(meta, META("protocolVersion"))) == NULL ||
	    v->type != VALUE_STRING)
		return wrong(a, m,
		    "_meta has no " JSONRPC_META "protocolVersion that is a "
		    "string");
	if (!span_is(v->text, JSONRPC_MODERN))
		return wrong_version(a, m, v->text);
	v = value_get(meta, META("clientCapabilities"));
	if (v == NULL || v->type != VALUE_OBJECT)
		return wrong(a, m,
		    "_meta has no " JSONRPC_META "clientCapabilities that is "
		    "an object");
	era->declares = error_declared(v);
	v = value_get(meta, META("clientInfo"));
	if (v != NULL && v->type != VALUE_OBJECT)
		return wrong(
		    a, m, "_meta: " JSONRPC_META "clientInfo is no object");
	if ((v = value_get(meta, META("logLevel"))) == NULL)
		return 0;
	n = v->type == VALUE_STRING ? proto_level_find(v->text) : -1;
	if (n == -1)
		return wrong(
		    a, m, "_meta: " JSONRPC_META "logLevel is no level");
	era->level = (uint8_t)(n + 1);
	return 0;
}

int
modern_state(struct agent *a, const struct jsonrpc *m, struct span *state)
{
	const struct value *given = value_get(m->params, "inputResponses");
	const struct value *v = value_get(m->params, "requestState");

	*state = SPAN("");
	if (given == NULL && v == NULL)
		return 0;
	/* There is no question that an agent is asked: nothing in it counts. */
	if (given != NULL && given->type != VALUE_OBJECT)
		return wrong(a, m, "inputResponses must be an object");
	if (v == NULL)
		return 0;
	if (v->type != VALUE_STRING || v->text.len == 0 ||
	    v->text.len > PROTO_MAX_STATE ||
	    memchr(v->text.p, '\0', v->text.len) != NULL)
		return wrong(a, m,
		    "requestState is not one that this server has given. Make "
		    "the request again without it");
	*state = v->text;
	return 0;
}

/*
 * Take a method that only this revision has. Returns false if it is none.
 */
bool
modern_take(struct agent *a, const struct jsonrpc *m)
{
	if (span_is(m->method, "server/discover"))
		answer_discover(a, &m->id);
	else if (span_is(m->method, "subscriptions/listen"))
		listen_take(a, m);
	else
		return false;
	return true;
}

static bool
wants(const struct value *o, const char *key)
{
	return value_bool(o, key, false);
}

/* Write the head of a notification that belongs to the subscription. */
static void
put_note(struct buf *b, const char *method, const struct jsonrpc_id *id)
{
	buf_printf(b,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":"
	    "{\"_meta\":{\"" JSONRPC_META "subscriptionId\":",
	    method);
	buf_add(b, id->text, id->len);
	buf_addc(b, '}');
}

static void
listen_tell(struct agent *a, const struct listen *l, uint8_t part)
{
	put_note(&a->out,
	    part == 0                    ? "tools/list_changed"
	    : part == PROTO_PART_PROMPTS ? "prompts/list_changed"
					 : "resources/list_changed",
	    &l->id);
	buf_adds(&a->out, "}}\n");
	agent_wrote(a);
}

/*
 * Confirm the subscription, with what there is of it, and tell what changed
 * since it was asked for.
 */
static void
acknowledge(struct agent *a, struct listen *l)
{
	struct buf *b = &a->out;
	const char *before = "";

	put_note(b, "subscriptions/acknowledged", &l->id);
	buf_adds(b, ",\"notifications\":{");
	if ((l->parts & PROTO_PART_PROMPTS) != 0) {
		buf_adds(b, "\"promptsListChanged\":true");
		before = ",";
	}
	if ((l->parts & PROTO_PART_RESOURCES) != 0) {
		buf_printf(b, "%s\"resourcesListChanged\":true", before);
		before = ",";
	}
	if (l->uris.len != 0) {
		buf_printf(b, "%s\"resourceSubscriptions\":[", before);
		buf_addspan(b, buf_span(&l->uris));
		buf_addc(b, ']');
		before = ",";
	}
	if (l->tools)
		buf_printf(b, "%s\"toolsListChanged\":true", before);
	buf_adds(b, "}}}\n");
	agent_wrote(a);
	l->confirmed = true;
	if (l->missed_tools)
		listen_tell(a, l, 0);
	for (uint8_t part = 1; part != 0; part = (uint8_t)(part << 1))
		if ((l->missed & part) != 0)
			listen_tell(a, l, part);
}

static struct listen *
listen_find(const struct agent *a, const struct jsonrpc_id *id)
{
	struct listen *l;

	for (l = a->listens; l != NULL; l = l->next)
		if (jsonrpc_id_eq(&l->id, id))
			return l;
	return NULL;
}

/* There is a decision about a resource, or its server has answered. */
static void
listen_decided(struct call *c, bool good, bool listening)
{
	struct agent *a = c->agent;
	struct listen *l = listen_find(a, &c->rid);
	struct buf uri;

	if (l == NULL)
		return;
	if (good) {
		buf_init(&uri, 8192);
		buf_printf(&uri, "icmcp://%s/%s",
		    a->p->servers[c->server].name_text, c->asked);
		if (l->uris.len != 0)
			buf_addc(&l->uris, ',');
		(void)json_write_string(&l->uris, buf_span(&uri));
		buf_free(&uri);
		subs_add(a, c, &l->id, listening);
	}
	if (--l->waits == 0)
		acknowledge(a, l);
}

/* Returns how many resources wait for a decision, for all of the agent. */
static unsigned
listens_waiting(const struct agent *a)
{
	unsigned n = 0;

	for (const struct listen *l = a->listens; l != NULL; l = l->next)
		n += l->waits;
	return n;
}

/* Ask for the resources, each of which is decided about by itself. */
static void
listen_resources(struct agent *a, struct listen *l, const struct value *uris)
{
	if (uris == NULL || uris->type != VALUE_ARRAY)
		return;
	for (const struct value *v = uris->child; v != NULL; v = v->next)
		if (v->type == VALUE_STRING &&
		    a->nsubs + listens_waiting(a) < PROXY_SUBS &&
		    parts_subscribe(a, &l->id, v->text, listen_decided) == 0)
			l->waits++;
}

void
listen_take(struct agent *a, const struct jsonrpc *m)
{
	const struct value *what = value_get(m->params, "notifications");
	struct listen *l, **at = &a->listens;
	unsigned n = 0;

	if (what == NULL || what->type != VALUE_OBJECT) {
		(void)wrong(a, m, "notifications must be an object");
		return;
	}
	for (; *at != NULL; at = &(*at)->next, n++) {
		if (jsonrpc_id_eq(&(*at)->id, &m->id)) {
			answer_fail(a, NULL, JSONRPC_INVALID,
			    "Invalid Request: id %.*s is already used by "
			    "another request",
			    (int)m->id.len, (const char *)m->id.text);
			return;
		}
	}
	if (n == LISTENS_MAX || (l = calloc(1, sizeof(*l))) == NULL) {
		answer_fail(a, &m->id, JSONRPC_REFUSED,
		    "A connection has at most %u subscriptions. Do not retry "
		    "before one of them is cancelled",
		    LISTENS_MAX);
		return;
	}
	jsonrpc_id_copy(&l->id, &m->id);
	l->tools = wants(what, "toolsListChanged");
	/* Servers may come to offer them later. */
	l->parts =
	    (wants(what, "promptsListChanged") ? PROTO_PART_PROMPTS : 0) |
	    (wants(what, "resourcesListChanged") ? PROTO_PART_RESOURCES : 0);
	buf_init(&l->uris, PROXY_SUBS * 8192);
	*at = l;
	listen_resources(a, l, value_get(what, "resourceSubscriptions"));
	if (l->waits == 0)
		acknowledge(a, l);
}

bool
listen_uses(const struct agent *a, const struct jsonrpc_id *id)
{
	return listen_find(a, id) != NULL;
}

/* Cancel what is not decided, and end the rest. */
static void
listen_end(struct agent *a, struct listen *l)
{
	struct call *c;

	while (l->waits != 0 && (c = calls_find_rid(a, &l->id)) != NULL) {
		calls_cancel(a->p, c);
		l->waits--;
	}
	subs_end_listen(a, &l->id);
	buf_free(&l->uris);
	free(l);
}

bool
listen_cancel(struct agent *a, const struct jsonrpc_id *id)
{
	struct listen **at, *l;

	for (at = &a->listens; (l = *at) != NULL; at = &l->next) {
		if (!jsonrpc_id_eq(&l->id, id))
			continue;
		*at = l->next;
		listen_end(a, l);
		return true;
	}
	return false;
}

void
listen_free(struct agent *a)
{
	struct listen *l;

	while ((l = a->listens) != NULL) {
		a->listens = l->next;
		listen_end(a, l);
	}
}

void
listen_changed(struct agent *a, uint8_t part)
{
	struct listen *l;

	for (l = a->listens; l != NULL && !a->doomed; l = l->next) {
		if (part == 0 ? !l->tools : (l->parts & part) == 0)
			continue;
		if (l->confirmed)
			listen_tell(a, l, part);
		else if (part == 0)
			l->missed_tools = true;
		else
			l->missed |= part;
	}
}
