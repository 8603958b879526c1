/* SPDX-License-Identifier: ISC */
/*
 * Lines of an MCP server.  An answer whose id is a number is the result of a
 * tool; mcp-proxyd and auditd know whether that number is a call of this
 * server.  An answer that cannot be read fails only its own call.  A line that
 * is no message at all is tolerated a few times, because programs print
 * banners, and then ends the server.
 */
#include "backd/backd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/ipc/wire.h"
#include "common/log.h"

#define SHOWN 200

/* Send what b->done has as one message. */
static void
send_done(struct backd *b)
{
	const struct proto_msg *row = proto_find(MSG_DONE);
	uint8_t bytes[BACKD_DONE * PROTO_DONE_SIZE];
	struct msg_DONES m = {.each = span_of(bytes, 0)};
	struct span big;
	size_t n;

	if (b->ndone == 1) {
		worker_send(&b->w, ROLE_AUDIT, 0, MSG_DONE, &b->done[0], -1);
		return;
	}
	for (unsigned i = 0; i < b->ndone; i++) {
		if (wire_encode(
			row, &b->done[i], bytes + m.each.len, &n, &big) == -1)
			fatal("bug: DONE exceeds its maximum");
		m.each.len += n;
	}
	worker_send(&b->w, ROLE_AUDIT, 0, MSG_DONES, &m, -1);
}

void
server_done(struct backd *b)
{
	uint64_t now, ago;

	loop_timer_clear(&b->w.loop, &b->done_timer);
	if (b->ndone == 0)
		return;
	now = clock_mono_us();
	for (unsigned i = 0; i < b->ndone; i++) {
		ago = now - b->done_at[i];
		b->done[i].ago = ago < UINT32_MAX ? (uint32_t)ago : UINT32_MAX;
	}
	send_done(b);
	b->ndone = 0;
}

static void
done_due(struct loop_timer *t)
{
	server_done(t->arg);
}

/* Queue a record for auditd; the agent's answer does not wait for it. */
static void
note_done(struct backd *b, const struct msg_DONE *done)
{
	b->done[b->ndone] = *done;
	b->done_at[b->ndone++] = clock_mono_us();
	if (b->ndone == BACKD_DONE || done->status != 0 ||
	    b->done_at[b->ndone - 1] - b->done_at[0] >= BACKD_DONE_US)
		server_done(b);
	else if (b->ndone == 1)
		loop_timer_set(
		    &b->w.loop, &b->done_timer, BACKD_DONE_MS, done_due, b);
}

static void
send_tree(struct backd *b, uint64_t id, bool error, const struct value *v)
{
	struct msg_RESULT m = {.id = rounds_call(id), .error = error};
	struct msg_DONE done = {.id = m.id};

	buf_reset(&b->tree, 2 * LINES_READ);
	/* The reader checked the limits, so any part of its tree fits. */
	if (value_encode(v, &b->tree) == -1)
		fatal("value_encode");
	m.tree = buf_span(&b->tree);
	if (b->sandboxed)
		m.blocked = done.blocked =
		    error ? blocked_text(value_str(v, "message"))
			  : blocked_result(v);
	worker_send(&b->w, ROLE_PROXY, 0, MSG_RESULT, &m, -1);
	b->answered[b->nanswered++ % PROTO_MAX_SERVER_CALLS] = id;
	done.status = error || value_bool(v, "isError", false);
	done.bytes = (uint32_t)m.tree.len;
	note_done(b, &done);
}

/* Returns the data of an error whose meaning is known, or NULL. */
static const struct value *
error_data(const struct jsonrpc *m)
{
	switch (m->error) {
	case JSONRPC_PARAMS:
	case JSONRPC_NO_RESOURCE:
	case JSONRPC_URL_WANTED:
	case JSONRPC_CAPABILITY:
		return m->data != NULL && m->data->type == VALUE_OBJECT
			   ? m->data
			   : NULL;
	default:
		return NULL;
	}
}

static void
send_error(struct backd *b, uint64_t id, int64_t code, struct span text,
    const struct value *data)
{
	struct value *error = value_new(b->pool, VALUE_OBJECT);

	if (value_set(error, SPAN("code"), value_new_number(b->pool, code)) ==
		-1 ||
	    value_set(
		error, SPAN("message"), value_new_string(b->pool, text)) == -1)
		fatal("value pool");
	if (code == JSONRPC_URL_WANTED && data != NULL)
		backd_ask_wanted(b, rounds_call(id), data);
	/* An error is an error without it, too. */
	if (data != NULL)
		(void)value_set(error, SPAN("data"), value_copy(b->pool, data));
	send_tree(b, id, true, error);
}

/* Fail the call because of what its server wrote instead of an answer. */
static void
send_failure(struct backd *b, uint64_t id, const char *why)
{
	char text[JSONRPC_WHY + 64];

	(void)snprintf(
	    text, sizeof(text), "the MCP server's answer was refused: %s", why);
	send_error(b, id, JSONRPC_INTERNAL, span_str(text), NULL);
}

static void
take_result(struct backd *b, uint64_t id, const struct value *result)
{
	const char *why;
	bool answer;

	if ((why = rounds_result(b, id, result, &answer)) != NULL)
		send_failure(b, id, why);
	else if (answer)
		send_tree(b, id, false, result);
}

static void
take_answer(struct backd *b, const struct jsonrpc *m)
{
	int64_t id;

	if (m->rid == NULL)
		backd_drop(b, "an error without id");
	else if (b->from != NULL && !b->afar->answers(b, &m->id))
		backd_drop(b, "an answer to another request");
	else if (m->rid->type == VALUE_STRING)
		session_answer(b, m);
	else if (value_int(m->rid, 1, INT64_MAX, &id) == -1)
		backd_drop(b, "an answer to nothing we asked");
	else if (session_ended(b, (uint64_t)id))
		return;
	else if (m->kind == JSONRPC_ERROR)
		send_error(
		    b, (uint64_t)id, m->error, m->message, error_data(m));
	else if (m->result->type != VALUE_OBJECT)
		send_failure(b, (uint64_t)id, "its result is no object");
	else
		take_result(b, (uint64_t)id, m->result);
}

static void
take_progress(struct backd *b, const struct jsonrpc *m)
{
	const struct value *token = value_get(m->params, "progressToken");
	const struct value *progress = value_get(m->params, "progress");
	const struct value *total = value_get(m->params, "total");
	struct msg_PROGRESS out = {.total = SPAN("")};
	int64_t id;

	if (value_int(token, 1, INT64_MAX, &id) == -1 || progress == NULL ||
	    progress->type != VALUE_NUMBER) {
		backd_drop(b, "progress of nothing we asked");
		return;
	}
	/*
	 * Progress may be dropped, and is if it comes too often or mcp-proxyd
	 * is busy.
	 */
	if (!backd_may(b, &b->progress) ||
	    (b->w.peers[ROLE_PROXY][0] != NULL &&
		chan_queued(b->w.peers[ROLE_PROXY][0]) != 0)) {
		backd_drop(b, "progress, too often");
		return;
	}
	out.id = rounds_call((uint64_t)id);
	out.progress = progress->text;
	if (total != NULL && total->type == VALUE_NUMBER)
		out.total = total->text;
	out.message = backd_cut(value_str(m->params, "message"), 1024);
	worker_send(&b->w, ROLE_PROXY, 0, MSG_PROGRESS, &out, -1);
}

/*
 * A server of revision 2026-07-28 has taken a subscription. One to a resource
 * is a call, which is answered so, and whose request stays open; if it takes no
 * resource, the call fails.
 */
static void
take_acknowledged(struct backd *b, const struct jsonrpc *m)
{
	const struct value *rid = value_get(value_get(m->params, "_meta"),
			       JSONRPC_META "subscriptionId"),
			   *uris;
	struct value *o;
	int64_t id;

	if (value_int(rid, 1, INT64_MAX, &id) == -1)
		return; /* it is one to lists */
	uris = value_get(
	    value_get(m->params, "notifications"), "resourceSubscriptions");
	if (uris == NULL || uris->type != VALUE_ARRAY || uris->child == NULL) {
		send_failure(b, (uint64_t)id,
		    "it does not tell of changes of this resource");
		return;
	}
	o = value_new(b->pool, VALUE_OBJECT);
	if (value_set(
		o, SPAN(JSONRPC_LISTENING), value_new_number(b->pool, 1)) == -1)
		fatal("value pool");
	b->open[b->nopen++ % BACKD_OPEN] = (uint64_t)id;
	send_tree(b, (uint64_t)id, false, o);
}

static void
take_notification(struct backd *b, const struct jsonrpc *m)
{
	char shown[64];

	if (span_is(m->method, "notifications/progress"))
		take_progress(b, m);
	else if (span_is(m->method, "notifications/tools/list_changed"))
		session_changed(b, PROTO_CHANGED_TOOLS);
	else if (span_is(m->method, "notifications/resources/list_changed"))
		session_changed(b, PROTO_CHANGED_RESOURCES);
	else if (span_is(m->method, "notifications/prompts/list_changed"))
		session_changed(b, PROTO_CHANGED_PROMPTS);
	else if (span_is(m->method, "notifications/resources/updated"))
		session_updated(b, m);
	else if (span_is(m->method, "notifications/message"))
		notice_take(b, m);
	else if (span_is(m->method, "notifications/cancelled"))
		session_cancelled(b, m);
	else if (b->modern &&
		 span_is(m->method, "notifications/subscriptions/acknowledged"))
		take_acknowledged(b, m);
	else
		backd_drop(b, backd_show(b, m->method, shown, sizeof(shown)));
}

/* Returns true if the line begins like a message rather than a banner. */
static bool
looks_like_message(struct span line)
{
	size_t i = 0;

	while (i < line.len && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	if (i == line.len || line.p[i++] != '{')
		return false;
	while (i < line.len && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	return i < line.len && line.p[i] == '"';
}

static void
take_stray(struct backd *b, struct span line, const char *why)
{
	char shown[SHOWN];

	backd_show(b, line, shown, sizeof(shown));
	log_info("stdout, not a message (%s): %s", why, shown);
	snprintf(b->last, sizeof(b->last), "%.*s%s", BACKD_MAX_LAST - 4, shown,
	    strlen(shown) > BACKD_MAX_LAST - 4 ? "..." : "");
	if (++b->stray > BACKD_MAX_STRAY)
		backd_gone(b,
		    "wrote more than %u lines that are no JSON-RPC messages to "
		    "its stdout, the last one (%s): %s",
		    BACKD_MAX_STRAY, why, shown);
}

/*
 * Read a list of tools of which a value is beyond a limit: that costs the tool
 * that has it, and no other one.  Returns false if the line is no such list.
 */
static bool __attribute__((noinline))
take_marked(struct backd *b, struct span line)
{
	struct jsonrpc m;

	value_pool_reset(b->pool);
	jsonrpc_read_marked(b->pool, line, &m);
	if (m.kind != JSONRPC_RESULT || m.rid == NULL ||
	    m.rid->type != VALUE_STRING || m.rid->text.len == 0 ||
	    memchr("tsmp", m.rid->text.p[0], 4) == NULL ||
	    (b->from != NULL && !b->afar->answers(b, &m.id)))
		return false;
	session_answer(b, &m);
	return true;
}

static void
take_bad(struct backd *b, struct span line, const struct jsonrpc *m)
{
	char shown[SHOWN];
	uint64_t id;
	int64_t n;

	if (b->from != NULL) {
		if (m->code != JSONRPC_PARSE && !m->response)
			backd_drop(b, "a message that is not one of MCP");
		else if (m->code != JSONRPC_PARSE || !take_marked(b, line))
			b->afar->refused(b, m->why);
		return;
	}
	if (m->code != JSONRPC_PARSE) {
		if (m->response && value_int(m->rid, 1, INT64_MAX, &n) == 0)
			send_failure(b, (uint64_t)n, m->why);
		take_stray(b, line, m->why);
		return;
	}
	if (!looks_like_message(line)) {
		take_stray(b, line, m->why);
		return;
	}
	if (take_marked(b, line))
		return;
	value_pool_reset(b->pool);
	if (jsonrpc_find_id(line, &id) == 0 && id != 0) {
		send_failure(b, id, m->why);
		take_stray(b, line, m->why);
		return;
	}
	backd_gone(b, "wrote a line that is no JSON (%s): %s", m->why,
	    backd_show(b, line, shown, sizeof(shown)));
}

/* Returns the id as a value for session_answer(), or NULL if it is no string.
 */
static const struct value *
string_id(struct backd *b, const struct jsonrpc_id *id)
{
	if (id->len < 2 || id->text[0] != '"')
		return NULL;
	return value_new_string(
	    b->pool, span_of(id->text + 1, (size_t)id->len - 2));
}

void
server_error(
    struct backd *b, const struct jsonrpc_id *id, const struct jsonrpc *m)
{
	struct jsonrpc as = *m;
	uint64_t n;

	if (idscan_number(id, &n) == 0)
		send_error(b, n, m->error, m->message, error_data(m));
	else if ((as.rid = string_id(b, id)) != NULL)
		session_answer(b, &as);
}

void
server_fail(struct backd *b, const struct jsonrpc_id *id, const char *why)
{
	struct jsonrpc m = {.kind = JSONRPC_ERROR, .message = span_str(why)};
	char text[1024];
	uint64_t n;

	value_pool_reset(b->pool);
	if (idscan_number(id, &n) == 0) {
		(void)snprintf(text, sizeof(text), "the MCP server %s", why);
		send_error(b, n, JSONRPC_INTERNAL, span_str(text), NULL);
	} else if ((m.rid = string_id(b, id)) != NULL) {
		session_answer(b, &m);
	}
}

void
server_long(struct backd *b)
{
	char why[80];
	struct jsonrpc m = {.kind = JSONRPC_ERROR, .message = {NULL, 0}};
	struct jsonrpc_id id;
	uint64_t n;

	(void)snprintf(why, sizeof(why),
	    "it is longer than %u bytes; ask for a smaller part",
	    PROTO_MAX_LINE);
	value_pool_reset(b->pool);
	if (idscan_end(&b->scan, &id) == -1 || !b->scan.response) {
		take_stray(b, span_of(b->scan.shown, b->scan.nshown), why);
	} else if (idscan_number(&id, &n) == 0) {
		send_failure(b, n, why);
	} else if ((m.rid = string_id(b, &id)) != NULL) {
		m.message = span_str(why);
		session_answer(b, &m);
	} else {
		backd_drop(b, "an answer to nothing we asked");
	}
}

void
server_line(struct backd *b, struct span line)
{
	struct jsonrpc m UNCLEARED;

	if (line.len != 0 && line.p[line.len - 1] == '\r')
		line.len--;
	if (line.len == 0) {
		backd_drop(b, "an empty line");
		return;
	}
	value_pool_reset(b->pool);
	jsonrpc_read_repaired(b->pool, line, &m);
	switch (m.kind) {
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		take_answer(b, &m);
		break;
	case JSONRPC_REQUEST:
		session_request(b, &m);
		break;
	case JSONRPC_NOTIFICATION:
		take_notification(b, &m);
		break;
	case JSONRPC_BAD:
		take_bad(b, line, &m);
		break;
	}
}

void
backd_gone(struct backd *b, const char *fmt, ...)
{
	struct msg_GONE m;
	char text[512];
	va_list ap;

	if (b->gone)
		return;
	b->gone = true;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m.died = b->died;
	m.text = span_str(text);
	server_done(b);
	worker_send(&b->w, ROLE_POLICY, 0, MSG_GONE, &m, -1);
	worker_send(&b->w, ROLE_AUDIT, 0, MSG_GONE, &m, -1);
	log_info("server %s", text);
	loop_timer_clear(&b->w.loop, &b->pause);
	loop_timer_clear(&b->w.loop, &b->relist);
	if (b->afar != NULL)
		b->afar->end(b);
	backd_close(b, 0);
	mcp_reader_free(&b->out);
}
