/* SPDX-License-Identifier: ISC */
/*
 * Everything the agent reads is composed here, from decoded values and our own
 * texts; no byte of a server is copied through.  Text from any other process is
 * checked to be UTF-8 before it is written as JSON.
 */
#include "proxy.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/json/schema.h"
#include "common/log.h"

/* Returns `s`, or an escaped form of it in `dst` if it is not valid UTF-8. */
static struct span
safe_text(struct span s, char *dst, size_t cap)
{
	if (utf8_valid(s))
		return s;
	return span_str(log_vis(s, dst, cap));
}

/* Each result of revision 2026-07-28 says so about its server, us. */
#define SERVER_META                                                            \
	"\"_meta\":{\"" JSONRPC_META "serverInfo\":{\"name\":\"ironcurtain\"," \
	"\"version\":\"" IC_VERSION "\"}}"

void
answer_close(struct buf *b, bool modern, const char *before)
{
	if (modern) {
		buf_adds(b, before);
		buf_addspan(
		    b, SPAN(SERVER_META ",\"resultType\":\"complete\""));
	} else if (before[0] == '{') {
		buf_addc(b, '{');
	}
	buf_addc(b, '}');
}

/* Write how long a list may be kept, and that it is for this agent alone. */
static void
add_cache(struct buf *b, uint32_t ttl)
{
	buf_printf(b, ",\"cacheScope\":\"private\",\"ttlMs\":%u", ttl);
}

void
answer_text(struct call *c, struct span text, bool error)
{
	struct agent *a = c->agent;
	char safe[4096];

	if (c->decided != NULL) {
		c->decided(c, false, false);
		return;
	}
	if (c->part != 0) {
		/* Such a result has no place for a text of ours. */
		(void)jsonrpc_add_error(&a->out, &c->rid,
		    c->modern ? JSONRPC_REFUSED : JSONRPC_LIMIT,
		    safe_text(text, safe, sizeof(safe)));
		agent_wrote(a);
		return;
	}
	(void)jsonrpc_add_head(&a->out, &c->rid);
	buf_addspan(&a->out, SPAN("{\"content\":[{\"text\":"));
	(void)json_write_string(&a->out, safe_text(text, safe, sizeof(safe)));
	buf_addspan(&a->out, SPAN(",\"type\":\"text\"}]"));
	if (error)
		buf_addspan(&a->out, SPAN(",\"isError\":true"));
	answer_close(&a->out, c->modern, ",");
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

/*
 * Returns structuredContent if agents do not take it: until revision 2025-11-25
 * it is an object, and a tool whose outputSchema says otherwise is offered
 * without that schema.
 */
static const struct value *
odd_structured(const struct value *object)
{
	const struct value *v = value_get(object, "structuredContent");

	return v != NULL && v->type != VALUE_OBJECT ? v : NULL;
}

/* Write a value that an agent does not take as the text of a result. */
static void
add_as_text(struct buf *b, const struct value *v)
{
	struct buf json;

	buf_init(&json, PROXY_MAX_ANSWER);
	(void)json_write(&json, v);
	buf_adds(b, "\"content\":[{\"text\":");
	(void)json_write_string(b, buf_span(&json));
	buf_adds(b, ",\"type\":\"text\"}]");
	b->failed = b->failed || json.failed;
	buf_free(&json);
}

/*
 * Write a link to a resource of the server, under the name that the agent can
 * read it by. One to the web stays as it is.
 */
static void
add_link(struct buf *b, const struct value *link, const char *server)
{
	struct span uri = value_str(link, "uri");
	const char *before = "{";
	struct buf all;

	buf_init(&all, 8192);
	if (!span_starts(uri, SPAN("https://")) &&
	    !span_starts(uri, SPAN("http://")))
		buf_printf(&all, "icmcp://%s/", server);
	buf_addspan(&all, uri);
	for (const struct value *v = link->child; v != NULL; v = v->next) {
		if (span_is(v->key, "icons"))
			continue;
		buf_adds(b, before);
		before = ",";
		(void)json_write_string(b, v->key);
		buf_addc(b, ':');
		if (span_is(v->key, "uri"))
			(void)json_write_string(b, buf_span(&all));
		else
			(void)json_write(b, v);
	}
	buf_addc(b, '}');
	b->failed = b->failed || all.failed;
	buf_free(&all);
}

static void
add_content(struct buf *b, const struct value *content, const char *server)
{
	const char *before = "";
	struct span type, uri;

	buf_addc(b, '[');
	for (const struct value *v = content->child; v != NULL; v = v->next) {
		buf_adds(b, before);
		before = ",";
		type = value_str(v, "type");
		uri = value_str(v, "uri");
		if (type.p != NULL && span_is(type, "resource_link") &&
		    uri.p != NULL && uri.len <= 2048)
			add_link(b, v, server);
		else
			(void)json_write(b, v);
	}
	buf_addc(b, ']');
}

/*
 * Write all members but _meta and resultType, which are between a server and
 * mcp-proxyd.
 */
static void
add_members(
    struct buf *b, const struct value *object, const char *server, bool modern)
{
	const struct value *content = value_get(object, "content");
	const struct value *odd = modern ? NULL : odd_structured(object), *v;
	bool text = odd != NULL && (content == NULL || content->count == 0);
	uint8_t open = '{';

	if (text) {
		buf_addc(b, open);
		add_as_text(b, odd);
		open = ',';
	}
	for (v = object->child; v != NULL; v = v->next) {
		if (span_is(v->key, "_meta") || v == odd ||
		    span_is(v->key, "resultType") || (text && v == content))
			continue;
		buf_addc(b, open);
		(void)json_write_string(b, v->key);
		buf_addc(b, ':');
		if (v == content && v->type == VALUE_ARRAY)
			add_content(b, v, server);
		else
			(void)json_write(b, v);
		open = ',';
	}
	answer_close(b, modern, open == '{' ? "{" : ",");
}

void
answer_result(struct call *c, const struct value *result)
{
	struct agent *a = c->agent;
	char why[SCHEMA_WHY], text[SCHEMA_WHY + 128];

	if (output_check(c, result, why) == -1) {
		(void)snprintf(text, sizeof(text),
		    "Error: the call was made, but its result was refused: its "
		    "structuredContent does not fit the tool's outputSchema: "
		    "%s",
		    why);
		answer_text(c, span_str(text), true);
		return;
	}
	(void)jsonrpc_add_head(&a->out, &c->rid);
	add_members(&a->out, result,
	    c->server < PROTO_MAX_SERVERS ? a->p->servers[c->server].name_text
					  : "",
	    c->modern);
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

/* Returns the code of a server's error in the agent's revision. */
static int64_t
code_for(const struct call *c, int64_t code, const struct value *data)
{
	switch (code) {
	case JSONRPC_NO_RESOURCE:
		return c->modern ? JSONRPC_PARAMS : code;
	case JSONRPC_URL_WANTED:
		return c->modern ? JSONRPC_INTERNAL : code;
	case JSONRPC_PARAMS:
		return !c->modern && c->part == PROTO_PART_RESOURCES &&
			       value_str(data, "uri").p != NULL
			   ? JSONRPC_NO_RESOURCE
			   : code;
	case JSONRPC_CAPABILITY:
		/* To declare what it declares already would not help it. */
		return c->modern && error_lacks(c, data) != 0
			   ? code
			   : JSONRPC_INTERNAL;
	case JSONRPC_HEADERS:
	case JSONRPC_VERSION:
		/* It is about us and not about the agent. */
		return JSONRPC_INTERNAL;
	default:
		return code;
	}
}

void
answer_error(struct call *c, const struct value *error)
{
	struct agent *a = c->agent;
	struct span message = value_str(error, "message");
	struct buf data;
	int64_t code;

	if (c->decided != NULL) {
		c->decided(c, false, false);
		return;
	}
	if (value_int(value_get(error, "code"), INT32_MIN, INT32_MAX, &code) ==
		-1 ||
	    message.p == NULL) {
		code = JSONRPC_INTERNAL;
		message = SPAN("the server's error was malformed");
	}
	buf_init(&data, PROXY_MAX_UNREAD);
	error_data(&data, c, code, value_get(error, "data"));
	code = code_for(c, code, value_get(error, "data"));
	(void)jsonrpc_add_error_data(&a->out, &c->rid, code, message,
	    data.failed ? SPAN("") : buf_span(&data));
	buf_free(&data);
	agent_wrote(a);
}

void
answer_fail(struct agent *a, const struct jsonrpc_id *id,
    enum jsonrpc_code code, const char *fmt, ...)
{
	char text[512], safe[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* The text may have been cut within a character. */
	(void)jsonrpc_add_error(
	    &a->out, id, code, safe_text(span_str(text), safe, sizeof(safe)));
	agent_wrote(a);
}

void
answer_ping(struct agent *a, const struct jsonrpc_id *id)
{
	(void)jsonrpc_add_head(&a->out, id);
	buf_addspan(&a->out, SPAN("{}"));
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

static void
add_parts(struct buf *b, uint8_t parts)
{
	if ((parts & PROTO_PART_COMPLETION) != 0)
		buf_adds(b, "\"completions\":{},");
	if ((parts & PROTO_PART_LOGGING) != 0)
		buf_adds(b, "\"logging\":{},");
	if ((parts & PROTO_PART_PROMPTS) != 0)
		buf_adds(b, "\"prompts\":{\"listChanged\":true},");
	if ((parts & PROTO_PART_RESOURCES) != 0)
		buf_printf(b, "\"resources\":{\"listChanged\":true%s},",
		    (parts & PROTO_PART_SUBSCRIBE) != 0 ? ",\"subscribe\":true"
							: "");
}

void
answer_hello(struct agent *a, const struct jsonrpc_id *id, struct span version)
{
	const struct span instructions = buf_span(&a->p->instructions);

	(void)jsonrpc_add_head(&a->out, id);
	a->parts = a->p->parts;
	buf_adds(&a->out, "{\"capabilities\":{");
	add_parts(&a->out, a->parts);
	buf_adds(&a->out, "\"tools\":{\"listChanged\":true}},");
	if (instructions.len != 0) {
		buf_adds(&a->out, "\"instructions\":");
		buf_addspan(&a->out, instructions);
		buf_addc(&a->out, ',');
	}
	buf_adds(&a->out, "\"protocolVersion\":\"");
	buf_adds(&a->out, jsonrpc_version(version));
	buf_adds(&a->out,
	    "\",\"serverInfo\":{\"name\":\"ironcurtain\",\"version\":"
	    "\"" IC_VERSION "\"}}");
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

void
answer_discover(struct agent *a, const struct jsonrpc_id *id)
{
	const struct span instructions = buf_span(&a->p->instructions);

	(void)jsonrpc_add_head(&a->out, id);
	buf_adds(&a->out, "{\"capabilities\":{");
	add_parts(&a->out, a->p->parts);
	buf_adds(&a->out, "\"tools\":{\"listChanged\":true}}");
	if (instructions.len != 0) {
		buf_adds(&a->out, ",\"instructions\":");
		buf_addspan(&a->out, instructions);
	}
	buf_adds(&a->out, ",\"supportedVersions\":[\"" JSONRPC_MODERN "\"]");
	/* It has more when more servers have started. */
	add_cache(&a->out, 0);
	answer_close(&a->out, true, ",");
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

void
answer_state(struct call *c, struct span state)
{
	struct buf *b = &c->agent->out;

	if (c->decided != NULL) {
		c->decided(c, false, false);
		return;
	}
	(void)jsonrpc_add_head(b, &c->rid);
	buf_adds(b, "{" SERVER_META ",\"requestState\":");
	(void)json_write_string(b, state);
	buf_adds(b, ",\"resultType\":\"input_required\"}");
	(void)jsonrpc_add_tail(b);
	agent_wrote(c->agent);
}

void
answer_note(struct call *c, struct span progress, struct span total,
    struct span message)
{
	struct buf *b = &c->agent->out;
	char safe[1024];

	buf_adds(b,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
	    "\"params\":{");
	if (message.len != 0) {
		buf_adds(b, "\"message\":");
		(void)json_write_string(
		    b, safe_text(message, safe, sizeof(safe)));
		buf_addc(b, ',');
	}
	buf_adds(b, "\"progress\":");
	buf_addspan(b, progress);
	buf_adds(b, ",\"progressToken\":");
	buf_add(b, c->token.text, c->token.len);
	if (total.len != 0) {
		buf_adds(b, ",\"total\":");
		buf_addspan(b, total);
	}
	buf_adds(b, "}}\n");
	agent_wrote(c->agent);
}

void
answer_changed(struct agent *a)
{
	buf_adds(&a->out, "{\"jsonrpc\":\"2.0\",\"method\":"
			  "\"notifications/tools/list_changed\"}\n");
	agent_wrote(a);
}

void
answer_list_changed(struct agent *a, uint8_t part)
{
	if ((a->parts & part) == 0)
		return;
	buf_printf(&a->out,
	    "{\"jsonrpc\":\"2.0\",\"method\":"
	    "\"notifications/%s/list_changed\"}\n",
	    part == PROTO_PART_PROMPTS ? "prompts" : "resources");
	agent_wrote(a);
}

void
answer_notice(struct agent *a, const char *level, struct span server,
    struct span logger, struct span text)
{
	char safe[2048], name[256], from[400];
	struct buf *b = &a->out;

	(void)snprintf(from, sizeof(from), "%.*s%s%.*s", (int)server.len,
	    (const char *)server.p, logger.len != 0 ? "/" : "", (int)logger.len,
	    (const char *)logger.p);
	buf_printf(b,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
	    "\"params\":{\"data\":");
	(void)json_write_string(b, safe_text(text, safe, sizeof(safe)));
	buf_printf(b, ",\"level\":\"%s\",\"logger\":", level);
	(void)json_write_string(
	    b, safe_text(span_str(from), name, sizeof(name)));
	buf_adds(b, "}}\n");
	agent_wrote(a);
}

/* Write a result that is one list. */
static void
add_list(struct agent *a, const struct jsonrpc_id *id, bool modern,
    const char *member, struct span list, uint32_t ttl)
{
	(void)jsonrpc_add_head(&a->out, id);
	buf_printf(&a->out, "{\"%s\":", member);
	buf_addspan(&a->out, list.len != 0 ? list : SPAN("[]"));
	if (modern)
		add_cache(&a->out, ttl);
	answer_close(&a->out, modern, ",");
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

void
answer_list(struct agent *a, const struct jsonrpc_id *id, bool modern,
    const char *member, enum proto_list which)
{
	add_list(a, id, modern, member, buf_span(&a->p->lists[which]),
	    a->p->lists_ttl[which]);
}

void
answer_tools(struct agent *a, const struct jsonrpc_id *id, bool modern)
{
	if (!modern)
		a->listed = true;
	add_list(a, id, modern, "tools", buf_span(&a->p->tools),
	    a->p->tools_complete ? a->p->tools_ttl : 0);
}
