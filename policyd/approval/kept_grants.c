/* SPDX-License-Identifier: ISC */
/*
 * Grants of an earlier run of the session. A person confirmed them, but that is
 * not enough: each must still be for the same tool, rule and objects. Until its
 * server has listed its tools, a grant waits and covers no call.
 */
#include "policyd.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT_POOL (1U << 20)

int
kept_take(struct policyd_env *env, const struct msg_RESTORE_GRANT *m)
{
	struct value_pool *pool;
	struct grant g;
	int rv;

	if ((m->id & PROTO_KEPT_ID) == 0 || (m->id & PROTO_ID_KINDS) != 0) {
		errno = EINVAL;
		return -1;
	}
	if ((pool = value_pool_new(KEPT_POOL)) == NULL)
		return -1;
	/* One that cannot be read is of no server, and ends at START. */
	(void)grant_unbound(&g, pool, m->bound);
	g.waits = true;
	rv = grants_add(&env->grants, m->id, &g);
	value_pool_free(pool);
	return rv;
}

/* Returns NULL if the grant may apply again, or the reason why not. */
static const char *
kept_wrong(const struct policyd_env *env, const struct grant *g,
    const struct session *s, struct value_pool *pool)
{
	const struct session_tool *t;

	if (s->state == PROTO_STATE_GONE)
		return "its server is gone";
	if ((t = tools_find(&s->tools, g->tool)) == NULL)
		return "its server has no such tool any more";
	if (!pins_usable(t))
		return "its tool is in quarantine";
	if (memcmp(t->digest, g->def, sizeof(g->def)) != 0)
		return "its tool, or the command of its server, has changed";
	return grant_changed(&env->engine, g, pool);
}

void
kept_judge(struct policyd_env *env, uint16_t server)
{
	struct value_pool *pool = value_pool_new(KEPT_POOL);
	const char *why;
	struct grant *g;

	for (unsigned i = env->grants.n; i-- > 0;) {
		g = &env->grants.list[i];
		if (!g->waits ||
		    !span_is(g->server, env->engine.servers[server].name))
			continue;
		why = pool == NULL ? "there is no memory to judge it"
				   : kept_wrong(env, g, &env->sessions[server],
					 pool);
		if (why == NULL)
			tool_grant_kept(env, g);
		else
			(void)tool_grant_end(env, g->id, false, why);
	}
	value_pool_free(pool);
}

/* Returns the server of that name that this run has, or PROTO_NO_SERVER. */
static uint16_t
kept_server(const struct policyd_env *env, struct span name)
{
	for (uint16_t i = 0; i < PROTO_FIRST_INSTANCE; i++)
		if (env->sessions[i].used && env->engine.servers[i].used &&
		    span_is(name, env->engine.servers[i].name))
			return i;
	return PROTO_NO_SERVER;
}

void
kept_start(struct policyd_env *env)
{
	const struct grant *g;
	uint16_t server;

	for (unsigned i = env->grants.n; i-- > 0;) {
		g = &env->grants.list[i];
		if (!g->waits)
			continue;
		server = kept_server(env, g->server);
		if (g->server.len == 0)
			(void)tool_grant_end(
			    env, g->id, false, "its record cannot be read");
		else if (server == PROTO_NO_SERVER)
			(void)tool_grant_end(env, g->id, false,
			    "this session has no such server");
		else if (env->sessions[server].state == PROTO_STATE_GONE)
			kept_judge(env, server);
	}
}
