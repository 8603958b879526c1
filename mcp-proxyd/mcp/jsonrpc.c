/* SPDX-License-Identifier: ISC */
/*
 * The envelope of JSON-RPC 2.0, checked member by member.  It reads bytes of
 * agents and MCP servers, keeps nothing between two calls, and relies only on
 * what the strict JSON reader has checked.  Unknown members are refused: two
 * readers that fold names differently must not see two messages.
 */
#include "mcp/jsonrpc.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/json/text.h"
#include "common/log.h"

/* Room for an outside name in one of our messages. */
#define NAME_MAX_SHOWN 64

static void __attribute__((format(printf, 3, 4)))
bad(struct jsonrpc *m, enum jsonrpc_code code, const char *fmt, ...)
{
	va_list ap;

	m->kind = JSONRPC_BAD;
	m->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
}

int
jsonrpc_id_set(struct jsonrpc_id *id, const struct value *v)
{
	struct span text = v->text;
	struct buf b;
	int64_t n;
	int r = -1;

	if (v->type == VALUE_NUMBER) {
		if (value_int(v, INT64_MIN, INT64_MAX, &n) == -1)
			return -1;
		memcpy(id->text, text.p, text.len);
		id->len = (uint16_t)text.len;
		return 0;
	}
	if (v->type != VALUE_STRING || text.len > JSONRPC_MAX_ID - 2)
		return -1;
	/* Most ids contain nothing to escape. */
	if (text_plain_end(text.p, text.p + text.len) == text.p + text.len) {
		id->text[0] = id->text[text.len + 1] = '"';
		memcpy(id->text + 1, text.p, text.len);
		id->len = (uint16_t)(text.len + 2);
		return 0;
	}
	buf_init(&b, JSONRPC_MAX_ID);
	if (json_write_string(&b, text) == 0) {
		id->len = (uint16_t)buf_span(&b).len;
		memcpy(id->text, buf_span(&b).p, id->len);
		r = 0;
	}
	buf_free(&b);
	return r;
}

/* The members of JSON-RPC, sorted as those of a message are. */
enum member {
	MEMBER_ERROR,
	MEMBER_ID,
	MEMBER_JSONRPC,
	MEMBER_METHOD,
	MEMBER_PARAMS,
	MEMBER_RESULT,
	NMEMBERS,
};

static const struct span members[NMEMBERS] = {SPAN("error"), SPAN("id"),
    SPAN("jsonrpc"), SPAN("method"), SPAN("params"), SPAN("result")};

/*
 * Find the members of a message.  Returns the first that is not of JSON-RPC,
 * spelt exactly, or NULL.
 */
static const struct value *
find_members(const struct value *root, const struct value *found[NMEMBERS])
{
	const struct value *v, *unknown = NULL;
	unsigned i = 0;

	for (v = root->child; v != NULL; v = v->next) {
		while (i < NMEMBERS && span_cmp(members[i], v->key) < 0)
			found[i++] = NULL;
		if (i < NMEMBERS && span_eq(members[i], v->key))
			found[i++] = v;
		else if (unknown == NULL)
			unknown = v;
	}
	while (i < NMEMBERS)
		found[i++] = NULL;
	return unknown;
}

static void __attribute__((noinline))
bad_member(struct jsonrpc *m, struct span name)
{
	char shown[NAME_MAX_SHOWN];

	bad(m, JSONRPC_INVALID, "Invalid Request: unknown member \"%s\"",
	    log_vis(name, shown, sizeof(shown)));
}

static bool
version_good(struct jsonrpc *m, const struct value *v)
{
	if (v == NULL)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: member jsonrpc is missing");
	else if (v->type != VALUE_STRING)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: jsonrpc must be the string \"2.0\", not "
		    "%s",
		    value_type_name(v->type));
	else if (!span_is(v->text, "2.0"))
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: jsonrpc must be \"2.0\"");
	else
		return true;
	return false;
}

/*
 * Check the id.  The answer to a line that could not be read has the id null.
 */
static bool
id_good(struct jsonrpc *m, const struct value *v, bool error)
{
	if (v == NULL || (error && v->type == VALUE_NULL))
		return true;
	if (jsonrpc_id_set(&m->id, v) == 0) {
		m->rid = v;
		return true;
	}
	if (v->type == VALUE_NUMBER)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: id must be an integer of 64 bits");
	else if (v->type == VALUE_STRING)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: id is longer than %d bytes",
		    JSONRPC_MAX_ID - 2);
	else
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: id must be a string or an integer, not "
		    "%s",
		    value_type_name(v->type));
	return false;
}

static void
read_error(struct jsonrpc *m, const struct value *error)
{
	const struct value *message = value_get(error, "message");

	m->kind = JSONRPC_ERROR;
	if (error->type != VALUE_OBJECT)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: error must be an object, not %s",
		    value_type_name(error->type));
	else if (value_int(value_get(error, "code"), INT32_MIN, INT32_MAX,
		     &m->error) == -1)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: error.code must be an integer");
	else if (message == NULL || message->type != VALUE_STRING)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: error.message must be a string");
	else
		m->message = message->text;
	m->data = value_get(error, "data");
}

static void
read_answer(struct jsonrpc *m, const struct value *const found[NMEMBERS])
{
	const struct value *error = found[MEMBER_ERROR];

	m->kind = JSONRPC_RESULT;
	m->result = found[MEMBER_RESULT];
	if (m->result != NULL && error != NULL)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: both result and error");
	else if (found[MEMBER_PARAMS] != NULL)
		bad(m, JSONRPC_INVALID, "Invalid Request: params in an answer");
	else if (error != NULL)
		read_error(m, error);
	else if (m->rid == NULL)
		bad(m, JSONRPC_INVALID, "Invalid Request: result without id");
}

static void
read_call(struct jsonrpc *m, const struct value *const found[NMEMBERS])
{
	const struct value *method = found[MEMBER_METHOD];

	m->kind = m->rid != NULL ? JSONRPC_REQUEST : JSONRPC_NOTIFICATION;
	m->params = found[MEMBER_PARAMS];
	if (method->type != VALUE_STRING)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: method must be a string, not %s",
		    value_type_name(method->type));
	else if (m->response)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: method and %s in one message",
		    found[MEMBER_RESULT] != NULL ? "result" : "error");
	else if (m->params != NULL && m->params->type != VALUE_OBJECT)
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: params must be an object, not %s",
		    value_type_name(m->params->type));
	else
		m->method = method->text;
}

/* Describe a line that is not JSON. */
static void
bad_json(struct jsonrpc *m, const struct json_fail *fail)
{
	m->fail = *fail;
	bad(m, JSONRPC_PARSE, "Parse error: %s at byte %zu",
	    json_strerror(fail->error), fail->at);
}

static void
read_root(
    struct jsonrpc *m, const struct value *root, const struct json_fail *fail)
{
	const struct value *found[NMEMBERS], *unknown;

	m->kind = JSONRPC_BAD;
	m->id.len = 0;
	m->rid = m->params = m->result = m->data = NULL;
	m->method = m->message = SPAN("");
	m->error = 0;
	m->response = false;
	m->fail.error = JSON_OK;
	if (root == NULL) {
		bad_json(m, fail);
		return;
	}
	if (root->type == VALUE_ARRAY) {
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: batches are not supported: send one "
		    "message "
		    "a line");
		return;
	}
	if (root->type != VALUE_OBJECT) {
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: a message is an object, not %s",
		    value_type_name(root->type));
		return;
	}
	unknown = find_members(root, found);
	m->response =
	    found[MEMBER_ERROR] != NULL || found[MEMBER_RESULT] != NULL;
	if (!id_good(m, found[MEMBER_ID], found[MEMBER_ERROR] != NULL))
		return;
	if (unknown != NULL)
		bad_member(m, unknown->key);
	else if (!version_good(m, found[MEMBER_JSONRPC]))
		return;
	else if (found[MEMBER_METHOD] != NULL)
		read_call(m, found);
	else if (m->response)
		read_answer(m, found);
	else
		bad(m, JSONRPC_INVALID,
		    "Invalid Request: neither method, result nor error");
}

void
jsonrpc_read(struct value_pool *pool, struct span line, struct jsonrpc *m)
{
	struct json_fail fail;
	const struct value *root;

	root = json_read(pool, line, &fail);
	read_root(m, root, &fail);
}

void
jsonrpc_read_repaired(
    struct value_pool *pool, struct span line, struct jsonrpc *m)
{
	struct json_fail fail;
	const struct value *root;

	root = json_read_repaired(pool, line, &fail);
	read_root(m, root, &fail);
}

void
jsonrpc_read_marked(
    struct value_pool *pool, struct span line, struct jsonrpc *m)
{
	struct json_fail fail;
	const struct value *root;

	root = json_read_marked(pool, line, &fail);
	read_root(m, root, &fail);
}

static void
add_id(struct buf *b, const struct jsonrpc_id *id)
{
	if (id == NULL || id->len == 0)
		buf_adds(b, "null");
	else
		buf_add(b, id->text, id->len);
}

int
jsonrpc_add_error(struct buf *b, const struct jsonrpc_id *id, int64_t code,
    struct span message)
{
	return jsonrpc_add_error_data(b, id, code, message, SPAN(""));
}

int
jsonrpc_add_error_data(struct buf *b, const struct jsonrpc_id *id, int64_t code,
    struct span message, struct span data)
{
	buf_printf(b, "{\"error\":{\"code\":%lld,", (long long)code);
	if (data.len != 0) {
		buf_adds(b, "\"data\":");
		buf_addspan(b, data);
		buf_addc(b, ',');
	}
	buf_adds(b, "\"message\":");
	(void)json_write_string(b, message);
	buf_addc(b, '}');
	/*
	 * Given a null id, the official SDKs wait until their own time limit.
	 */
	if (id != NULL && id->len != 0) {
		buf_addspan(b, SPAN(",\"id\":"));
		add_id(b, id);
	}
	buf_addspan(b, SPAN(",\"jsonrpc\":\"2.0\"}\n"));
	return buf_check(b);
}

int
jsonrpc_add_head(struct buf *b, const struct jsonrpc_id *id)
{
	buf_addspan(b, SPAN("{\"id\":"));
	add_id(b, id);
	buf_addspan(b, SPAN(",\"jsonrpc\":\"2.0\",\"result\":"));
	return buf_check(b);
}

int
jsonrpc_add_tail(struct buf *b)
{
	buf_addspan(b, SPAN("}\n"));
	return buf_check(b);
}

int
jsonrpc_add_text(
    struct buf *b, const struct jsonrpc_id *id, struct span text, bool error)
{
	(void)jsonrpc_add_head(b, id);
	buf_addspan(b, SPAN("{\"content\":[{\"text\":"));
	(void)json_write_string(b, text);
	buf_addspan(b, SPAN(",\"type\":\"text\"}]"));
	if (error)
		buf_addspan(b, SPAN(",\"isError\":true"));
	buf_addspan(b, SPAN("}"));
	return jsonrpc_add_tail(b);
}

static const char *const jsonrpc_versions[] = {
    "2024-11-05", "2025-03-26", "2025-06-18", JSONRPC_LATEST};

bool
jsonrpc_version_old(struct span asked)
{
	for (size_t i = 0; i < nitems(jsonrpc_versions); i++)
		if (span_is(asked, jsonrpc_versions[i]))
			return true;
	return false;
}

const char *
jsonrpc_version(struct span asked)
{
	const size_t n = nitems(jsonrpc_versions);

	for (size_t i = 0; i < n; i++)
		if (span_is(asked, jsonrpc_versions[i]))
			return jsonrpc_versions[i];
	/* We do not know that version; the other side may know our latest. */
	return jsonrpc_versions[n - 1];
}
