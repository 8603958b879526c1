/* SPDX-License-Identifier: ISC */
/*
 * Sends lines to an MCP server, which go through the log like any call, and
 * checks what the protocol requires of every server and instance.
 */
#include "session.h"

#include "common/json/text.h"
#include "policyd.h"

/* The protocol versions whose tools/list and tools/call are supported. */
static const char *const versions[] = {
    "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

static void
session_send_line(
    struct policyd_env *env, uint16_t index, const char *what, uint64_t call)
{
	struct msg_SESSION msg = {
	    .server = index,
	    .what = span_str(what),
	    .id = call,
	    .line = buf_span(&env->line),
	};

	env->send(env, ROLE_AUDIT, MSG_SESSION, &msg);
	buf_reset(&env->line, 1 << 16);
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
