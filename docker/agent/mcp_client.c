/* SPDX-License-Identifier: ISC */
/* The session's MCP server, over its socket: JSON-RPC, one message per line. */
#include "docker/agent/mcp_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/visible.h"
#include "mcp-proxyd/mcp/jsonrpc.h"

#define MCP_VERSION "2025-06-18"
#define MCP_LINE_MAX (16U << 20)
#define MCP_POOL (24U << 20)
#define MCP_PAGES 64U
#define MCP_TEXT_MAX (8U << 20)

static int
mcp_fail(struct mcp *m, const char *what, struct span said)
{
	struct buf b;

	buf_init(&b, 2048);
	if (said.len > MCP_WHY / 2)
		said.len = visible_cut(said, MCP_WHY / 2);
	visible_add(&b, said, VISIBLE_AGAIN);
	snprintf(m->why, sizeof(m->why), "%s%s%.*s", what,
	    b.len != 0 ? ": " : "", (int)b.len, (const char *)buf_span(&b).p);
	buf_free(&b);
	return -1;
}

static int
mcp_gone(struct mcp *m)
{
	m->gone = true;
	return mcp_fail(
	    m, "the session's MCP server has closed the connection", SPAN(""));
}

static int
mcp_send(struct mcp *m, struct buf *b)
{
	struct span s = buf_span(b);
	ssize_t n;

	if (buf_check(b) == -1)
		return mcp_fail(m, "a message is too large", SPAN(""));
	while (s.len != 0) {
		n = send(m->fd, s.p, s.len, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return mcp_gone(m);
		s = span_of(s.p + n, s.len - (size_t)n);
	}
	return 0;
}

/* Wait for bytes.  Returns 1, 0 if cancelled, or -1. */
static int
mcp_read(struct mcp *m, bool cancel)
{
	struct pollfd p[2] = {{.fd = m->fd, .events = POLLIN},
	    {.fd = cancel ? m->cancel_fd : -1, .events = POLLIN}};
	uint8_t *room;
	ssize_t n;

	while (poll(p, 2, -1) == -1)
		if (errno != EINTR)
			return mcp_gone(m);
	if (p[1].revents != 0)
		return 0;
	if ((room = lines_room(&m->in)) == NULL)
		return mcp_gone(m);
	if ((n = recv(m->fd, room, LINES_READ, 0)) <= 0) {
		lines_filled(&m->in, 0);
		return n == -1 && errno == EINTR ? 1 : mcp_gone(m);
	}
	lines_filled(&m->in, (size_t)n);
	return 1;
}

/* Answer a request of the server: there is nothing that it may ask for. */
static void
mcp_asked(struct mcp *m, const struct jsonrpc *msg)
{
	struct buf b;

	buf_init(&b, 4096);
	buf_adds(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_add(&b, msg->id.text, msg->id.len);
	buf_adds(&b, span_is(msg->method, "ping")
			 ? ",\"result\":{}}\n"
			 : ",\"error\":{\"code\":-32601,\"message\":\"no such "
			   "method\"}}\n");
	mcp_send(m, &b);
	buf_free(&b);
}

static void
mcp_told(struct mcp *m, const struct jsonrpc *msg, mcp_note_fn *note, void *arg)
{
	int64_t id;

	if (span_is(msg->method, "notifications/tools/list_changed"))
		m->changed = true;
	else if (span_is(msg->method, "notifications/progress") &&
		 note != NULL &&
		 value_int(value_get(msg->params, "progressToken"), 1,
		     INT64_MAX, &id) == 0 &&
		 (uint64_t)id == m->id)
		note(arg, value_str(msg->params, "message"));
}

/* Returns true if the message is the answer to the latest request. */
static bool
mcp_answers(struct mcp *m, const struct jsonrpc *msg)
{
	int64_t id;

	return (msg->kind == JSONRPC_RESULT || msg->kind == JSONRPC_ERROR) &&
	       value_int(msg->rid, 1, INT64_MAX, &id) == 0 &&
	       (uint64_t)id == m->id;
}

/*
 * Wait for the answer to the latest request.  Returns 1 with the message, which
 * is valid until the next line is read; 0 if the call was cancelled; or -1.
 */
static int
mcp_wait(struct mcp *m, bool cancel, mcp_note_fn *note, void *arg,
    struct jsonrpc *msg)
{
	struct span line;
	int r;

	for (;;) {
		switch (lines_next(&m->in, &line)) {
		case LINES_MORE:
			lines_done(&m->in);
			if ((r = mcp_read(m, cancel)) != 1)
				return r;
			continue;
		case LINES_LONG:
		case LINES_LONG_END:
			return mcp_fail(m,
			    "the session's MCP server sent a line that is too "
			    "long",
			    SPAN(""));
		case LINES_ONE:
			break;
		}
		value_pool_reset(m->pool);
		jsonrpc_read_repaired(m->pool, line, msg);
		if (mcp_answers(m, msg))
			return 1;
		if (msg->kind == JSONRPC_REQUEST)
			mcp_asked(m, msg);
		else if (msg->kind == JSONRPC_NOTIFICATION)
			mcp_told(m, msg, note, arg);
	}
}

static void
mcp_begin(struct mcp *m, struct buf *b, const char *method)
{
	buf_init(b, MCP_LINE_MAX);
	buf_printf(b,
	    "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\",\"params\":",
	    (unsigned long long)++m->id, method);
}

static int
mcp_hello(struct mcp *m)
{
	struct jsonrpc msg;
	struct buf b;
	int r;

	mcp_begin(m, &b, "initialize");
	buf_adds(&b,
	    "{\"protocolVersion\":\"" MCP_VERSION "\",\"capabilities\":{},"
	    "\"clientInfo\":{\"name\":\"ic-agent\",\"version\":\"" IC_VERSION
	    "\"}}}\n");
	r = mcp_send(m, &b);
	buf_free(&b);
	if (r == -1 || mcp_wait(m, false, NULL, NULL, &msg) != 1)
		return -1;
	if (msg.kind != JSONRPC_RESULT)
		return mcp_fail(m, "the session's MCP server refused to begin",
		    msg.message);
	buf_init(&b, 256);
	buf_adds(&b, "{\"jsonrpc\":\"2.0\",\"method\":"
		     "\"notifications/initialized\"}\n");
	r = mcp_send(m, &b);
	buf_free(&b);
	return r;
}

int
mcp_open(struct mcp *m, const char *path, int cancel_fd)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	*m = (struct mcp){.fd = -1, .cancel_fd = cancel_fd};
	lines_init(&m->in, MCP_LINE_MAX);
	if ((m->pool = value_pool_new(MCP_POOL)) == NULL ||
	    strlen(path) >= sizeof(sun.sun_path))
		return mcp_fail(m, "socket", span_str(path));
	memcpy(sun.sun_path, path, strlen(path) + 1);
	m->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (m->fd == -1 ||
	    connect(m->fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		mcp_fail(m, path, span_str(strerror(errno)));
		return -1;
	}
	return mcp_hello(m);
}

static void
tools_free(struct mcp *m)
{
	for (size_t i = 0; i < m->ntools; i++) {
		free(m->tools[i].name);
		free(m->tools[i].description);
		free(m->tools[i].schema);
	}
	free(m->tools);
	m->tools = NULL;
	m->ntools = 0;
}

void
mcp_close(struct mcp *m)
{
	tools_free(m);
	lines_free(&m->in);
	value_pool_free(m->pool);
	if (m->fd != -1)
		close(m->fd);
	*m = (struct mcp){.fd = -1, .gone = true};
}

static char *
json_text(const struct value *v)
{
	struct buf b;
	char *s = NULL;

	buf_init(&b, MCP_LINE_MAX);
	if (json_write(&b, v) == 0)
		s = span_dup(buf_span(&b));
	buf_free(&b);
	return s;
}

/* Take one tool; one that cannot be used is left out. */
static int
tool_take(struct mcp *m, const struct value *v)
{
	const struct value *schema = value_get(v, "inputSchema");
	struct span text = value_str(v, "description");
	struct mcp_tool *t = &m->tools[m->ntools];

	*t = (struct mcp_tool){0};
	if ((t->name = span_dup(value_str(v, "name"))) == NULL ||
	    *t->name == '\0') {
		free(t->name);
		return errno == ENOMEM ? -1 : 0;
	}
	t->description = text.p != NULL ? span_dup(text) : NULL;
	t->schema = schema != NULL && schema->type == VALUE_OBJECT
			? json_text(schema)
			: strdup("{\"type\":\"object\"}");
	m->ntools++;
	return t->schema == NULL ? -1 : 0;
}

static int
tools_take(struct mcp *m, const struct value *result, size_t max)
{
	const struct value *list = value_get(result, "tools");
	struct mcp_tool *more;

	if (list == NULL || list->type != VALUE_ARRAY)
		return mcp_fail(
		    m, "the session's MCP server listed no tools", SPAN(""));
	more =
	    reallocarray(m->tools, m->ntools + list->count + 1, sizeof(*more));
	if (more == NULL)
		return mcp_fail(m, "tools", span_str(strerror(errno)));
	m->tools = more;
	for (const struct value *v = list->child; v != NULL && m->ntools < max;
	     v = v->next) {
		if (tool_take(m, v) == -1)
			return mcp_fail(m, "tools", span_str(strerror(errno)));
	}
	return 0;
}

/* Ask for a page.  Returns 1 if there are more, 0 at the end, or -1. */
static int
tools_page(struct mcp *m, struct buf *cursor, size_t max)
{
	struct jsonrpc msg;
	struct span next;
	struct buf b;
	int r;

	mcp_begin(m, &b, "tools/list");
	if (cursor->len != 0) {
		buf_adds(&b, "{\"cursor\":");
		json_write_string(&b, buf_span(cursor));
		buf_adds(&b, "}}\n");
	} else {
		buf_adds(&b, "{}}\n");
	}
	r = mcp_send(m, &b);
	buf_free(&b);
	if (r == -1 || mcp_wait(m, false, NULL, NULL, &msg) != 1)
		return -1;
	if (msg.kind != JSONRPC_RESULT)
		return mcp_fail(m, "tools/list", msg.message);
	if (tools_take(m, msg.result, max) == -1)
		return -1;
	next = value_str(msg.result, "nextCursor");
	buf_reset(cursor, 4096);
	buf_addspan(cursor, next);
	return next.len != 0 && buf_check(cursor) == 0 && m->ntools < max;
}

int
mcp_list(struct mcp *m, size_t max)
{
	struct buf cursor;
	int r = 1;

	tools_free(m);
	m->changed = false;
	buf_init(&cursor, 65536);
	for (unsigned i = 0; r == 1 && i < MCP_PAGES; i++)
		r = tools_page(m, &cursor, max);
	buf_free(&cursor);
	return r == -1 ? -1 : 0;
}

/* Returns the text of a result: all its texts, or else its structure. */
static char *
result_text(const struct value *result)
{
	const struct value *list = value_get(result, "content"), *other;
	struct buf b;
	struct span text;
	char *s;

	buf_init(&b, MCP_TEXT_MAX);
	for (const struct value *v =
		 list != NULL && list->type == VALUE_ARRAY ? list->child : NULL;
	     v != NULL; v = v->next) {
		text = value_str(v, "text");
		if (text.p == NULL)
			text = value_str(value_get(v, "resource"), "text");
		if (b.len != 0)
			buf_addc(&b, '\n');
		if (text.p != NULL)
			buf_addspan(&b, text);
		else
			buf_printf(&b, "[content of type %.*s]",
			    (int)value_str(v, "type").len,
			    (const char *)value_str(v, "type").p);
	}
	other = value_get(result, "structuredContent");
	if (b.len == 0 && other != NULL)
		json_write(&b, other);
	for (size_t i = 0; i < b.len; i++)
		if (b.p[b.off + i] == '\0')
			b.p[b.off + i] = ' ';
	s = buf_check(&b) == 0 ? span_dup(buf_span(&b)) : NULL;
	buf_free(&b);
	return s != NULL ? s : strdup("[a result that is too large]");
}

static void
call_cancel(struct mcp *m)
{
	struct buf b;

	buf_init(&b, 256);
	buf_printf(&b,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":%llu}}\n",
	    (unsigned long long)m->id);
	mcp_send(m, &b);
	buf_free(&b);
}

int
mcp_call(struct mcp *m, const char *name, const char *args, mcp_note_fn *note,
    void *arg, struct mcp_result *out)
{
	struct jsonrpc msg;
	struct buf b;
	int r;

	*out = (struct mcp_result){0};
	mcp_begin(m, &b, "tools/call");
	buf_adds(&b, "{\"name\":");
	json_write_string(&b, span_str(name));
	buf_adds(&b, ",\"arguments\":");
	buf_adds(&b, args);
	buf_printf(&b, ",\"_meta\":{\"progressToken\":%llu}}}\n",
	    (unsigned long long)m->id);
	r = strchr(args, '\n') != NULL
		? mcp_fail(m, "arguments with a line break", SPAN(""))
		: mcp_send(m, &b);
	buf_free(&b);
	if (r == -1)
		return -1;
	switch (mcp_wait(m, true, note, arg, &msg)) {
	case -1:
		return -1;
	case 0:
		call_cancel(m);
		out->cancelled = out->is_error = true;
		out->text = strdup("The call was interrupted.");
		break;
	default:
		out->is_error = msg.kind == JSONRPC_ERROR ||
				value_bool(msg.result, "isError", false);
		out->text = msg.kind == JSONRPC_ERROR ? span_dup(msg.message)
						      : result_text(msg.result);
		break;
	}
	return out->text == NULL ? mcp_fail(m, "no memory", SPAN("")) : 0;
}
