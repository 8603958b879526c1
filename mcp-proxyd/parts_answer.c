/* SPDX-License-Identifier: ISC */
/*
 * Answers about resources, prompts and completion, composed from a server's
 * value tree: known members only, and addresses as the agent has them. An
 * answer about something else than was asked for is refused.
 */
#include "proxy.h"

#include <string.h>

#include "common/json/json.h"

#define ITEMS_MAX 1000U

struct put {
	struct buf *b;
	const char *before;
};

static void
put_key(struct put *w, const char *key)
{
	buf_printf(w->b, "%s\"%s\":", w->before, key);
	w->before = ",";
}

static void
put_member(struct put *w, const struct value *o, const char *key)
{
	const struct value *v = value_get(o, key);

	if (v == NULL || v->type != VALUE_STRING)
		return;
	put_key(w, key);
	(void)json_write_string(w->b, v->text);
}

static void
put_uri(struct put *w, const char *server, struct span uri)
{
	struct buf all;

	buf_init(&all, 8192);
	buf_printf(&all, "icmcp://%s/", server);
	buf_addspan(&all, uri);
	put_key(w, "uri");
	(void)json_write_string(w->b, buf_span(&all));
	w->b->failed = w->b->failed || all.failed;
	buf_free(&all);
}

/* Returns true for the address that was asked for, or one below it. */
static bool
uri_is(struct span uri, const char *asked)
{
	size_t n = strlen(asked);

	if (uri.p == NULL || uri.len < n || memcmp(uri.p, asked, n) != 0)
		return false;
	return uri.len == n || (n != 0 && asked[n - 1] == '/') ||
	       uri.p[n] == '/';
}

/* Write the contents of a resource: an object with uri, and text or blob. */
static const char *
put_contents(
    struct buf *b, const char *server, const struct value *v, const char *asked)
{
	struct put w = {b, "{"};
	struct span uri = value_str(v, "uri");

	if (uri.p == NULL || uri.len > 4096)
		return "a resource in it has no address";
	if (asked != NULL && !uri_is(uri, asked))
		return "it has another resource than was asked for";
	put_member(&w, v, "blob");
	put_member(&w, v, "mimeType");
	if (value_str(v, "blob").p == NULL)
		put_member(&w, v, "text");
	put_uri(&w, server, uri);
	buf_addc(b, '}');
	return NULL;
}

static const char *
put_read(struct buf *b, const struct call *c, const struct value *result)
{
	const char *server = c->agent->p->servers[c->server].name_text, *why;
	const struct value *list = value_get(result, "contents"), *v;
	const char *before = "";

	if (list == NULL || list->type != VALUE_ARRAY ||
	    list->count > ITEMS_MAX)
		return "contents is no array";
	buf_adds(b, "{\"contents\":[");
	for (v = list->child; v != NULL; v = v->next) {
		buf_adds(b, before);
		before = ",";
		if ((why = put_contents(b, server, v,
			 c->asked != NULL ? c->asked : "")) != NULL)
			return why;
	}
	buf_adds(b, "]}");
	return NULL;
}

/* Write the content of a message: of a type that MCP has. */
static const char *
put_content(struct buf *b, const char *server, const struct value *v)
{
	static const char *const members[] = {
	    "data", "description", "mimeType", "name", "text", "title"};
	struct span type = value_str(v, "type"), uri;
	struct put w = {b, "{"};
	const char *why;

	if (!span_is(type, "text") && !span_is(type, "image") &&
	    !span_is(type, "audio") && !span_is(type, "resource") &&
	    !span_is(type, "resource_link"))
		return "a message has content of an unknown type";
	put_member(&w, v, "type");
	if (span_is(type, "resource")) {
		put_key(&w, "resource");
		if ((why = put_contents(
			 b, server, value_get(v, "resource"), NULL)) != NULL)
			return why;
	}
	for (size_t i = 0; i < nitems(members); i++)
		put_member(&w, v, members[i]);
	if (span_is(type, "resource_link")) {
		uri = value_str(v, "uri");
		if (uri.p == NULL || uri.len > 4096)
			return "a link in it has no address";
		put_uri(&w, server, uri);
	}
	buf_addc(b, '}');
	return NULL;
}

static const char *
put_prompt(struct buf *b, const struct call *c, const struct value *result)
{
	const char *server = c->agent->p->servers[c->server].name_text, *why;
	const struct value *list = value_get(result, "messages"), *v;
	struct put w = {b, "{"};
	const char *before = "";
	struct span role;

	if (list == NULL || list->type != VALUE_ARRAY ||
	    list->count > ITEMS_MAX)
		return "messages is no array";
	put_member(&w, result, "description");
	put_key(&w, "messages");
	buf_addc(b, '[');
	for (v = list->child; v != NULL; v = v->next) {
		role = value_str(v, "role");
		if (role.p == NULL ||
		    (!span_is(role, "user") && !span_is(role, "assistant")))
			return "a message has an unknown role";
		buf_adds(b, before);
		before = ",";
		buf_adds(b, "{\"content\":");
		if ((why = put_content(b, server, value_get(v, "content"))) !=
		    NULL)
			return why;
		buf_adds(b, ",\"role\":");
		(void)json_write_string(b, role);
		buf_addc(b, '}');
	}
	buf_adds(b, "]}");
	return NULL;
}

/* At most 100 values, as MCP has it. */
static const char *
put_completion(struct buf *b, const struct value *result)
{
	const struct value *completion = value_get(result, "completion"), *v;
	const struct value *list = value_get(completion, "values");
	const char *before = "";
	unsigned n = 0;

	if (list == NULL || list->type != VALUE_ARRAY)
		return "its values are no array";
	buf_adds(b, "{\"completion\":{\"values\":[");
	for (v = list->child; v != NULL && n < 100; v = v->next, n++) {
		if (v->type != VALUE_STRING)
			return "a value is no string";
		buf_adds(b, before);
		before = ",";
		(void)json_write_string(b, v->text);
	}
	buf_adds(b, "]}}");
	return NULL;
}

/* Returns the time for which the server vouches for what was read, in ms. */
static uint32_t
read_ttl(const struct value *result)
{
	int64_t ms;

	if (value_int(value_get(result, "ttlMs"), 0, INT64_MAX, &ms) == -1)
		return 0;
	return ms < PROTO_MAX_TTL ? (uint32_t)ms : PROTO_MAX_TTL;
}

/* The server has taken the subscription, or its end. */
static void
answer_sub(struct call *c, bool listening)
{
	struct agent *a = c->agent;

	if (c->decided != NULL) {
		c->decided(c, true, listening);
		return;
	}
	if (strcmp(c->name, PARTS_SUBSCRIBE) == 0)
		subs_add(a, c, NULL, listening);
	else
		subs_end(a, c->server, c->asked);
	answer_ping(a, &c->rid);
}

void
parts_answer(struct call *c, const struct value *result)
{
	struct agent *a = c->agent;
	const char *why;
	struct buf b;

	if (c->part == PROTO_PART_SUBSCRIBE) {
		answer_sub(c, value_get(result, JSONRPC_LISTENING) != NULL);
		return;
	}
	buf_init(&b, PROXY_MAX_ANSWER);
	why = c->part == PROTO_PART_RESOURCES ? put_read(&b, c, result)
	      : c->part == PROTO_PART_PROMPTS ? put_prompt(&b, c, result)
					      : put_completion(&b, result);
	if (why == NULL && b.failed)
		why = "it is too large";
	if (why != NULL) {
		answer_fail(a, &c->rid, JSONRPC_INTERNAL,
		    "The MCP server's answer was refused: %s", why);
	} else {
		(void)jsonrpc_add_head(&a->out, &c->rid);
		/* Without the brace at its end, which follows. */
		buf_add(&a->out, buf_span(&b).p, buf_span(&b).len - 1);
		if (c->modern && c->part == PROTO_PART_RESOURCES)
			buf_printf(&a->out,
			    ",\"cacheScope\":\"private\",\"ttlMs\":%u",
			    read_ttl(result));
		answer_close(&a->out, c->modern, ",");
		(void)jsonrpc_add_tail(&a->out);
		agent_wrote(a);
	}
	buf_free(&b);
}
