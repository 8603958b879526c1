/* SPDX-License-Identifier: ISC */
/*
 * Sends lines to an MCP server, which go through the log like any call, and
 * checks what the protocol requires of every server and instance.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "common/json/text.h"
#include "define/mirror.h"
#include "policyd.h"

/* The protocol versions whose tools/list and tools/call are supported. */
static const char *const versions[] = {
    "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

static void
session_send_text(struct policyd_env *env, uint16_t index, const char *what,
    uint64_t call, struct span line)
{
	struct msg_SESSION msg = {
	    .server = index,
	    .what = span_str(what),
	    .id = call,
	    .line = line,
	};

	env->send(env, ROLE_AUDIT, MSG_SESSION, &msg);
}

static void
session_send_line(
    struct policyd_env *env, uint16_t index, const char *what, uint64_t call)
{
	session_send_text(env, index, what, call, buf_span(&env->line));
	buf_reset(&env->line, 1 << 16);
}

void
session_send_params(
    struct policyd_env *env, uint16_t index, uint64_t id, const char *params)
{
	struct buf b;

	if (params == NULL || params[0] == '\0')
		return;
	buf_init(&b, SESSION_PARAMS + 64);
	buf_printf(&b, "MCP-Params: %llu", (unsigned long long)id);
	buf_adds(&b, params);
	buf_addc(&b, '\n');
	if (!b.failed)
		session_send_text(env, index, "parameters", 0, buf_span(&b));
	buf_free(&b);
}

char *
session_params(const struct session *s, struct span tool,
    const struct value *args, struct span *bad)
{
	const struct session_tool *t =
	    s->tools.mirrors ? tools_find(&s->tools, tool) : NULL;
	char *params = NULL;
	struct buf b;

	if (t == NULL || args == NULL)
		return NULL;
	buf_init(&b, SESSION_PARAMS);
	if (mirror_put(&b, t->schema, args, bad) == 0 && b.len != 0)
		params = strndup((const char *)buf_span(&b).p, b.len);
	buf_free(&b);
	return params;
}

void
session_send(struct policyd_env *env, uint16_t index, const char *what)
{
	session_send_line(env, index, what, 0);
}

void
session_send_cancel(struct policyd_env *env, uint16_t index, uint64_t call)
{
	session_send_line(env, index, "cancelled", call);
}

bool
session_version_known(struct span v)
{
	for (size_t i = 0; i < nitems(versions); i++) {
		if (span_is(v, versions[i]))
			return true;
	}
	return false;
}

bool
session_rid_good(bool string, struct span rid)
{
	const uint8_t *stop;

	if (string)
		return utf8_valid(rid);
	return text_number_end(rid.p, rid.p + rid.len, &stop) &&
	       stop == rid.p + rid.len;
}

bool
session_is_dead(const struct policyd_env *env, uint16_t index)
{
	return env->sessions[index].state == PROTO_STATE_DIED ||
	       env->sessions[index].state == PROTO_STATE_GONE;
}

bool
session_elicits(const struct policyd_env *env, uint16_t index)
{
	const struct server *srv = &env->engine.servers[index];

	return !srv->internal && (srv->reach & PROTO_REACH_SILENT) == 0;
}

struct compose_form
session_form(const struct session *s)
{
	struct compose_form f = {
	    .modern = s->modern, .elicits = session_elicits(s->env, s->index)};

	/* Without a level it would log nothing, also for session.log. */
	if (s->modern && (s->parts & PROTO_PART_LOGGING) != 0) {
		f.level = (uint8_t)(proto_level_find(SPAN("info")) + 1);
		if (s->env->log_level != 0 && s->env->log_level < f.level)
			f.level = s->env->log_level;
	}
	return f;
}

bool
session_sees_workspace(const struct policyd_env *env, uint16_t index)
{
	const struct view *v = &env->engine.servers[index].view;

	for (size_t i = 0; i < v->n; i++)
		if (span_is(v->rows[i].path, "/workspace"))
			return true;
	return false;
}
