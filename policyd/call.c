/* SPDX-License-Identifier: ISC */
/*
 * Takes a call through the pipeline: budget, known tool, annotation, schema;
 * then it is prepared, judged, composed and handed to auditd, which logs it
 * before anything happens. Every outcome takes that way; policyd tells the
 * agent nothing directly except that its call is held.
 */
#include "policyd.h"

#include <stdlib.h>

#include "common/json/json.h"
#include "common/log.h"
#include "virtual.h"

/* Step 0: check the session's budget of calls. */
static enum work_way
work_budget(struct policyd_env *env, struct work *k)
{
	const char *text;

	if ((text = budget_take(env)) == NULL)
		return WORK_FORWARD;
	return work_refuse_plain(
	    env, k, "budget", reason_printf(env->pool, "%s", text), WORK_FINAL);
}

static void call_go_on(
    struct policyd_env *, struct call *, struct work *, struct span args);

/* Go on with a call that waited for its server, now that its tools are known.
 */
static void
call_listed(struct policyd_env *env, const struct early *e)
{
	struct call *call = calls_table_find(&env->calls, e->id);
	struct span args = span_of(e->args, e->len);
	struct work k = {.id = e->id,
	    .server = e->server,
	    .srv = &env->engine.servers[e->server],
	    .progress = e->progress};

	k.server_name = span_str(k.srv->name);
	k.tool =
	    tools_own_name(&env->sessions[e->server].tools, span_str(e->tool));
	value_pool_reset(env->pool);
	k.tree = (struct value *)(uintptr_t)value_decode(env->pool, args);
	if (call == NULL || k.tree == NULL)
		return;
	k.may_ask = !call->cancelled;
	call_go_on(env, call, &k, args);
}

/* Go on with a call once icgit has answered, or cannot. */
static void
call_led(struct policyd_env *env, const struct remotes_ask *a, struct span urls)
{
	struct call *call = calls_table_find(&env->calls, a->id);
	struct work k = {.id = a->id,
	    .server = a->server,
	    .srv = &env->engine.servers[a->server],
	    .tool = span_str(a->tool),
	    .progress = a->progress,
	    .urls = urls};

	k.server_name = span_str(k.srv->name);
	value_pool_reset(env->pool);
	k.tree = (struct value *)(uintptr_t)value_decode(
	    env->pool, span_of(a->args, a->len));
	if (call != NULL && k.tree != NULL)
		call_go_on(env, call, &k, span_of(a->args, a->len));
}

/*
 * Go on with a call that its server asked to be sent again. It was decided
 * when it was first sent, and nothing about it has changed.
 */
static enum work_way
call_resume(struct policyd_env *env, struct work *k, struct composed *c)
{
	if (!round_resume(env, k, c))
		return work_refuse_plain(env, k, "request-state",
		    SPAN("The requestState is not one that this very call was "
			 "given, or it was used already"),
		    "\nMake the call again without it.");
	k->d.status = PROTO_ALLOW;
	k->d.rule = SPAN("same-call");
	k->d.reason = reason_printf(env->pool,
	    "It goes on with call %llu, at the request of its server",
	    (unsigned long long)k->thread);
	return WORK_FORWARD;
}

/*
 * Decide about the call, then release or hold it. `args` are as the agent sent
 * them.
 */
static void
call_go_on(struct policyd_env *env, struct call *call, struct work *k,
    struct span args)
{
	struct composed c;
	enum work_way way;

	if (early_wanted(env, k) &&
	    early_keep(env, call, k, args, call_listed) == 0) {
		value_pool_reset(env->pool);
		return;
	}
	way = work_decide(env, k);
	if (way == WORK_WAIT) {
		if (remotes_ask(env, call, k, args, call_led) == 0)
			return;
		k->may_ask = false;
		way = work_decide(env, k);
	}
	if (way != WORK_REFUSE && work_compose(env, k, &c) == WORK_REFUSE)
		way = WORK_REFUSE;
	if (way != WORK_REFUSE && k->given.p != NULL) {
		way = call_resume(env, k, &c);
	} else if (way == WORK_ASK) {
		if ((way = work_hold(env, call, k, args, &c)) == WORK_ASK)
			call_arm(env);
	} else if (way == WORK_FORWARD) {
		way = work_breaker(env, k, &c);
	}
	/* Allowed by a rule, but outside the view: start an instance. */
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
	    .may_ask = m->state.len == 0,
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
		k.tool =
		    tools_own_name(&env->sessions[k.server].tools, m->tool);
	}
	if ((call = calls_table_admit(
		 &env->calls, m->id, m->server, m->args.len, why)) == NULL)
		return -1;
	call->modern = m->modern != 0;
	if (m->state.len != 0)
		k.given = m->state;
	value_pool_reset(env->pool);
	/* The tree is in policyd's own pool and may be changed. */
	k.tree = (struct value *)(uintptr_t)value_decode(env->pool, m->args);
	*why = "arguments are no object";
	if (k.tree == NULL || k.tree->type != VALUE_OBJECT)
		return -1;
	/* Count each call once, however often it is judged. */
	if (work_budget(env, &k) == WORK_REFUSE) {
		work_release(env, call, &k, WORK_REFUSE, PROTO_HOLD_NONE, NULL);
		value_pool_reset(env->pool);
	} else {
		call_go_on(env, call, &k, m->args);
	}
	return 0;
}
