/* SPDX-License-Identifier: ISC */
/*
 * Helpers for a call in the pipeline: composes it, and hands it to auditd as
 * released or refused. The decision is made by the callers.
 */
#include "policyd.h"

#include <stdlib.h>

#include "common/log.h"
#include "define/mirror.h"

enum work_way
work_refuse(struct work *k, const char *rule, struct span reason)
{
	k->d.status = PROTO_DENY;
	k->d.rule = span_str(rule);
	k->d.reason = reason;
	return WORK_REFUSE;
}

enum work_way
work_refuse_plain(struct policyd_env *env, struct work *k, const char *rule,
    struct span reason, const char *more)
{
	k->answer = reason_printf(
	    env->pool, "%.*s%s", (int)reason.len, (const char *)reason.p, more);
	return work_refuse(k, rule, reason);
}

struct span
work_name(struct policyd_env *env, const struct work *k)
{
	char tool[800];

	log_vis(k->tool, tool, sizeof(tool));
	if (k->server == PROTO_NO_SERVER)
		return reason_printf(env->pool, "%s", tool);
	return reason_printf(env->pool, "%s__%s", k->srv->name, tool);
}

struct request
work_request(struct policyd_env *env, const struct work *k)
{
	return (struct request){
	    .server_name = k->server_name,
	    .tool_name = k->tool,
	    .server = k->srv,
	    .annot = k->annot,
	    .args = &k->args,
	    .pool = env->pool,
	};
}

enum work_way
work_breaker(struct policyd_env *env, struct work *k, const struct composed *c)
{
	struct span line = buf_span(&env->line), name;

	if (breaker_allow(env->breaker, k->server_name, k->tool,
		span_of(line.p + c->args_off, c->args_len),
		loop_now(env->loop)))
		return WORK_FORWARD;
	name = work_name(env, k);
	return work_refuse_plain(env, k, "circuit-breaker",
	    reason_printf(env->pool,
		"CIRCUIT BREAKER: Tool '%.*s' called %u "
		"times with identical arguments within %us window. Try a "
		"different approach.",
		(int)name.len, (const char *)name.p, BREAKER_CALLS,
		BREAKER_WINDOW / 1000),
	    "");
}

/* Refuse a call whose server wants a parameter in a header that cannot be. */
static enum work_way
work_params(struct policyd_env *env, struct work *k)
{
	struct span bad = span_of(NULL, 0);
	char name[300];

	free(session_params(&env->sessions[k->server], k->tool, k->tree, &bad));
	if (bad.p == NULL)
		return WORK_FORWARD;
	return work_refuse(k, "invalid-arguments",
	    reason_printf(env->pool,
		"The server wants the parameter \"%s\" in a header, too. It "
		"may have at most %u bytes there, all of them %zu, and no "
		"U+0000",
		log_vis(bad, name, sizeof(name)), MIRROR_TEXT, SESSION_PARAMS));
}

enum work_way
work_compose(struct policyd_env *env, struct work *k, struct composed *c)
{
	const struct compose_form f = session_form(&env->sessions[k->server]);

	*c = (struct composed){0};
	buf_reset(&env->line, WORK_LINE_KEEP);
	/* The virtual server has no process: compose the arguments only. */
	if ((k->srv->virtual ? compose_args(&env->line, k->tree, c)
		: parts_is(k->tool)
		    ? parts_compose(&env->line, &f, k->id, k->tool, k->tree, c)
		    : compose_call(&env->line, &f, k->id, k->tool, k->tree,
			  k->progress, c)) == 0 &&
	    c->line_len <= PROTO_MAX_LINE &&
	    named_compose(&env->line, k, c) == 0)
		return work_params(env, k);
	return work_refuse(k, "invalid-arguments",
	    SPAN("Arguments are too large for one line"));
}

static void
compose_refused(struct policyd_env *env, struct work *k, struct composed *c)
{
	*c = (struct composed){0};
	buf_reset(&env->line, WORK_LINE_KEEP);
	if (compose_args(&env->line, k->tree, c) == 0 &&
	    c->args_len <= PROTO_MAX_LINE &&
	    named_compose(&env->line, k, c) == 0)
		return;
	/*
	 * The arguments are too large for a line: log an empty object instead.
	 */
	buf_reset(&env->line, WORK_LINE_KEEP);
	*c = (struct composed){.args_len = 2, .redacted = true};
	buf_adds(&env->line, "{}");
	k->tree = NULL;
}

struct span
work_answer(struct policyd_env *env, const struct work *k)
{
	if (k->answer.p != NULL)
		return k->answer;
	return reason_printf(env->pool, "DENIED: %.*s%s", (int)k->d.reason.len,
	    (const char *)k->d.reason.p, WORK_FINAL);
}

/*
 * Note what a question of the call's server would belong to, and a subscription
 * that may be ended.
 */
static void
note_call(struct policyd_env *env, struct call *call, const struct work *k,
    const struct composed *c)
{
	const struct span line = buf_span(&env->line);
	const bool asks = !k->srv->own && !k->srv->virtual &&
			  (k->srv->reach & PROTO_REACH_SILENT) == 0;
	const bool sub = span_is(k->tool, PARTS_SUBSCRIBE);

	call->tool[0] = '\0';
	if (span_is(k->tool, PARTS_UNSUBSCRIBE))
		parts_unsent(
		    &env->sessions[k->server], value_str(k->tree, "uri"));
	if ((!asks && !sub) || hold_digest(k->server_name, k->tool,
				   span_of(line.p + c->args_off, c->args_len),
				   span_of(line.p + c->named_off, c->named_len),
				   call->digest) == -1)
		return;
	if (sub)
		parts_sent(&env->sessions[k->server], call->digest, k->id,
		    value_str(k->tree, "uri"));
	if (asks)
		(void)span_copy(k->tool, call->tool, sizeof(call->tool));
}

/* The headers that mirror parameters go before the request. */
static void
send_params(struct policyd_env *env, struct call *call, const struct work *k)
{
	struct span bad;
	char *params =
	    session_params(&env->sessions[k->server], k->tool, k->tree, &bad);

	session_send_params(env, call->at, k->id, params);
	if (call->round != NULL)
		call->round->params = params;
	else
		free(params);
}

void
work_release(struct policyd_env *env, struct call *call, struct work *k,
    enum work_way way, enum proto_hold hold, struct composed *c)
{
	struct msg_RELEASE m = {
	    .id = k->id,
	    .server = call->at,
	    .server_name = k->server_name,
	    .tool = k->tool,
	    .forward = way == WORK_FORWARD,
	    .status = (uint8_t)k->d.status,
	    .hold = (uint8_t)hold,
	    .over = call->over,
	    .automatic = call->automatic && hold == PROTO_HOLD_APPROVED,
	    .grant = way == WORK_FORWARD ? k->grant : 0,
	    .thread = way == WORK_FORWARD ? k->thread : 0,
	    .rule = k->d.rule,
	    .reason = k->d.reason,
	};
	struct composed refused;

	m.left = PROTO_UNCOUNTED;
	if (way == WORK_FORWARD) {
		call->grant = m.grant;
		m.left = tool_grant_take(env, m.grant);
		note_call(env, call, k, c);
		work_note_git_dir(env, k);
		round_keep(env, call, k, c);
		send_params(env, call, k);
	} else {
		compose_refused(env, k, c = &refused);
		m.answer = work_answer(env, k);
	}
	if (k->tree != NULL)
		work_log(env, k, c);
	m.redacted = c->redacted ? c->judged_whole ? PROTO_REDACTED_OTHER
						   : PROTO_REDACTED
				 : 0;
	m.reason = work_log_text(env, m.reason);
	m.line_len = c->line_len;
	m.args_off = c->args_off;
	m.args_len = c->args_len;
	m.log_off = c->log_off;
	m.log_len = c->log_len;
	m.named_off = c->named_off;
	m.named_len = c->named_len;
	m.payload = buf_span(&env->line);
	call->state = CALL_RELEASED;
	call->forwarded = way == WORK_FORWARD;
	env->send(env, ROLE_AUDIT, MSG_RELEASE, &m);
	buf_reset(&env->line, WORK_LINE_KEEP);
}
