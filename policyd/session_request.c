/* SPDX-License-Identifier: ISC */
/*
 * Requests of MCP servers, which servers of revision 2026-07-28 do not send, and
 * the streams of events on which remote ones send them. Each costs policyd an
 * answer, so that their rate is limited.
 */
#include "session.h"

#include "common/log.h"
#include "policyd.h"

/* Limit the rate of answers to a server's requests. */
static bool
may_answer(struct session *s)
{
	uint64_t now = loop_now(s->env->loop);
	uint64_t earned = (now - s->token_time) * SESSION_ANSWERS_RATE / 1000;

	if (earned != 0) {
		s->token_time = now;
		s->tokens = earned > SESSION_ANSWERS - s->tokens
				? SESSION_ANSWERS
				: s->tokens + (unsigned)earned;
	}
	if (s->tokens == 0) {
		if (s->dropped++ == 0)
			log_warnx("server %s asks too much: not answered",
			    s->env->engine.servers[s->index].name);
		return false;
	}
	s->tokens--;
	return true;
}

bool
session_may_answer(struct policyd_env *env, uint16_t index)
{
	struct session *s = &env->sessions[index];

	return s->used && s->state != PROTO_STATE_GONE &&
	       s->state != PROTO_STATE_DIED && may_answer(s);
}

void
policyd_session_request(
    struct policyd_env *env, uint16_t index, const struct msg_SERVER_REQUEST *m)
{
	bool ping = span_is(m->method, "ping");
	bool roots = span_is(m->method, "roots/list");
	int r;

	if (!session_may_answer(env, index) ||
	    !session_rid_good(m->string != 0, m->rid))
		return;
	if (env->sessions[index].modern) {
		/* A server of that revision asks nothing by itself. */
		log_warnx("server %s sent a request, which is not answered",
		    env->engine.servers[index].name);
		return;
	}
	r = ping    ? compose_pong(&env->line, m->string, m->rid)
	    : roots ? compose_roots(&env->line, m->string, m->rid,
			  session_sees_workspace(env, index))
		    : compose_unknown(&env->line, m->string, m->rid);
	if (r == 0)
		session_send(env, index,
		    ping    ? "pong"
		    : roots ? "roots"
			    : "unknown-method");
	else
		buf_reset(&env->line, 0);
}

/* A stream belongs to a call that is open, or to the server itself. */
static bool
events_wanted(
    struct policyd_env *env, uint16_t index, const struct msg_EVENTS_END *m)
{
	const struct call *call;
	uint64_t id;

	for (size_t i = 0; i < m->last.len; i++)
		if (m->last.p[i] <= 0x20 || m->last.p[i] > 0x7e)
			return false;
	if (m->id.len == 0)
		return true;
	if (m->last.len == 0 || span_u64(m->id, UINT64_MAX, &id) == -1)
		return false;
	call = calls_table_find(&env->calls, id);
	return call != NULL && call->state == CALL_RELEASED &&
	       call->forwarded && call->at == index && !call->cancelled;
}

void
session_events(
    struct policyd_env *env, uint16_t index, const struct msg_EVENTS_END *m)
{
	const struct session *s = &env->sessions[index];

	if (s->modern ||
	    (env->engine.servers[index].reach & PROTO_REACH_AFAR) == 0 ||
	    (s->state != PROTO_STATE_LISTING && s->state != PROTO_STATE_READY) ||
	    !events_wanted(env, index, m) || !session_may_answer(env, index))
		return;
	if (compose_events(&env->line, m->id, m->last) == 0)
		session_send(env, index, "events");
	else
		buf_reset(&env->line, 0);
}
