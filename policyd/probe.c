/* SPDX-License-Identifier: ISC */
/*
 * Answers `icctl policy`: what a session would decide about a call. The same
 * code as in a session runs; nothing is sent, held, counted or stored. Only a
 * policyd started for this purpose gets here: icsupervisor sends no EVAL in a
 * session.
 */
#include "probe.h"

/*
 * The TypeScript IronCurtain's annotation files include a copy of the schema.
 */
static const struct value *
find_schema(const struct annots *as, struct span server, struct span tool)
{
	const struct value *v = as == NULL ? NULL : as->doc.root;

	v = value_getspan(value_get(v, "servers"), server);
	v = value_get(v, "tools");
	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next) {
		if (!span_eq(value_str(v, "toolName"), tool))
			continue;
		v = value_get(v, "inputSchema");
		return v != NULL && v->type == VALUE_OBJECT ? v : NULL;
	}
	return NULL;
}

/* Ask the engine only. */
static void
judge_engine(struct policyd_env *env, struct work *k)
{
	eval_call(
	    &env->engine, k->server_name, k->tool, k->tree, env->pool, &k->d);
}

/* Ask the whole pipeline, as far as it needs no running server. */
static void
judge_whole(struct policyd_env *env, struct work *k, const struct value *schema)
{
	const struct session_tool tool = {.name = k->tool, .schema = schema};

	if (k->srv == NULL) {
		k->d.status = PROTO_DENY;
		k->d.rule = SPAN("unknown-tool");
		k->d.reason = k->answer =
		    reason_printf(env->pool, "Unknown tool: %.*s__%.*s",
			(int)k->server_name.len, (const char *)k->server_name.p,
			(int)k->tool.len, (const char *)k->tool.p);
		return;
	}
	k->server = (uint16_t)(k->srv - env->engine.servers);
	if (work_judge(env, k, &tool) == WORK_REFUSE)
		k->answer = work_answer(env, k);
}

static void
put_roles(uint32_t roles, char *dst, size_t cap)
{
	size_t len = 0, n;
	const char *name;

	dst[0] = '\0';
	for (unsigned i = 0; i < ARG_COUNT; i++) {
		if (!(roles & ARG_BIT(i)))
			continue;
		name = arg_role_name((enum arg_role)i);
		n = strlen(name);
		if (len + n + 2 > cap)
			return;
		if (len != 0)
			dst[len++] = ',';
		memcpy(dst + len, name, n + 1);
		len += n;
	}
}

static void
answer(struct policyd_env *env, const struct msg_EVAL *m, const struct work *k,
    struct span trace)
{
	struct msg_EVALUATED a = {
	    .id = m->id,
	    .status = (uint8_t)k->d.status,
	    .rule = k->d.rule,
	    .reason = k->d.reason,
	    .answer = k->answer,
	    .trace = trace,
	};
	char roles[512];

	put_roles(k->d.escalated, roles, sizeof(roles));
	a.roles = span_str(roles);
	env->send(env, ROLE_SUP, MSG_EVALUATED, &a);
}

int
probe_eval(struct policyd_env *env, const struct msg_EVAL *m, const char **why)
{
	struct work k = {.id = m->id,
	    .server = PROTO_NO_SERVER,
	    .server_name = m->server_name,
	    .tool = m->tool};
	struct span trace = {NULL, 0};
	struct probe p = {.schema = NULL};

	value_pool_reset(env->pool);
	k.tree = (struct value *)(uintptr_t)value_decode(env->pool, m->args);
	*why = "arguments are no object";
	if (k.tree == NULL || k.tree->type != VALUE_OBJECT)
		return -1;
	k.srv = engine_server_find(&env->engine, k.server_name);
	if (env->engine.annots != NULL)
		k.annot =
		    annots_find(env->engine.annots, k.server_name, k.tool);
	if (m->trace)
		probe_begin(&p, env);
	p.schema = find_schema(env->engine.annots, k.server_name, k.tool);
	if (m->trace)
		probe_call(&p, &k, m->whole != 0);
	if (m->whole)
		judge_whole(env, &k, p.schema);
	else
		judge_engine(env, &k);
	if (m->trace)
		trace = probe_end(&p, &k);
	answer(env, m, &k, trace);
	if (m->trace)
		buf_free(&p.out);
	value_pool_reset(env->pool);
	return 0;
}
