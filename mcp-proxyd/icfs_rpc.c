/* SPDX-License-Identifier: ISC */
/*
 * MCP over stdin and stdout: handshake, tool list, calls.  One request at a
 * time; what goes wrong in a tool is a result with isError, what is wrong
 * with a request an error.
 */
#include "icfs.h"

#include <stdio.h>

#include "log.h"

#define SHOWN 96

static void
fail(struct icfs *f, const struct jsonrpc *m, enum jsonrpc_code code,
    const char *text)
{
	(void)jsonrpc_add_error(&f->out, &m->id, code, span_str(text));
}

static void
take_initialize(struct icfs *f, const struct jsonrpc *m)
{
	struct span version = value_str(m->params, "protocolVersion");

	if (version.p == NULL) {
		fail(f, m, JSONRPC_PARAMS,
		    "Invalid params: protocolVersion must be a string");
		return;
	}
	(void)jsonrpc_add_head(&f->out, &m->id);
	(void)buf_printf(&f->out,
	    "{\"capabilities\":{\"tools\":{}},\"protocolVersion\":\"%s\","
	    "\"serverInfo\":{\"name\":\"icfs\",\"version\":\"" IC_VERSION
	    "\"}}",
	    jsonrpc_version(version));
	(void)jsonrpc_add_tail(&f->out);
}

static void
take_list(struct icfs *f, const struct jsonrpc *m)
{
	bool first = true;

	(void)jsonrpc_add_head(&f->out, &m->id);
	(void)buf_adds(&f->out, "{\"tools\":[");
	for (size_t i = 0; i < icfs_ntools; i++) {
		if (f->read_only && icfs_tools[i].writes)
			continue;
		if (!first)
			(void)buf_addc(&f->out, ',');
		(void)buf_adds(&f->out, icfs_tools[i].listed);
		first = false;
	}
	(void)buf_adds(&f->out, "]}");
	(void)jsonrpc_add_tail(&f->out);
}

static void
add_failure(struct icfs *f, const struct jsonrpc *m)
{
	struct buf text;

	buf_init(&text, 4 * sizeof(f->why));
	icfs_add_text(&text, span_str(f->why));
	(void)jsonrpc_add_text(&f->out, &m->id, buf_span(&text), true);
	buf_free(&text);
}

/* f->text as the result, twice as the reference server has it. */
static void
add_result(struct icfs *f, const struct jsonrpc *m, bool content)
{
	struct span text = buf_span(&f->text);
	size_t before = f->out.len;

	if (text.len == 0)
		text = SPAN("");
	(void)jsonrpc_add_head(&f->out, &m->id);
	if (content) {
		(void)buf_adds(&f->out, "{\"content\":");
		(void)buf_addspan(&f->out, text);
		(void)buf_adds(&f->out, ",\"structuredContent\":{\"content\":");
		(void)buf_addspan(&f->out, text);
	} else {
		(void)buf_adds(&f->out, "{\"content\":[{\"text\":");
		(void)json_write_string(&f->out, text);
		(void)buf_adds(&f->out,
		    ",\"type\":\"text\"}],\"structuredContent\":{\"content\":");
		(void)json_write_string(&f->out, text);
	}
	(void)buf_adds(&f->out, "}}");
	(void)jsonrpc_add_tail(&f->out);
	if (!f->out.failed && !f->text.failed &&
	    f->out.len - before <= ICFS_MAX_LINE)
		return;
	/* The line is taken back. */
	f->out.failed = false;
	f->out.len = before;
	(void)icfs_why(f,
	    "Too much: the result exceeds %zu bytes as it is sent; ask for "
	    "less of it",
	    ICFS_MAX_LINE);
	add_failure(f, m);
}

static void
take_call(struct icfs *f, const struct jsonrpc *m)
{
	const struct value *args = value_get(m->params, "arguments");
	struct span name = value_str(m->params, "name");
	char text[SHOWN + 32], shown[SHOWN];
	const struct icfs_tool *t = NULL;

	if (name.p == NULL) {
		fail(f, m, JSONRPC_PARAMS,
		    "Invalid params: name must be a string");
		return;
	}
	if (args != NULL && args->type != VALUE_OBJECT) {
		fail(f, m, JSONRPC_PARAMS,
		    "Invalid params: arguments must be an object");
		return;
	}
	for (size_t i = 0; i < icfs_ntools && t == NULL; i++) {
		if (span_is(name, icfs_tools[i].name))
			t = &icfs_tools[i];
	}
	if (t == NULL) {
		(void)snprintf(text, sizeof(text), "Unknown tool: %s",
		    log_vis(name, shown, sizeof(shown)));
		fail(f, m, JSONRPC_PARAMS, text);
		return;
	}
	buf_reset(&f->text, ICFS_MAX_FILE / 8);
	f->why[0] = '\0';
	if (f->read_only && t->writes)
		(void)icfs_why(f,
		    "EROFS: this server was started with "
		    "--read-only, %s",
		    t->name);
	else if (t->fn(f, args) == 0) {
		add_result(f, m, t->content);
		return;
	}
	add_failure(f, m);
}

static void
take_request(struct icfs *f, const struct jsonrpc *m)
{
	char text[SHOWN + 32], shown[SHOWN];

	if (span_is(m->method, "tools/call")) {
		take_call(f, m);
	} else if (span_is(m->method, "tools/list")) {
		take_list(f, m);
	} else if (span_is(m->method, "initialize")) {
		take_initialize(f, m);
	} else if (span_is(m->method, "ping")) {
		(void)jsonrpc_add_head(&f->out, &m->id);
		(void)buf_adds(&f->out, "{}");
		(void)jsonrpc_add_tail(&f->out);
	} else {
		(void)snprintf(text, sizeof(text), "Method not found: \"%s\"",
		    log_vis(m->method, shown, sizeof(shown)));
		fail(f, m, JSONRPC_METHOD, text);
	}
}

void
icfs_line(struct icfs *f, struct span line)
{
	struct jsonrpc m;

	if (line.len == 0 || (line.len == 1 && line.p[0] == '\r'))
		return;
	value_pool_reset(f->pool);
	jsonrpc_read(f->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_REQUEST:
		take_request(f, &m);
		break;
	case JSONRPC_BAD:
		fail(f, &m, m.code, m.why);
		break;
	case JSONRPC_NOTIFICATION:
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		break;
	}
}
