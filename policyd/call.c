/* SPDX-License-Identifier: ISC */
/*
 * The way of a call (original.md 1.2): known tool? annotated? arguments as the
 * schema says? then prepared, judged, composed and handed to auditd, which
 * writes it down before anything happens.  Every outcome goes that way; the
 * agent is told nothing directly but that its call is held.
 */
#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"
#include "policyd.h"
#include "virtual.h"

#define FINAL "\nDo not retry: the answer will be the same."
#define LINE_KEEP ((size_t)1 << 16)

enum work_way
work_refuse(struct work *k, const char *rule, struct span reason)
{
	k->d.status = PROTO_DENY;
	k->d.rule = span_str(rule);
	k->d.reason = reason;
	return WORK_REFUSE;
}

/* Refused, and the reason is all that the agent is told. */
static enum work_way
refuse_plain(struct policyd_env *env, struct work *k, const char *rule,
    struct span reason, const char *more)
{
	k->answer = reason_printf(
	    env->pool, "%.*s%s", (int)reason.len, (const char *)reason.p, more);
	return work_refuse(k, rule, reason);
}

static struct span
full_name(struct policyd_env *env, const struct work *k)
{
	char tool[800];

	log_vis(k->tool, tool, sizeof(tool));
	if (k->server == PROTO_NO_SERVER)
		return reason_printf(env->pool, "%s", tool);
	return reason_printf(env->pool, "%s__%s", k->srv->name, tool);
}

/* Step 1: is there such a tool, and its server? */
static enum work_way
find_tool(
    struct policyd_env *env, struct work *k, const struct session_tool **tool)
{
	const struct session *s =
	    k->server == PROTO_NO_SERVER ? NULL : &env->sessions[k->server];
	struct span name;

	*tool = NULL;
	if (s != NULL && s->state == PROTO_STATE_GONE)
		return refuse_plain(env, k, "server-gone",
		    reason_printf(env->pool, "Server \"%s\" is gone: %s",
			k->srv->name, s->text),
		    "\nDo not retry: it does not come back in this session.");
	if (s != NULL && (*tool = session_tool_find(s, k->tool)) != NULL) {
		if (pins_usable(*tool))
			return WORK_FORWARD;
		return work_refuse(k, "tool-quarantined",
		    pins_reason(env, k->srv->name, *tool));
	}
	if (s != NULL && s->state != PROTO_STATE_READY)
		return refuse_plain(env, k, "server-starting",
		    reason_printf(env->pool,
			"Server \"%s\" has not listed its tools yet",
			k->srv->name),
		    "\nTry again in a moment.");
	name = full_name(env, k);
	return refuse_plain(env, k, "unknown-tool",
	    reason_printf(env->pool, "Unknown tool: %.*s", (int)name.len,
		(const char *)name.p),
	    "");
}

/* Step 4: what git works on when the call does not say. */
static enum work_way
fill_git_path(struct policyd_env *env, struct work *k)
{
	static const char text[] = "Git server has no working directory set. "
				   "Call git_set_working_dir first.";
	struct value *v;
	bool wanted = false;

	for (unsigned i = 0; i < k->annot->nargs; i++)
		wanted = wanted || span_is(k->annot->args[i].name, "path");
	if (!k->srv->is_git || !wanted)
		return WORK_FORWARD;
	v = (struct value *)(uintptr_t)value_get(k->tree, "path");
	if (v != NULL && v->type == VALUE_STRING) {
		for (size_t i = 0; i < v->text.len; i++) {
			if (strchr(" \t\r\n\f\v", v->text.p[i]) == NULL ||
			    v->text.p[i] == '\0')
				return WORK_FORWARD;
		}
	}
	if (env->git_dir.p == NULL)
		return refuse_plain(env, k, "git-path-enrichment-failed",
		    reason_printf(env->pool, "Error: %s", text), "");
	if (v == NULL) {
		v = value_new_string(env->pool, env->git_dir);
		if (value_set(k->tree, SPAN("path"), v) == -1)
			return refuse_plain(env, k,
			    "git-path-enrichment-failed",
			    SPAN("Error: too many arguments"), "");
	} else {
		*v = (struct value){.type = VALUE_STRING,
		    .key = v->key,
		    .text = env->git_dir,
		    .next = v->next};
	}
	return WORK_FORWARD;
}

/* What the server cannot see, another instance of it is asked for. */
static enum work_way
check_view(struct policyd_env *env, struct work *k)
{
	struct span reason;

	if (outside_find(&env->engine, k->srv, &k->args, env->pool, &k->outside,
		&reason) == -1)
		return work_refuse(k, "structural-outside-view", reason);
	return WORK_FORWARD;
}

/* Step 2, for a tool without an annotation: a person decides, or nobody. */
static enum work_way
judge_unknown(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	struct span reason, name;

	if (!unknown_held(env)) {
		name = full_name(env, k);
		return refuse_plain(env, k, "missing-annotation",
		    reason_printf(env->pool,
			"Missing annotation for tool: %.*s. No policy knows "
			"it. The user can annotate it: icctl mcp annotate %s",
			(int)name.len, (const char *)name.p, k->srv->name),
		    FINAL);
	}
	if (args_check(k->tree, tool->schema, env->pool, &reason) == -1)
		return refuse_plain(env, k, "invalid-arguments", reason, "");
	return unknown_judge(env, k);
}

/* Steps 3 to 5: schema, preparing. */
static enum work_way
prepare(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	struct span reason;

	if (k->srv->trusted)
		return WORK_FORWARD;
	if (args_check(k->tree, tool->schema, env->pool, &reason) == -1)
		return refuse_plain(env, k, "invalid-arguments", reason, "");
	if (fill_git_path(env, k) == WORK_REFUSE)
		return WORK_REFUSE;
	if (args_prepare(&env->engine, k->srv, k->annot, k->tree, env->pool,
		&k->args) == -1)
		return work_refuse(k, k->args.rule, k->args.reason);
	return WORK_FORWARD;
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

/* What becomes of what was decided. */
static enum work_way
outcome(struct policyd_env *env, struct work *k)
{
	switch (k->d.status) {
	case PROTO_ALLOW:
		return WORK_FORWARD;
	case PROTO_ESCALATE:
		if (!env->engine.ask) {
			k->answer = reason_printf(env->pool,
			    "ESCALATION REQUIRED: %.*s. Action denied (no "
			    "escalation handler)." FINAL,
			    (int)reason_bare(k->d.reason).len,
			    (const char *)k->d.reason.p);
			return WORK_REFUSE;
		}
		return WORK_ASK;
	case PROTO_DENY:
		break;
	}
	return WORK_REFUSE;
}

enum work_way
work_judge(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	const struct grant *g = NULL;
	struct request r;

	k->args.tree = k->tree;
	if (k->srv->virtual)
		return virtual_judge(env, k, tool) == WORK_REFUSE
			   ? WORK_REFUSE
			   : outcome(env, k);
	if (env->engine.annots != NULL)
		k->annot =
		    annots_find(env->engine.annots, k->server_name, k->tool);
	if (k->annot == NULL && !k->srv->trusted)
		return judge_unknown(env, k, tool) == WORK_REFUSE
			   ? WORK_REFUSE
			   : outcome(env, k);
	if (prepare(env, k, tool) == WORK_REFUSE)
		return WORK_REFUSE;
	if (k->may_ask && remotes_wanted(env, k))
		return WORK_WAIT;
	if (k->urls.p != NULL && remotes_apply(env, k) == -1)
		return work_refuse(k, k->args.rule, k->args.reason);
	r = work_request(env, k);
	eval_request(&env->engine, &r, &k->d);
	if (k->urls.p != NULL)
		k->d.reason = remotes_reason(env, k, k->d.reason);
	/* Step 7a */
	if (k->d.status == PROTO_ESCALATE)
		g = grants_apply(&env->grants, &env->engine, &r, &k->d);
	k->grant = g == NULL ? 0 : g->id;
	return outcome(env, k);
}

enum work_way
work_decide(struct policyd_env *env, struct work *k)
{
	const struct session_tool *tool;
	enum work_way way;

	if (find_tool(env, k, &tool) == WORK_REFUSE ||
	    (way = work_judge(env, k, tool)) == WORK_REFUSE ||
	    (way != WORK_WAIT && check_view(env, k) == WORK_REFUSE))
		return WORK_REFUSE;
	return way;
}

enum work_way
work_breaker(struct policyd_env *env, struct work *k, const struct composed *c)
{
	struct span line = buf_span(&env->line), name;

	if (breaker_allow(env->breaker, k->server_name, k->tool,
		span_of(line.p + c->args_off, c->args_len),
		loop_now(env->loop)))
		return WORK_FORWARD;
	name = full_name(env, k);
	return refuse_plain(env, k, "circuit-breaker",
	    reason_printf(env->pool,
		"CIRCUIT BREAKER: Tool '%.*s' called %u "
		"times with identical arguments within %us window. Try a "
		"different approach.",
		(int)name.len, (const char *)name.p, BREAKER_CALLS,
		BREAKER_WINDOW / 1000),
	    "");
}

enum work_way
work_compose(struct policyd_env *env, struct work *k, struct composed *c)
{
	*c = (struct composed){0};
	buf_reset(&env->line, LINE_KEEP);
	/* Nobody reads a line of the virtual server: there is none. */
	if ((k->srv->virtual ? compose_args(&env->line, k->tree, c)
			     : compose_call(&env->line, k->id, k->tool, k->tree,
				   k->progress, c)) == 0 &&
	    c->line_len <= PROTO_MAX_LINE)
		return WORK_FORWARD;
	return work_refuse(k, "invalid-arguments",
	    SPAN("Arguments are too large for one line"));
}

static void
compose_refused(struct policyd_env *env, struct work *k, struct composed *c)
{
	*c = (struct composed){0};
	buf_reset(&env->line, LINE_KEEP);
	if (compose_args(&env->line, k->tree, c) == 0 &&
	    c->args_len <= PROTO_MAX_LINE)
		return;
	/* More than one line of ours may hold: only an empty object of it. */
	buf_reset(&env->line, LINE_KEEP);
	*c = (struct composed){.args_len = 2, .redacted = true};
	(void)buf_adds(&env->line, "{}");
	k->tree = NULL;
}

struct span
work_answer(struct policyd_env *env, const struct work *k)
{
	if (k->answer.p != NULL)
		return k->answer;
	return reason_printf(env->pool, "DENIED: %.*s%s", (int)k->d.reason.len,
	    (const char *)k->d.reason.p, FINAL);
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
	    .grant = way == WORK_FORWARD ? k->grant : 0,
	    .rule = k->d.rule,
	    .reason = k->d.reason,
	};
	struct composed refused;

	if (way == WORK_FORWARD) {
		work_note_git_dir(env, k);
	} else {
		compose_refused(env, k, c = &refused);
		m.answer = work_answer(env, k);
	}
	if (k->tree != NULL)
		work_log(env, k, c);
	m.redacted = c->redacted;
	m.line_len = c->line_len;
	m.args_off = c->args_off;
	m.args_len = c->args_len;
	m.log_off = c->log_off;
	m.log_len = c->log_len;
	m.payload = buf_span(&env->line);
	call->state = CALL_RELEASED;
	call->forwarded = way == WORK_FORWARD;
	env->send(env, ROLE_AUDIT, MSG_RELEASE, &m);
	buf_reset(&env->line, LINE_KEEP);
}

/* Step 0: may the session make calls still? */
static enum work_way
work_budget(struct policyd_env *env, struct work *k)
{
	const char *text;

	if ((text = budget_take(env)) == NULL)
		return WORK_FORWARD;
	return refuse_plain(
	    env, k, "budget", reason_printf(env->pool, "%s", text), FINAL);
}

void
call_go_on(struct policyd_env *env, struct call *call, struct work *k,
    struct span args)
{
	struct composed c;
	enum work_way way = work_decide(env, k);

	if (way == WORK_WAIT) {
		if (remotes_ask(env, call, k, args) == 0)
			return;
		k->may_ask = false;
		way = work_decide(env, k);
	}
	if (way != WORK_REFUSE && work_compose(env, k, &c) == WORK_REFUSE)
		way = WORK_REFUSE;
	if (way == WORK_ASK)
		way = work_hold(env, call, k, args, &c);
	else if (way == WORK_FORWARD)
		way = work_breaker(env, k, &c);
	/* Allowed where the view has no mount for it: it needs no person. */
	if (way == WORK_FORWARD && k->outside.n != 0)
		way = instance_call(env, call, k, args, &c);
	if (way != WORK_ASK)
		work_release(env, call, k, way, PROTO_HOLD_NONE, &c);
	value_pool_reset(env->pool);
}

int
call_take(struct policyd_env *env, const struct msg_CALL *m, const char **why)
{
	struct work k = {
	    .id = m->id,
	    .server = m->server,
	    .tool = m->tool,
	    .progress = m->progress != 0,
	    .may_ask = true,
	};
	struct call *call;

	*why = "no such server";
	if (k.server != PROTO_NO_SERVER &&
	    (k.server >= PROTO_MAX_SERVERS ||
		!env->engine.servers[k.server].used ||
		env->engine.servers[k.server].internal))
		return -1;
	if (k.server != PROTO_NO_SERVER) {
		k.srv = &env->engine.servers[k.server];
		k.server_name = span_str(k.srv->name);
	}
	if ((call = calls_admit(
		 &env->calls, m->id, m->server, m->args.len, why)) == NULL)
		return -1;
	value_pool_reset(env->pool);
	/* The tree is in our own pool: ours to change. */
	k.tree = (struct value *)(uintptr_t)value_decode(env->pool, m->args);
	*why = "arguments are no object";
	if (k.tree == NULL || k.tree->type != VALUE_OBJECT)
		return -1;
	/* Once a call, however often it is looked at. */
	if (work_budget(env, &k) == WORK_REFUSE) {
		work_release(env, call, &k, WORK_REFUSE, PROTO_HOLD_NONE, NULL);
		value_pool_reset(env->pool);
	} else {
		call_go_on(env, call, &k, m->args);
	}
	return 0;
}
