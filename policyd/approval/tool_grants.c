/* SPDX-License-Identifier: ISC */
/*
 * Grants for tools whose arguments name no path and no URL: the same arguments
 * until the session ends, or a number of calls within an hour. The latter is
 * only for servers that cannot do more than compute: no network, no credential,
 * and nothing to write except the workspace, which belongs to the agent anyway.
 * Each grant is bound to the definition of the tool that the person saw.
 */
#include "policyd.h"

#include <stdlib.h>

#include "common/json/json.h"
#include "approval/grants_plain.h"

#define ARGS_MAX PROTO_MAX_TREE

/* Digest of the arguments as they would be sent. */
static int
arguments_digest(const struct work *k, uint8_t digest[32])
{
	struct buf b;
	int r = -1;

	buf_init(&b, ARGS_MAX);
	if (json_write(&b, k->tree) == 0)
		r = hold_digest(k->server_name, k->tool, buf_span(&b),
		    span_of(NULL, 0), digest);
	buf_free(&b);
	return r;
}

/* Returns true if the call names a path or URL, or if that is unknown. */
static bool
names_place(const struct work *k)
{
	const struct arg_value *v;

	if (k->urls.p != NULL || k->outside.n != 0)
		return true;
	for (size_t i = 0; i < k->args.n; i++) {
		v = &k->args.values[i];
		if (v->has_path || v->has_url)
			return true;
		for (unsigned role = 0; role < ARG_COUNT; role++) {
			enum arg_category c =
			    arg_role_category((enum arg_role)role);

			if ((v->mask & ARG_BIT(role)) != 0 &&
			    (c == CATEGORY_PATH || c == CATEGORY_URL))
				return true;
		}
	}
	return false;
}

/* Returns true if calls of this server can do nothing but compute. */
static bool
harmless(const struct server *srv)
{
	const struct view_row *row;

	for (size_t i = 0; i < srv->view.n; i++) {
		row = &srv->view.rows[i];
		if (row->kind == PROTO_VIEW_WRITE &&
		    !span_is(row->path, "/workspace"))
			return false;
	}
	return srv->reach == 0 && !srv->trusted && !srv->internal;
}

static const struct session_tool *
tool_of(const struct policyd_env *env, const struct work *k)
{
	if (k->server >= PROTO_MAX_SERVERS || k->srv->virtual)
		return NULL;
	return tools_find(&env->sessions[k->server].tools, k->tool);
}

int
tool_grant_offer(struct policyd_env *env, const struct work *k, struct grant *g)
{
	const struct session_tool *t = tool_of(env, k);

	if (t == NULL || k->d.status != PROTO_ESCALATE || names_place(k))
		return -1;
	*g = (struct grant){.server = k->server_name,
	    .tool = k->tool,
	    .rule = k->d.rule,
	    .form = GRANT_SAME,
	    .left = PROTO_MAX_TIMES};
	if (arguments_digest(k, g->args) == -1)
		return -1;
	memcpy(g->def, t->digest, sizeof(g->def));
	g->counted = harmless(k->srv) && plain_schema(t->schema) &&
		     plain_arguments(k->tree);
	return 0;
}

static struct grant *
find(struct policyd_env *env, uint64_t id)
{
	for (unsigned i = 0; id != 0 && i < env->grants.n; i++) {
		if (env->grants.list[i].id == id)
			return &env->grants.list[i];
	}
	return NULL;
}

static void
tell(struct policyd_env *env, const struct grant *g, enum proto_grant state,
    struct span text)
{
	uint64_t now = loop_now(env->loop);
	struct msg_GRANT m = {
	    .id = g->id, .state = (uint8_t)state, .text = text};

	if (state == PROTO_GRANT_MADE &&
	    grant_bound(g, env->pool, &m.bound) == -1)
		m.bound = span_of(NULL, 0);

	if (g->form == GRANT_COUNTED) {
		m.left = (uint8_t)g->left;
		m.ms = g->until > now ? (uint32_t)(g->until - now) : 0;
	}
	env->send(env, ROLE_AUDIT, MSG_GRANT, &m);
}

void
tool_grant_made(struct policyd_env *env, uint64_t id)
{
	struct grant *g = find(env, id);
	struct span text;

	if (g != NULL && grant_text(g, env->pool, &text) == 0)
		tell(env, g, PROTO_GRANT_MADE, text);
}

void
tool_grant_kept(struct policyd_env *env, struct grant *g)
{
	g->waits = false;
	tell(env, g, PROTO_GRANT_KEPT, span_of(NULL, 0));
}

static void
end_at(struct policyd_env *env, unsigned i, const char *why)
{
	tell(env, &env->grants.list[i], PROTO_GRANT_ENDED, span_str(why));
	grants_drop(&env->grants, i);
}

/* Returns true if the i-th grant covers the call. Ends it if it has expired. */
static bool
covers(struct policyd_env *env, const struct grant *g, const struct work *k,
    const struct session_tool *t)
{
	uint8_t digest[32];

	if (g->waits || g->form == GRANT_LIMITED ||
	    !span_eq(g->server, k->server_name) ||
	    !span_eq(g->tool, k->tool) || !span_eq(g->rule, k->d.rule) ||
	    memcmp(g->def, t->digest, sizeof(g->def)) != 0)
		return false;
	if (g->form == GRANT_COUNTED)
		return g->left != 0 && g->until > loop_now(env->loop) &&
		       harmless(k->srv) && plain_arguments(k->tree);
	return arguments_digest(k, digest) == 0 &&
	       memcmp(digest, g->args, sizeof(digest)) == 0;
}

const struct grant *
tool_grant_apply(struct policyd_env *env, struct work *k)
{
	const struct session_tool *t = tool_of(env, k);
	const struct grant *g = NULL;
	struct span what;

	for (unsigned i = env->grants.n; i-- > 0;) {
		g = &env->grants.list[i];
		if (g->form == GRANT_COUNTED && g->until <= loop_now(env->loop))
			end_at(env, i, "its hour is over");
	}
	if (t == NULL || k->d.status != PROTO_ESCALATE || names_place(k))
		return NULL;
	g = NULL;
	/* Try uncounted grants first, so that no use is spent. */
	for (unsigned pass = 0; pass < 2 && g == NULL; pass++) {
		for (unsigned i = 0; i < env->grants.n && g == NULL; i++) {
			g = &env->grants.list[i];
			if ((g->form == GRANT_COUNTED) != (pass == 1) ||
			    !covers(env, g, k, t))
				g = NULL;
		}
	}
	if (g == NULL)
		return NULL;
	what = grant_describe(g, env->pool);
	k->d.status = PROTO_ALLOW;
	k->d.reason = reason_printf(env->pool, "Whitelist-approved: %.*s",
	    (int)what.len, (const char *)what.p);
	k->d.escalated = 0;
	return g;
}

uint8_t
tool_grant_take(struct policyd_env *env, uint64_t id)
{
	struct grant *g = find(env, id);
	uint8_t left;

	if (g == NULL || g->form == GRANT_LIMITED)
		return PROTO_UNCOUNTED;
	if (g->form == GRANT_COUNTED)
		g->left--;
	left = g->form == GRANT_COUNTED ? (uint8_t)g->left : PROTO_UNCOUNTED;
	tell(env, g, PROTO_GRANT_USED, span_of(NULL, 0));
	if (left == 0)
		(void)tool_grant_end(env, id, true, "all its calls were made");
	return left;
}

bool
tool_grant_end(
    struct policyd_env *env, uint64_t id, bool counted, const char *why)
{
	for (unsigned i = 0; i < env->grants.n; i++) {
		if (env->grants.list[i].id != id ||
		    (counted && env->grants.list[i].form != GRANT_COUNTED))
			continue;
		end_at(env, i, why);
		return true;
	}
	return false;
}

void
tool_grants_end(struct policyd_env *env, uint16_t server, struct span tool,
    bool counted, const char *why)
{
	const struct grant *g;

	for (unsigned i = env->grants.n; i-- > 0;) {
		g = &env->grants.list[i];
		if (g->form == GRANT_LIMITED ||
		    (counted && g->form != GRANT_COUNTED) ||
		    !span_is(g->server, env->engine.servers[server].name) ||
		    (tool.p != NULL && !span_eq(g->tool, tool)))
			continue;
		end_at(env, i, why);
	}
}

void
tool_grants_end_counted(struct policyd_env *env, const char *why)
{
	for (unsigned i = env->grants.n; i-- > 0;) {
		if (env->grants.list[i].form == GRANT_COUNTED)
			end_at(env, i, why);
	}
}
