/* SPDX-License-Identifier: ISC */
/*
 * The output of a worker of the orchestrator's own: a command behind "--" that
 * prints an AgenticMessage on each line. Each is read, checked and composed
 * again; anything else is a broken contract, and ends the request at once.
 */
#include "icctl/driver/priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/json/json.h"
#include "common/log.h"

#define LINES_SHOWN 200U
#define LINES_POOL (256U << 20)

/* clang-format off */
static const struct {
	const char *key;
	json_type type;
} lines_members[] = {
	{"content", json_type_string}, {"tool_name", json_type_string},
	{"tool_input", json_type_object}, {"tool_output", json_type_string},
	{"tool_call_id", json_type_string}, {"session_id", json_type_string},
	{"is_error", json_type_boolean}, {"model", json_type_string},
	{"usage", json_type_object},
};
static const char *const lines_types[] = {
	"thinking", "tool_call", "tool_result", "result", "usage"};
/* clang-format on */

static void
lines_bad(struct request *r, struct span line, const char *why)
{
	char vis[4 * LINES_SHOWN + 8];

	if (r->fail != FAIL_NONE)
		return;
	r->fail = FAIL_BAD_OUTPUT;
	if (line.len > LINES_SHOWN)
		line.len = LINES_SHOWN;
	snprintf(r->why, sizeof(r->why),
	    "the worker printed a line that is no message (%s): %s", why,
	    log_vis(line, vis, sizeof(vis)));
	work_cancel(r);
}

/* Read a line strictly. Returns NULL with the reason in `*why`. */
static json_object *
lines_read(struct span line, const char **why)
{
	struct value_pool *pool = value_pool_new(LINES_POOL);
	struct json_fail bad = {JSON_LIMIT, 0};
	json_object *o = NULL;
	char *text;

	if (pool == NULL ||
	    json_read_large(pool, line, 1000000, DRIVER_LINE, &bad) == NULL) {
		*why = json_strerror(bad.error);
	} else if ((text = span_dup(line)) == NULL) {
		*why = "no memory";
	} else {
		o = json_tokener_parse(text);
		free(text);
	}
	value_pool_free(pool);
	if (o != NULL && !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
		*why = "it is no object";
	}
	return o;
}

/* Returns what is wrong with a message, or NULL. */
static const char *
lines_check(json_object *o)
{
	const char *type = get_str(o, "type", "");
	bool known = false;
	json_object *v;

	for (size_t i = 0; i < nitems(lines_types); i++)
		known = known || strcmp(type, lines_types[i]) == 0;
	if (!known)
		return "it has no type of a message";
	for (size_t i = 0; i < nitems(lines_members); i++) {
		v = get_member(o, lines_members[i].key);
		if (v != NULL && !json_object_is_type(v, lines_members[i].type))
			return "a member has another type";
	}
	return NULL;
}

static void
lines_line(struct driver *d, struct request *r, struct span line)
{
	const char *why = "it is empty", *type;
	json_object *o = lines_read(line, &why), *out;

	if (o == NULL || (why = lines_check(o)) != NULL) {
		lines_bad(r, line, why);
		json_object_put(o);
		return;
	}
	type = get_str(o, "type", "");
	if (strcmp(type, "usage") == 0) {
		json_object_put(r->reported);
		r->reported = json_object_get(get_member(o, "usage"));
	} else if (strcmp(type, "result") == 0) {
		json_object_put(r->reply);
		r->reply = json_object_get(o);
	} else {
		out = json_object_new_object();
		put_str(out, "type", type);
		for (size_t i = 0; i < nitems(lines_members); i++)
			if (get_member(o, lines_members[i].key) != NULL)
				json_object_object_add(out,
				    lines_members[i].key,
				    json_object_get(
					get_member(o, lines_members[i].key)));
		put_str(out, "session_id", r->session);
		if (!r->ask.generate)
			driver_tell(d, r->ask.id, out);
		else
			json_object_put(out);
	}
	json_object_put(o);
}

void
worker_lines_take(struct driver *d, struct request *r, const char *text)
{
	struct span all;
	const uint8_t *nl;

	buf_adds(&r->pieces, text);
	for (all = buf_span(&r->pieces);
	     all.len != 0 && (nl = memchr(all.p, '\n', all.len)) != NULL;
	     all = buf_span(&r->pieces)) {
		if (r->fail == FAIL_NONE)
			lines_line(d, r, span_of(all.p, (size_t)(nl - all.p)));
		buf_drain(&r->pieces, (size_t)(nl - all.p) + 1);
	}
}

void
worker_lines_end(struct driver *d, struct request *r)
{
	struct buf content;

	if (r->pieces.len != 0 && r->fail == FAIL_NONE)
		lines_line(d, r, buf_span(&r->pieces));
	if (r->fail != FAIL_NONE)
		return;
	if (r->reply == NULL) {
		r->fail = FAIL_NO_RESULT;
		(void)strlcpy(
		    r->why, "the worker printed no result", sizeof(r->why));
		return;
	}
	if (r->ask.wanted == NULL || get_true(r->reply, "is_error"))
		return;
	buf_init(&content, DRIVER_LINE);
	buf_adds(&content, get_str(r->reply, "content", ""));
	if (!wanted_take(r->ask.wanted, &content)) {
		r->fail = FAIL_SCHEMA;
		(void)strlcpy(
		    r->why, wanted_why(r->ask.wanted), sizeof(r->why));
	}
	buf_free(&content);
}
