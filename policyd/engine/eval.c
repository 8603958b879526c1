/* SPDX-License-Identifier: ISC */
/*
 * Structural checks, in a fixed order: protected paths first, unknown tools
 * last of the denials, rules only for what remains. An allow is then checked
 * for cases that the TypeScript IronCurtain let through.
 */
#include "engine/eval.h"

#include <sys/stat.h>

#include "common/log.h"

static void
decide(struct decision *d, enum proto_status status, struct span rule,
    struct span reason)
{
	d->status = status;
	d->rule = rule;
	d->reason = reason;
	d->escalated = 0;
	d->by = NULL;
}

static bool
is_protected(const struct engine *e, const struct path_point *at)
{
	struct span sandbox = engine_sandbox(e);
	const struct place *p;

	for (size_t i = 0; i < e->nplaces_protect; i++) {
		p = &e->places.list[i];
		if (!eval_point_within(e, at, p))
			continue;
		/*
		 * A sandbox within a protected directory still belongs to the
		 * agent.
		 */
		if (sandbox.p != NULL && path_below(sandbox, p->path) &&
		    path_below(at->host, sandbox))
			continue;
		return true;
	}
	return false;
}

/*
 * Find a protected place at which the path ends, or that it passed. Returns
 * true and sets *at if there is one.
 */
static bool
find_protected(
    const struct engine *e, const struct path *path, struct path_point *at)
{
	*at = path_end(path);
	if (is_protected(e, at))
		return true;
	for (unsigned i = 0; i < path->npassed; i++) {
		*at = path->passed[i];
		if (is_protected(e, at))
			return true;
	}
	return false;
}

/* Deny calls that touch a protected path. */
static bool
check_protected(
    const struct engine *e, const struct request *r, struct decision *d)
{
	const struct arg_value *v;
	struct path_point at;

	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!v->has_path || !find_protected(e, &v->path, &at))
			continue;
		decide(d, PROTO_DENY, SPAN("structural-protected-path"),
		    reason_printf(r->pool,
			"Access to protected path is forbidden: %.*s",
			(int)at.host.len, (const char *)at.host.p));
		return true;
	}
	return false;
}

/* Deny calls that change a workspace which is read-only in this session. */
static bool
check_read_only(
    const struct engine *e, const struct request *r, struct decision *d)
{
	const bool all = e->rules != NULL && e->rules->read_only;
	const struct arg_value *v;

	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!v->has_path ||
		    (v->mask & ARGS_PATH & ~ARG_BIT(ARG_READ_PATH)) == 0 ||
		    !eval_in_sandbox(e, &v->path) ||
		    (!all && (v->path.row == NULL ||
				 v->path.row->kind != PROTO_VIEW_READ)))
			continue;
		decide(d, PROTO_DENY, SPAN("structural-read-only-workspace"),
		    SPAN("The workspace is read-only in this session: say what "
			 "you would change, and do not try to change it"));
		return true;
	}
	return false;
}

/* Allow calls that only list what the filesystem server may access. */
static bool
check_introspection(const struct request *r, struct decision *d)
{
	if (!span_is(r->server_name, "filesystem") ||
	    !span_is(r->tool_name, "list_allowed_directories") ||
	    r->args->tree->count != 0)
		return false;
	decide(d, PROTO_ALLOW, SPAN("structural-introspection-allow"),
	    SPAN("Introspection tool with no side effects is always allowed"));
	return true;
}

bool
eval_has_sandbox(const struct request *r)
{
	if (engine_afar(r->server))
		return false;
	return span_is(r->server_name, "filesystem") ||
	       span_is(r->server_name, "git") ||
	       (r->server != NULL && r->server->is_git);
}

/*
 * Returns the path roles whose paths all lie in the sandbox, without a rule
 * that withholds one of them for the way that leads there.
 */
static uint32_t
sandbox_roles(const struct engine *e, const struct request *r)
{
	uint32_t inside = 0, outside = 0, bit;
	const struct arg_value *v;

	if (!eval_has_sandbox(r))
		return 0;
	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!v->has_path)
			continue;
		if (!eval_in_sandbox(e, &v->path)) {
			outside |= v->mask & ARGS_PATH;
			continue;
		}
		inside |= v->mask & ARGS_PATH;
		for (unsigned k = 0; v->path.npassed != 0 && k < ARG_COUNT;
		     k++) {
			bit = v->mask & ARGS_PATH & ARG_BIT(k);
			if (bit != 0 &&
			    eval_withheld(e, r, (enum arg_role)k, &v->path))
				outside |= bit;
		}
	}
	return inside & ~outside;
}

/* Returns the first URL role of the argument in the file's order. */
static enum arg_role
url_role(const struct arg_value *v)
{
	for (unsigned i = 0; i < v->roles->n; i++) {
		if (ARGS_URL & ARG_BIT(v->roles->list[i]))
			return (enum arg_role)v->roles->list[i];
	}
	return ARG_FETCH_URL;
}

/* Escalate calls to domains that the server's configuration does not list. */
static bool
check_domains(const struct request *r, struct decision *d)
{
	const struct arg_value *v;
	char domain[DOMAIN_MAX_HOST + 64] UNCLEARED, server[100] UNCLEARED;

	if (r->server == NULL || r->server->domains == NULL)
		return false;
	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (!v->has_url || (v->node == NULL && v->url.text.len == 0) ||
		    match_set_domain(r->server->domains, &v->url.domain))
			continue;
		decide(d, PROTO_ESCALATE, SPAN("structural-domain-escalate"),
		    reason_printf(r->pool,
			"URL domain \"%s\" is not in the "
			"allowlist for server \"%s\"",
			log_vis(v->url.domain.seen.len != 0
				    ? v->url.domain.seen
				    : v->url.domain.full,
			    domain, sizeof(domain)),
			log_vis(r->server_name, server, sizeof(server))));
		d->escalated = ARG_BIT(url_role(v));
		return true;
	}
	return false;
}

static void
caution(struct decision *d, const char *rule, struct span reason, uint32_t role)
{
	decide(d, PROTO_ESCALATE, span_str(rule), reason);
	d->escalated = role;
}

void
eval_caution(const struct request *r, struct decision *d)
{
	const struct arg_value *v;

	for (size_t i = 0; i < r->args->n; i++) {
		v = &r->args->values[i];
		if (v->mask & ARG_BIT(ARG_WRITE_PATH) && v->has_path &&
		    v->path.exists && S_ISREG(v->path.object.mode) &&
		    v->path.object.nlink > 1) {
			caution(d, "structural-hard-link",
			    reason_printf(r->pool,
				"File has %llu names (hard "
				"links); writing it changes all of them: %.*s",
				(unsigned long long)v->path.object.nlink,
				(int)v->path.host.len,
				(const char *)v->path.host.p),
			    ARG_BIT(ARG_WRITE_PATH));
			return;
		}
		if (!v->has_url)
			continue;
		if (!v->url.domain.known) {
			caution(d, "structural-unknown-remote",
			    SPAN("The URL behind a git remote is not known to "
				 "the policy; give the URL itself"),
			    ARG_BIT(ARG_GIT_REMOTE_URL));
			return;
		}
		if (v->url.domain.kind == HOST_NONE &&
		    !(v->mask & d->by_domains)) {
			caution(d, "structural-url-scheme",
			    v->url.domain.seen.len != 0
				? SPAN("URL has a scheme that no rule allows: "
				       "only http, https, ws and wss")
				: SPAN("URL names no host"),
			    ARG_BIT(url_role(v)));
			return;
		}
	}
}

void
eval_ungated(
    const struct engine *e, const struct request *r, struct decision *d)
{
	eval_rules(e, r, sandbox_roles(e, r), d);
	if (d->status == PROTO_ALLOW)
		eval_caution(r, d);
}

void
eval_request(
    const struct engine *e, const struct request *r, struct decision *d)
{
	char server[100] UNCLEARED, tool[200] UNCLEARED;

	if (r->server != NULL && r->server->trusted) {
		decide(d, PROTO_ALLOW, SPAN("trusted-server"),
		    reason_printf(r->pool, "Server \"%s\" is trusted",
			log_vis(r->server_name, server, sizeof(server))));
		return;
	}
	if (r->annot == NULL) {
		decide(d, PROTO_DENY, SPAN("structural-unknown-tool"),
		    reason_printf(r->pool, "Unknown tool: %s/%s",
			log_vis(r->server_name, server, sizeof(server)),
			log_vis(r->tool_name, tool, sizeof(tool))));
		return;
	}
	if (check_protected(e, r, d) || check_introspection(r, d))
		return;
	eval_ungated(e, r, d);
	/* The gate's question must not replace a rule's denial. */
	if (d->status == PROTO_DENY && d->by != NULL)
		return;
	if (!check_read_only(e, r, d))
		(void)check_domains(r, d);
}

void
eval_call(struct engine *e, struct span server, struct span tool,
    struct value *tree, struct value_pool *pool, struct decision *d)
{
	const struct server absent = {
	    .cwd = SPAN("/workspace"),
	    .is_git = span_is(server, "git"),
	};
	struct call_args args = {.tree = tree};
	struct request r = {.server_name = server,
	    .tool_name = tool,
	    .server = engine_server_find(e, server),
	    .args = &args,
	    .pool = pool};

	if (r.server == NULL)
		r.server = &absent;
	if (e->annots != NULL)
		r.annot = annots_find(e->annots, server, tool);
	if (eval_judges_paths(e, &r) &&
	    args_prepare(e, r.server, r.annot, tree, pool, &args) == -1) {
		decide(d, PROTO_DENY, span_str(args.rule), args.reason);
		return;
	}
	eval_request(e, &r, d);
	eval_narrow(e, &r, d);
}
