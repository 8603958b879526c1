/* SPDX-License-Identifier: ISC */
/*
 * Decides about a call: checks that the tool is known and annotated and that
 * the arguments fit the schema, prepares them, and judges them by the rules and
 * grants.
 */
#include "policyd.h"

#include <stdlib.h>

#include "common/log.h"
#include "virtual.h"

/* Step 1: find the tool and its server. */
static enum work_way
find_tool(
    struct policyd_env *env, struct work *k, const struct session_tool **tool)
{
	const struct session *s =
	    k->server == PROTO_NO_SERVER ? NULL : &env->sessions[k->server];
	struct span name;

	*tool = NULL;
	if (s != NULL && s->state == PROTO_STATE_GONE)
		return work_refuse_plain(env, k, "server-gone",
		    reason_printf(env->pool, "Server \"%s\" has ended: %s",
			k->srv->name, s->text),
		    engine_afar(k->srv)
			? "\nDo not retry: it is asked again in this session "
			  "only after the user has given it a new login or "
			  "credential, and its tools are announced then."
			: "\nDo not retry: it will not be started again in "
			  "this session.");
	if (s != NULL && session_is_away(s) && s->state != PROTO_STATE_READY)
		return work_refuse_plain(env, k, "server-starting",
		    reason_printf(env->pool,
			"Server \"%s\" cannot be used yet: it %s", k->srv->name,
			s->text),
		    "\nIt is asked again from time to time, and its tools are "
		    "announced when it answers. Try again in a moment, once.");
	if (s != NULL && s->listed && s->state != PROTO_STATE_READY)
		return work_refuse_plain(env, k, "server-starting",
		    reason_printf(env->pool,
			"Server \"%s\" ended and is being started again",
			k->srv->name),
		    "\nTry again in a moment.");
	if (s != NULL && parts_is(k->tool) && s->state == PROTO_STATE_READY)
		return WORK_FORWARD;
	if (s != NULL && (*tool = tools_find(&s->tools, k->tool)) != NULL &&
	    !(*tool)->words) {
		/* One that is only not listed is judged as any other. */
		if (pins_usable(*tool) && !(*tool)->crowded)
			return WORK_FORWARD;
		if ((*tool)->crowded)
			return work_refuse(k, "tool-left-out",
			    SPAN("The tools of all servers have more and "
				 "longer definitions than this session "
				 "offers. The user can raise the limit: "
				 "toolDefinitions.maxTotalKiB in config.json"));
		return work_refuse(k, "tool-quarantined",
		    pins_reason(env, k->srv->name, *tool));
	}
	*tool = NULL;
	if (s != NULL && s->state != PROTO_STATE_READY)
		return work_refuse_plain(env, k, "server-starting",
		    reason_printf(env->pool,
			"Server \"%s\" has not listed its tools yet",
			k->srv->name),
		    "\nTry again in a moment.");
	name = work_name(env, k);
	return work_refuse_plain(env, k, "unknown-tool",
	    reason_printf(env->pool, "Unknown tool: %.*s", (int)name.len,
		(const char *)name.p),
	    "");
}

/* Step 4: fill in git's directory if the call names none. */
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
		return work_refuse_plain(env, k, "git-path-enrichment-failed",
		    reason_printf(env->pool, "Error: %s", text), "");
	if (v == NULL) {
		v = value_new_string(env->pool, env->git_dir);
		if (value_set(k->tree, SPAN("path"), v) == -1)
			return work_refuse_plain(env, k,
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

/* A call outside the server's view needs an instance of the server. */
static enum work_way
check_view(struct policyd_env *env, struct work *k)
{
	struct span reason;

	if (k->srv->trusted)
		return WORK_FORWARD;
	if (outside_find(&env->engine, k->srv, &k->args, env->pool, &k->outside,
		&reason) == -1)
		return work_refuse(k, "structural-outside-view", reason);
	if (k->outside.n != 0 && (k->srv->reach & PROTO_REACH_AFAR) != 0)
		return work_refuse(k, "structural-outside-view",
		    SPAN("The server is on another machine and sees no file of "
			 "this one"));
	return WORK_FORWARD;
}

/* Step 2, for a tool without an annotation: hold or deny the call. */
static enum work_way
judge_unknown(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	struct span reason, name;

	if (!unknown_held(env)) {
		name = work_name(env, k);
		return work_refuse_plain(env, k, "missing-annotation",
		    reason_printf(env->pool,
			"Missing annotation for tool: %.*s. No policy knows "
			"it. The user can annotate it: icctl mcp annotate %s",
			(int)name.len, (const char *)name.p, k->srv->name),
		    WORK_FINAL);
	}
	if (args_check(k->tree, tool->schema, env->pool, &reason) == -1)
		return work_refuse_plain(
		    env, k, "invalid-arguments", reason, "");
	return unknown_judge(env, k);
}

/* Steps 3 to 5: check the schema, prepare the arguments. */
static enum work_way
prepare(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	const struct request r = work_request(env, k);
	struct span reason;

	if (!eval_judges_paths(&env->engine, &r))
		return WORK_FORWARD;
	if (!k->srv->trusted &&
	    args_check(k->tree, tool->schema, env->pool, &reason) == -1)
		return work_refuse_plain(
		    env, k, "invalid-arguments", reason, "");
	if (fill_git_path(env, k) == WORK_REFUSE)
		return WORK_REFUSE;
	if (args_prepare(&env->engine, k->srv, k->annot, k->tree, env->pool,
		&k->args) == -1)
		return work_refuse(k, k->args.rule, k->args.reason);
	return WORK_FORWARD;
}

/*
 * Narrow the decision, whoever allowed the call, and map it to what happens to
 * the call.
 */
static enum work_way
outcome(struct policyd_env *env, struct work *k)
{
	const struct request r = work_request(env, k);

	eval_narrow(&env->engine, &r, &k->d);
	if (k->d.status != PROTO_ALLOW)
		k->grant = 0;
	switch (k->d.status) {
	case PROTO_ALLOW:
		return WORK_FORWARD;
	case PROTO_ESCALATE:
		if (!env->engine.ask) {
			k->answer = reason_printf(env->pool,
			    "ESCALATION REQUIRED: %.*s. Action denied (no "
			    "escalation handler)." WORK_FINAL,
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
	if (parts_is(k->tool)) {
		if (parts_judge(env, k) == WORK_REFUSE)
			return WORK_REFUSE;
		if (k->d.status == PROTO_ESCALATE)
			g = tool_grant_apply(env, k);
		k->grant = g == NULL ? 0 : g->id;
		return outcome(env, k);
	}
	if (k->srv->virtual)
		return virtual_judge(env, k, tool) == WORK_REFUSE
			   ? WORK_REFUSE
			   : outcome(env, k);
	if (env->engine.annots != NULL)
		k->annot =
		    annots_find(env->engine.annots, k->server_name, k->tool);
	if (k->annot == NULL && !k->srv->trusted) {
		if (judge_unknown(env, k, tool) == WORK_REFUSE)
			return WORK_REFUSE;
		g = tool_grant_apply(env, k);
		k->grant = g == NULL ? 0 : g->id;
		return outcome(env, k);
	}
	if (prepare(env, k, tool) == WORK_REFUSE)
		return WORK_REFUSE;
	if (!k->srv->trusted && k->may_ask && remotes_wanted(env, k))
		return WORK_WAIT;
	if (k->urls.p != NULL && remotes_apply(env, k) == -1)
		return work_refuse(k, k->args.rule, k->args.reason);
	r = work_request(env, k);
	eval_request(&env->engine, &r, &k->d);
	if (k->urls.p != NULL)
		k->d.reason = remotes_reason(env, k, k->d.reason);
	/* Step 7a: apply grants. */
	if (k->d.status == PROTO_ESCALATE)
		g = grants_apply(&env->grants, &env->engine, &r, &k->d);
	if (g == NULL && k->d.status == PROTO_ESCALATE)
		g = tool_grant_apply(env, k);
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
