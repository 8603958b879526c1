/* SPDX-License-Identifier: ISC */
/*
 * Takes from a decision what the person's settings or a project's file take
 * from the policy. It comes after everything else that decides, and only makes
 * a decision more severe: nothing is allowed here.
 */
#include "engine/eval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/narrow.h"

int
engine_narrow(struct engine *e, struct span text)
{
	struct narrow n;
	char *copy;

	if (narrow_read(text, &n) == -1) {
		errno = EINVAL;
		return -1;
	}
	if (e->nnarrow == nitems(e->narrow)) {
		errno = ENOBUFS;
		return -1;
	}
	if ((copy = span_dup(text)) == NULL)
		return -1;
	e->narrow[e->nnarrow++] = copy;
	return 0;
}

/* Returns true if the path is `at`, or below it. `at` may be empty. */
static bool
is_below(struct span path, struct span workspace, struct span at)
{
	struct span rest;

	if (workspace.p == NULL || !path_below(path, workspace))
		return false;
	rest = span_of(path.p + workspace.len, path.len - workspace.len);
	if (at.len == 0)
		return true;
	return rest.len > at.len && rest.p[0] == '/' &&
	       memcmp(rest.p + 1, at.p, at.len) == 0 &&
	       (rest.len == at.len + 1 || rest.p[at.len + 1] == '/');
}

/* Returns true if `at` is below the path, which goes with it. */
static bool
is_above(struct span path, struct span workspace, struct span at)
{
	struct span rest;

	if (workspace.p == NULL || !path_below(path, workspace))
		return workspace.p != NULL && path_below(workspace, path);
	rest = span_of(path.p + workspace.len, path.len - workspace.len);
	return rest.len == 0 ||
	       (rest.len - 1 < at.len &&
		   memcmp(rest.p + 1, at.p, rest.len - 1) == 0 &&
		   at.p[rest.len - 1] == '/');
}

/*
 * Returns true if the value may be a directory that goes, with all below it, or
 * that comes in a move: to a path that is only written.
 */
static bool
carries(const struct narrow *n, const struct arg_value *v, uint32_t roles)
{
	const uint32_t gone = ARG_BIT(ARG_DELETE_PATH),
		       writes = ARG_BIT(ARG_WRITE_PATH);
	const bool moves = (roles & gone) != 0 && (roles & writes) != 0;

	if (n->kind == NARROW_READ)
		return moves && (v->mask & gone) != 0;
	return (v->mask & gone) != 0 ||
	       (moves && (v->mask & ARGS_PATH) == writes);
}

/*
 * Returns true if the value is, or passes, what is meant. What is moved can be
 * read under its new name. `roles` are those of the call.
 */
static bool
meets(const struct engine *e, const struct narrow *n, const struct arg_value *v,
    uint32_t roles)
{
	const uint32_t read = ARG_BIT(ARG_READ_PATH),
		       mask = v->mask & ARGS_PATH &
			      (n->kind == NARROW_READ ? read : ~read);
	const bool carried = carries(n, v, roles);

	if (!v->has_path || (mask == 0 && !carried))
		return false;
	if (is_below(v->path.host, e->workspace, n->path) ||
	    (carried && is_above(v->path.host, e->workspace, n->path)))
		return true;
	for (unsigned i = 0; i < v->path.npassed; i++)
		if (is_below(v->path.passed[i].host, e->workspace, n->path))
			return true;
	return false;
}

static bool
is_meant(
    const struct engine *e, const struct narrow *n, const struct request *r)
{
	if (n->kind == NARROW_TOOL)
		return span_eq(n->server, r->server_name) &&
		       rule_pattern(n->tool, r->tool_name);
	for (size_t i = 0; r->args != NULL && i < r->args->n; i++)
		if (meets(e, n, &r->args->values[i], r->args->roles))
			return true;
	return false;
}

bool
eval_judges_paths(const struct engine *e, const struct request *r)
{
	uint32_t roles = 0;
	struct narrow n;

	if (r->annot == NULL || r->server == NULL)
		return false;
	if (!r->server->trusted)
		return true;
	for (unsigned i = 0; i < r->annot->nargs; i++)
		roles |= r->annot->args[i].all;
	for (size_t i = 0; i < e->nnarrow && (roles & ARGS_PATH) != 0; i++)
		if (narrow_read(span_str(e->narrow[i]), &n) == 0 &&
		    n.kind != NARROW_TOOL)
			return !engine_afar(r->server);
	return false;
}

void
eval_narrow(const struct engine *e, const struct request *r, struct decision *d)
{
	const char *hit = NULL;
	struct narrow n;
	bool ask = true;

	d->person = false;
	if (d->status == PROTO_DENY)
		return;
	for (size_t i = 0; i < e->nnarrow && ask; i++) {
		if (narrow_read(span_str(e->narrow[i]), &n) == -1 ||
		    (n.ask && hit != NULL) || !is_meant(e, &n, r))
			continue;
		hit = e->narrow[i];
		ask = n.ask;
	}
	if (hit == NULL)
		return;
	if (ask && d->status == PROTO_ESCALATE) {
		d->person = true;
		return;
	}
	*d = (struct decision){.status = ask ? PROTO_ESCALATE : PROTO_DENY,
	    .person = ask,
	    .rule = ask ? SPAN("narrowed-ask") : SPAN("narrowed-deny"),
	    .reason = reason_printf(
		r->pool, "The settings of this session say: %s", hit)};
}
