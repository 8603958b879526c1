/* SPDX-License-Identifier: ISC */
/*
 * Tools without an annotation: the meaning of their arguments is unknown, so no
 * rule can judge them, and a person decides about each call. The call is served
 * in the server's ordinary view whatever its arguments name; the person is
 * informed that the view is the boundary, not the decision.
 */
#include "policyd.h"

#include <stdlib.h>

#include "common/visible.h"

#define UNKNOWN_PATHS 4U  /* paths of each kind that are named */
#define UNKNOWN_PATH 100U /* maximum length of one */

bool
unknown_held(const struct policyd_env *env)
{
	return env->engine.ask && env->engine.unknown == PROTO_UNKNOWN_HOLD;
}

bool
unknown_hidden(const struct policyd_env *env, unsigned server, struct span tool)
{
	const struct server *srv = &env->engine.servers[server];

	if (srv->trusted || srv->virtual || unknown_held(env) ||
	    env->engine.unknown == PROTO_UNKNOWN_DENY)
		return false;
	return env->engine.annots == NULL ||
	       annots_find(env->engine.annots, span_str(srv->name), tool) ==
		   NULL;
}

bool
work_rule_denies(struct policyd_env *env, struct work *k,
    struct annot_tool *annot, const struct call_args *args, bool tools)
{
	struct request r = {.server_name = k->server_name,
	    .tool_name = k->tool,
	    .server = k->srv,
	    .annot = annot,
	    .args = args,
	    .pool = env->pool};
	struct decision d;

	eval_rules(&env->engine, &r, 0, &d);
	free(annot->rules);
	if (d.status != PROTO_DENY || d.by == NULL ||
	    (d.by->servers == NULL && (!tools || d.by->tools == NULL)))
		return false;
	k->d = d;
	return true;
}

/* List the paths of the view that may be read, or written. */
static void
put_paths(
    struct buf *b, const struct view *v, enum proto_view kind, const char *verb)
{
	struct span path;
	unsigned n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (v->rows[i].kind != kind || n++ >= UNKNOWN_PATHS)
			continue;
		buf_adds(b, n == 1 ? verb : ", ");
		path = v->rows[i].path;
		(void)visible_add(
		    b, span_of(path.p, visible_cut(path, UNKNOWN_PATH)), 0);
		if (path.len > UNKNOWN_PATH)
			buf_adds(b, "[...]");
	}
	if (n > UNKNOWN_PATHS)
		buf_printf(b, " and %u more", n - UNKNOWN_PATHS);
}

static struct span
boundary(struct policyd_env *env, const struct server *srv)
{
	struct span text;
	struct buf b;

	buf_init(&b, LOAD_MAX_REASON);
	if ((srv->reach & PROTO_REACH_AFAR) != 0)
		buf_adds(&b,
		    "Its server is on another machine: all arguments leave "
		    "this one");
	else if ((srv->reach & PROTO_REACH_HOST) != 0)
		buf_adds(&b,
		    "It runs without a sandbox, with all that you can reach");
	else
		buf_adds(&b,
		    "It runs in its server's ordinary view, which is the "
		    "boundary");
	if ((srv->reach & (PROTO_REACH_HOST | PROTO_REACH_AFAR)) == 0) {
		put_paths(&b, &srv->view, PROTO_VIEW_WRITE, "; may write ");
		put_paths(&b, &srv->view, PROTO_VIEW_READ, "; may read ");
		buf_adds(&b, (srv->reach & PROTO_REACH_NETWORK) != 0
				 ? "; connects to the hosts of its entry"
				 : "; has no network");
	}
	if ((srv->reach & PROTO_REACH_SECRET) != 0)
		buf_adds(&b, "; has credentials of its own");
	text = b.failed ? SPAN("") : buf_span(&b);
	text = reason_printf(env->pool, "No policy knows this tool. %.*s",
	    (int)text.len, (const char *)text.p);
	buf_free(&b);
	return text;
}

enum work_way
unknown_judge(struct policyd_env *env, struct work *k)
{
	struct annot_tool tool = {.server = k->server_name, .tool = k->tool};
	const struct call_args args = {.tree = k->tree};

	if (work_rule_denies(env, k, &tool, &args, true))
		return WORK_REFUSE;
	k->d = (struct decision){.status = PROTO_ESCALATE,
	    .rule = SPAN("unknown-tool-hold"),
	    .reason = boundary(env, k->srv)};
	return WORK_ASK;
}
