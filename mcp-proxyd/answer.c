/* SPDX-License-Identifier: ISC */
/*
 * Everything the agent reads is composed here, from decoded values and our own
 * texts; no byte of a server is copied through.  Text from any other process is
 * checked to be UTF-8 before it is written as JSON.
 */
#include "proxy.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"

/* Returns `s`, or an escaped form of it in `dst` if it is not valid UTF-8. */
static struct span
safe_text(struct span s, char *dst, size_t cap)
{
	if (utf8_valid(s))
		return s;
	return span_str(log_vis(s, dst, cap));
}

void
answer_text(struct call *c, struct span text, bool error)
{
	struct agent *a = c->agent;
	char safe[4096];

	(void)jsonrpc_add_text(
	    &a->out, &c->rid, safe_text(text, safe, sizeof(safe)), error);
	agent_wrote(a);
}

/* Write all members but _meta, which is between a server and mcp-proxyd. */
static void
add_members(struct buf *b, const struct value *object)
{
	const struct value *v;
	uint8_t open = '{';

	for (v = object->child; v != NULL; v = v->next) {
		if (span_is(v->key, "_meta"))
			continue;
		buf_addc(b, open);
		(void)json_write_string(b, v->key);
		buf_addc(b, ':');
		(void)json_write(b, v);
		open = ',';
	}
	buf_addspan(b, open == '{' ? SPAN("{}") : SPAN("}"));
}

void
answer_result(struct call *c, const struct value *result)
{
	struct agent *a = c->agent;

	(void)jsonrpc_add_head(&a->out, &c->rid);
	add_members(&a->out, result);
	(void)jsonrpc_add_tail(&a->out);
	agent_wrote(a);
}

void
answer_error(struct call *c, const struct value *error)
{
	struct agent *a = c->agent;
	struct span message = value_str(error, "message");
	int64_t code;

	if (value_int(value_get(error, "code"), INT32_MIN, INT32_MAX, &code) ==
		-1 ||
	    message.p == NULL) {
		code = JSONRPC_INTERNAL;
		message = SPAN("the server's error was malformed");
	}
	(void)jsonrpc_add_error(&a->out, &c->rid, code, message);
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

void
answer_hello(struct agent *a, const struct jsonrpc_id *id, struct span version)
{
	const struct span instructions = buf_span(&a->p->instructions);

	(void)jsonrpc_add_head(&a->out, id);
	buf_adds(&a->out,
	    "{\"capabilities\":{\"tools\":{\"listChanged\":true}},");
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
answer_tools(struct agent *a, const struct jsonrpc_id *id)
{
	struct span text = buf_span(&a->p->tools);

	(void)jsonrpc_add_head(&a->out, id);
	buf_addspan(&a->out, SPAN("{\"tools\":"));
	buf_addspan(&a->out, text.len != 0 ? text : SPAN("[]"));
	buf_addspan(&a->out, SPAN("}"));
	(void)jsonrpc_add_tail(&a->out);
	a->listed = true;
	agent_wrote(a);
}
