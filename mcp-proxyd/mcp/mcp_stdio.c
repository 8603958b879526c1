/* SPDX-License-Identifier: ISC */
/*
 * MCP over stdin and stdout.  A failure in a tool is a result with isError and
 * up to the tool; a fault in a request is an error and answered here.
 */
#include "mcp/mcp_stdio.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/log.h"
#include "mcp/lines.h"

#define SHOWN 96

static void
fail(struct mcp *s, const struct jsonrpc *m, enum jsonrpc_code code,
    const char *text)
{
	(void)jsonrpc_add_error(s->out, &m->id, code, span_str(text));
}

static void
take_initialize(struct mcp *s, const struct jsonrpc *m)
{
	struct span version = value_str(m->params, "protocolVersion");

	if (version.p == NULL) {
		fail(s, m, JSONRPC_PARAMS,
		    "Invalid params: protocolVersion must be a string");
		return;
	}
	(void)jsonrpc_add_head(s->out, &m->id);
	buf_printf(s->out,
	    "{\"capabilities\":{\"tools\":{}},\"protocolVersion\":\"%s\","
	    "\"serverInfo\":{\"name\":\"%s\",\"version\":\"" IC_VERSION "\"}}",
	    jsonrpc_version(version), s->name);
	(void)jsonrpc_add_tail(s->out);
}

static void
take_list(struct mcp *s, const struct jsonrpc *m)
{
	(void)jsonrpc_add_head(s->out, &m->id);
	buf_adds(s->out, "{\"tools\":[");
	s->list(s);
	buf_adds(s->out, "]}");
	(void)jsonrpc_add_tail(s->out);
}

static void
take_call(struct mcp *s, const struct jsonrpc *m)
{
	const struct value *args = value_get(m->params, "arguments");
	struct span name = value_str(m->params, "name");
	char text[SHOWN + 32], shown[SHOWN];

	if (name.p == NULL) {
		fail(s, m, JSONRPC_PARAMS,
		    "Invalid params: name must be a string");
		return;
	}
	if (args != NULL && args->type != VALUE_OBJECT) {
		fail(s, m, JSONRPC_PARAMS,
		    "Invalid params: arguments must be an object");
		return;
	}
	if (s->call(s, m, name, args))
		return;
	(void)snprintf(text, sizeof(text), "Unknown tool: %s",
	    log_vis(name, shown, sizeof(shown)));
	fail(s, m, JSONRPC_PARAMS, text);
}

static void
take_request(struct mcp *s, const struct jsonrpc *m)
{
	char text[SHOWN + 32], shown[SHOWN];

	if (span_is(m->method, "tools/call")) {
		take_call(s, m);
	} else if (span_is(m->method, "tools/list")) {
		take_list(s, m);
	} else if (span_is(m->method, "initialize")) {
		take_initialize(s, m);
	} else if (span_is(m->method, "ping")) {
		(void)jsonrpc_add_head(s->out, &m->id);
		buf_adds(s->out, "{}");
		(void)jsonrpc_add_tail(s->out);
	} else {
		(void)snprintf(text, sizeof(text), "Method not found: \"%s\"",
		    log_vis(m->method, shown, sizeof(shown)));
		fail(s, m, JSONRPC_METHOD, text);
	}
}

void
mcp_line(struct mcp *s, struct span line)
{
	struct jsonrpc m;

	if (line.len == 0 || (line.len == 1 && line.p[0] == '\r'))
		return;
	value_pool_reset(s->pool);
	jsonrpc_read(s->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_REQUEST:
		take_request(s, &m);
		break;
	case JSONRPC_BAD:
		fail(s, &m, m.code, m.why);
		break;
	case JSONRPC_NOTIFICATION:
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		break;
	}
}

static void
write_out(struct mcp *s)
{
	/* The client is gone. */
	if (span_write(STDOUT_FILENO, buf_span(s->out)) == -1)
		_exit(0);
	buf_reset(s->out, LINES_READ);
}

void
mcp_serve(struct mcp *s)
{
	enum lines_got got = LINES_MORE;
	struct lines in;
	struct span line;
	uint8_t *room;
	ssize_t n;

	lines_init(&in, MCP_MAX_LINE);
	while (got != LINES_LONG) {
		if ((room = lines_room(&in)) == NULL)
			errx(1, "out of memory");
		if ((n = read(STDIN_FILENO, room, LINES_READ)) == -1) {
			if (errno == EINTR)
				continue;
			err(1, "stdin");
		}
		if (n == 0)
			_exit(0);
		lines_filled(&in, (size_t)n);
		while ((got = lines_next(&in, &line)) == LINES_ONE) {
			mcp_line(s, line);
			if (s->out->len > MCP_MAX_LINE)
				write_out(s);
		}
		lines_done(&in);
		write_out(s);
	}
	(void)jsonrpc_add_error(s->out, NULL, JSONRPC_INVALID,
	    SPAN("Invalid Request: line longer than 4194304 bytes"));
	write_out(s);
	_exit(1);
}
