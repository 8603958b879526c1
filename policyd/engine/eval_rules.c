/* SPDX-License-Identifier: ISC */
/*
 * Compiled rules: each remaining role is judged separately, the first rule that
 * matches it decides, and the most severe role wins. A condition that finds no
 * value is false. Only rules that name this server and tool, or none, are
 * tried; they are looked up once per tool.
 */
#include "engine/eval_match.h"

#include <stdlib.h>

#define NO_ROLE ARG_COUNT

struct evaluation {
	const struct engine *engine;
	const struct request *r;
	const struct call_args *args;
};

static void
decide_default(struct decision *d)
{
	*d = (struct decision){
	    .status = PROTO_DENY,
	    .rule = SPAN("default-deny"),
	    .reason = SPAN("No matching policy rule -- denied by default"),
	};
}

/*
 * Decide by a rule that matched. If the URL of a remote is not known, escalate
 * whatever the rule says.
 */
static void
decide_rule(struct decision *d, const struct rule *rule, enum match how)
{
	*d = (struct decision){
	    .status = rule->then,
	    .rule = rule->name,
	    .reason = rule->reason,
	    .by = rule,
	};
	if (how == MATCH_UNKNOWN && rule->then != PROTO_ESCALATE) {
		d->status = PROTO_ESCALATE;
		d->rule = SPAN("structural-unknown-remote");
		d->reason = SPAN("The URL behind a git remote is not known to "
				 "the policy; give the URL itself");
		d->by = NULL;
	}
}

/*
 * Returns true if the match only keeps others from allowing: a later rule may
 * still deny, but none can allow.
 */
static bool
only_caps(const struct rule *rule, enum match how)
{
	return how == MATCH_CAPS ||
	       (how == MATCH_UNKNOWN && rule->then == PROTO_DENY);
}

/* Collect the rules that name the tool, or no tool, in `list` (NULL: count). */
static uint32_t
list_rules(const struct rules *rs, const struct request *r, uint32_t *list)
{
	const struct annot_tool *t = r->annot;
	uint32_t n = 0;

	for (size_t i = 0; rs != NULL && i < rs->n; i++) {
		if (rule_of_parts(&rs->rules[i]) ||
		    engine_idle(&rs->rules[i], r->server) ||
		    !rule_names(rs->rules[i].servers, t->server) ||
		    !rule_names(rs->rules[i].tools, t->tool))
			continue;
		if (list != NULL)
			list[n] = (uint32_t)i;
		n++;
	}
	return n;
}

/* Find the rules about the tool, unless that was done before. */
static int
index_rules(const struct engine *e, const struct request *r)
{
	struct annot_tool *t = r->annot;
	uint32_t *list;

	if (t->indexed)
		return 0;
	list = calloc(list_rules(e->rules, r, NULL) + 1U, sizeof(*list));
	if (list == NULL)
		return -1;
	free(t->rules);
	t->nrules = list_rules(e->rules, r, list);
	t->rules = list;
	t->indexed = true;
	return 0;
}

static void
tell_rule(const struct evaluation *ev, size_t i, enum arg_role role,
    enum eval_tried how)
{
	const struct eval_trace *t = ev->engine->trace;

	if (t != NULL && t->rule != NULL)
		t->rule(t->arg, ev->r, i, role, how);
}

/*
 * If all list conditions of a rule that asks or denies are about opaque roles,
 * the rule concerns every role. Otherwise it would never apply to a branch or
 * an address in a call that also names a path or a URL.
 */
static bool
lists_relevant(const struct rule *rule, uint32_t bit)
{
	return rule->nlists == 0 || rule->list_roles & bit ||
	       (rule->then != PROTO_ALLOW &&
		   !(rule->list_roles & ARGS_RESOURCE));
}

static bool
relevant(const struct rule *rule, enum arg_role role)
{
	uint32_t bit = ARG_BIT(role);

	return (!rule->has_roles || rule->roles & bit) &&
	       (!rule->has_paths || rule->path_roles & bit) &&
	       (!rule->has_domains || rule->domain_roles & bit) &&
	       lists_relevant(rule, bit);
}

/* if.roles: returns true if any argument of the tool has one of them. */
static bool
tool_has_roles(const struct evaluation *ev, const struct rule *rule)
{
	return !rule->has_roles || ev->args->roles & rule->roles;
}

static bool
match_paths(const struct evaluation *ev, size_t i, uint32_t mask)
{
	const struct arg_value *v;
	bool any = false;

	for (size_t k = 0; k < ev->args->n; k++) {
		v = &ev->args->values[k];
		if (!(v->mask & mask) || !v->has_path)
			continue;
		any = true;
		if (!eval_rule_within(ev->engine, i, &v->path))
			return false;
	}
	return any;
}

/* Match the domain and list conditions against all values of the call. */
static enum match
match_sets(const struct evaluation *ev, size_t i, enum arg_role role)
{
	const struct rule *rule = &ev->engine->rules->rules[i];
	const struct rule_sets *sets = &ev->engine->sets[i];
	enum match m, all = MATCH_YES;
	uint32_t bit = role == NO_ROLE ? 0 : ARG_BIT(role), mask;

	if (rule->has_domains) {
		mask = role == NO_ROLE ? rule->domain_roles : bit;
		if ((m = eval_match(ev->r, sets->domains, mask)) == MATCH_NO)
			return MATCH_NO;
		all = m;
	}
	for (unsigned k = 0; k < rule->nlists; k++) {
		mask = rule->lists[k].roles & bit ? bit : rule->lists[k].roles;
		if ((m = eval_match(ev->r, sets->lists[k], mask)) == MATCH_NO)
			return MATCH_NO;
		if (m == MATCH_UNKNOWN || all == MATCH_YES)
			all = m;
	}
	return all;
}

/*
 * Match them for one role. If a rule asks because of an opaque value, no grant
 * is offered for the other values of the call.
 */
static enum match
match_role_sets(const struct evaluation *ev, size_t i, enum arg_role role)
{
	const struct rule *rule = &ev->engine->rules->rules[i];
	enum match m = match_sets(ev, i, role);

	if (m == MATCH_YES && role != NO_ROLE && rule->nlists != 0 &&
	    rule->then == PROTO_ESCALATE && !rule->has_roles &&
	    !rule->has_paths && !rule->has_domains &&
	    !(rule->list_roles & ARG_BIT(role)))
		return MATCH_CAPS;
	return m;
}

/* Match all conditions of the rule. */
static enum match
match_rule(const struct evaluation *ev, size_t i, enum arg_role role)
{
	const struct rule *rule = &ev->engine->rules->rules[i];
	uint32_t mask = role == NO_ROLE ? rule->path_roles : ARG_BIT(role);

	if (!tool_has_roles(ev, rule))
		return MATCH_NO;
	if (rule->has_paths && !match_paths(ev, i, mask))
		return MATCH_NO;
	return match_role_sets(ev, i, role);
}

/* Returns true if the path passed a place outside the sandbox that is in it. */
static bool
passed_within(
    const struct engine *e, const struct path *path, const struct place *place)
{
	struct span sandbox = engine_sandbox(e);

	for (unsigned i = 0; i < path->npassed; i++) {
		if (!path_below(path->passed[i].host, sandbox) &&
		    eval_point_within(e, &path->passed[i], place))
			return true;
	}
	return false;
}

/*
 * The sandbox needs no rule, and so rules about nothing but roles do not count
 * here. The first rule in order decides between those that allow and those that
 * withhold.
 */
bool
eval_withheld(const struct engine *e, const struct request *r,
    enum arg_role role, const struct path *path)
{
	struct evaluation ev = {.engine = e, .r = r, .args = r->args};
	const struct annot_tool *t = r->annot;
	const struct place *place;
	const struct rule *rule;
	enum match m;

	if (path->npassed == 0)
		return false;
	if (index_rules(e, r) == -1)
		return true;
	for (uint32_t k = 0; k < t->nrules; k++) {
		rule = &e->rules->rules[t->rules[k]];
		if ((rule->then != PROTO_ALLOW && !rule->has_paths) ||
		    !relevant(rule, role) || !tool_has_roles(&ev, rule))
			continue;
		place = &e->places.list[e->sets[t->rules[k]].place];
		if (rule->then == PROTO_ALLOW
			? rule->has_paths &&
			      !eval_rule_within(e, t->rules[k], path)
			: !passed_within(e, path, place))
			continue;
		m = match_role_sets(&ev, t->rules[k], role);
		if (rule->then == PROTO_ALLOW ? m == MATCH_YES : m != MATCH_NO)
			return rule->then != PROTO_ALLOW;
	}
	return false;
}

bool
eval_asks_about(const struct engine *e, const struct request *r,
    enum arg_role role, const struct path_point *at)
{
	struct evaluation ev = {.engine = e, .r = r, .args = r->args};
	const struct annot_tool *t = r->annot;
	const struct rule *rule;

	if (index_rules(e, r) == -1)
		return true;
	for (uint32_t k = 0; k < t->nrules; k++) {
		rule = &e->rules->rules[t->rules[k]];
		if (rule->then == PROTO_ESCALATE && rule->has_paths &&
		    relevant(rule, role) && tool_has_roles(&ev, rule) &&
		    eval_point_within(
			e, at, &e->places.list[e->sets[t->rules[k]].place]))
			return true;
	}
	return false;
}

/* Find the first rule that matches all values, for a role or for none. */
static void
scan_all(const struct evaluation *ev, enum arg_role role, struct decision *d,
    struct decision *cap)
{
	const struct annot_tool *t = ev->r->annot;
	enum match m;

	for (uint32_t k = 0; k < t->nrules; k++) {
		const struct rule *rule =
		    &ev->engine->rules->rules[t->rules[k]];

		if (role != NO_ROLE && !relevant(rule, role)) {
			tell_rule(ev, t->rules[k], role, EVAL_IRRELEVANT);
			continue;
		}
		m = match_rule(ev, t->rules[k], role);
		tell_rule(ev, t->rules[k], role,
		    m == MATCH_NO        ? EVAL_MISSED
		    : only_caps(rule, m) ? EVAL_CAPPED
					 : EVAL_MATCHED);
		if (m == MATCH_NO)
			continue;
		if (!only_caps(rule, m)) {
			decide_rule(d, rule, m);
			return;
		}
		if (cap->status != PROTO_ESCALATE)
			decide_rule(cap, rule, m);
	}
	decide_default(d);
}

static void
scan(const struct evaluation *ev, enum arg_role role, struct decision *d)
{
	struct decision cap = {.status = PROTO_ALLOW};

	scan_all(ev, role, d, &cap);
	if (cap.status == PROTO_ESCALATE && d->status != PROTO_DENY)
		*d = cap;
}

/* Paths of one role that no rule has decided yet. */
struct open_paths {
	const struct path **list;
	size_t n;
};

static size_t
count_paths(const struct evaluation *ev, enum arg_role role)
{
	size_t n = 0;

	for (size_t k = 0; k < ev->args->n; k++)
		n += ev->args->values[k].has_path &&
		     ev->args->values[k].mask & ARG_BIT(role);
	return n;
}

/*
 * Remove the paths that the rule is about: all if it has no if.paths. Returns
 * true if any was removed.
 */
static bool
discharge(const struct evaluation *ev, struct open_paths *open, size_t i)
{
	bool all = !ev->engine->rules->rules[i].has_paths;
	size_t kept = 0, before = open->n;

	for (size_t k = 0; k < before; k++) {
		if (!all && !eval_rule_within(ev->engine, i, open->list[k]))
			open->list[kept++] = open->list[k];
	}
	open->n = kept;
	return kept != before;
}

static bool
worse(enum proto_status a, enum proto_status b)
{
	static const unsigned severity[] = {
	    [PROTO_ALLOW] = 0,
	    [PROTO_ESCALATE] = 1,
	    [PROTO_DENY] = 2,
	};

	return severity[a] > severity[b];
}

/* The reason of most calls, so it is built without printf(). */
static struct span
reason_sandbox(struct value_pool *pool, struct span dir)
{
	static const struct span text =
	    SPAN("Path(s) within the sandbox directory: ");
	struct span s;

	if (text.len + dir.len > LOAD_MAX_REASON)
		return text;
	s = path_joined(pool, text, dir);
	return s.p == NULL ? text : s;
}

/* The filesystem server may use the sandbox unless a rule says otherwise. */
static bool
discharge_sandbox(const struct evaluation *ev, enum arg_role role,
    struct open_paths *open, struct decision *d)
{
	const struct engine *e = ev->engine;
	struct span sandbox = engine_sandbox(e);
	size_t kept = 0, before = open->n;

	if (!span_is(ev->r->server_name, "filesystem") || sandbox.p == NULL)
		return false;
	for (size_t k = 0; k < before; k++) {
		if (!eval_in_sandbox(e, open->list[k]) ||
		    eval_withheld(e, ev->r, role, open->list[k]))
			open->list[kept++] = open->list[k];
	}
	open->n = kept;
	if (kept == before)
		return false;
	*d = (struct decision){
	    .status = PROTO_ALLOW,
	    .rule = SPAN("structural-sandbox-allow"),
	    .reason = reason_sandbox(ev->r->pool, sandbox),
	};
	return true;
}

/* Match the rule against the paths of a role that are still undecided. */
static enum match
match_open(const struct evaluation *ev, size_t i, enum arg_role role,
    struct open_paths *open)
{
	const struct rule *rule = &ev->engine->rules->rules[i];
	enum match m;

	if (!relevant(rule, role) || !tool_has_roles(ev, rule) ||
	    (m = match_role_sets(ev, i, role)) == MATCH_NO)
		return MATCH_NO;
	/* Deny for certain: no later rule would look at these paths again. */
	if (m == MATCH_UNKNOWN && rule->then == PROTO_DENY)
		m = MATCH_YES;
	if (m == MATCH_CAPS)
		return m;
	return discharge(ev, open, i) ? m : MATCH_NO;
}

/* Evaluate a role with paths: the first rule that matches a path decides it. */
static void
scan_paths(const struct evaluation *ev, enum arg_role role,
    struct open_paths *open, struct decision *d)
{
	const struct engine *e = ev->engine;
	const struct annot_tool *t = ev->r->annot;
	bool placeholder = discharge_sandbox(ev, role, open, d);
	bool any = placeholder;
	struct decision one, cap = {.status = PROTO_ALLOW};
	const struct rule *rule;
	enum match m;

	for (uint32_t k = 0; k < t->nrules && open->n != 0; k++) {
		size_t i = t->rules[k];

		rule = &e->rules->rules[i];
		m = match_open(ev, i, role, open);
		tell_rule(ev, i, role,
		    m == MATCH_CAPS        ? EVAL_CAPPED
		    : m != MATCH_NO        ? EVAL_MATCHED
		    : relevant(rule, role) ? EVAL_MISSED
					   : EVAL_IRRELEVANT);
		if (m == MATCH_NO)
			continue;
		if (m == MATCH_CAPS) {
			if (cap.status != PROTO_ESCALATE)
				decide_rule(&cap, rule, m);
			continue;
		}
		decide_rule(&one, rule, m);
		if (!any || worse(one.status, d->status) ||
		    (placeholder && one.status == d->status)) {
			*d = one;
			placeholder = false;
		}
		any = true;
	}
	if (open->n != 0 || !any)
		decide_default(d);
	else if (worse(cap.status, d->status))
		*d = cap;
}

static void
eval_role(const struct evaluation *ev, enum arg_role role, struct decision *d)
{
	struct open_paths open = {.n = 0};
	size_t n = 0;

	/*
	 * The argument may have this role by a second meaning and be no path.
	 */
	if (ARGS_PATH & ARG_BIT(role))
		n = count_paths(ev, role);
	if (n == 0) {
		scan(ev, role, d);
		return;
	}
	if ((open.list = value_pool_alloc(
		 ev->r->pool, n * sizeof(*open.list))) == NULL) {
		decide_default(d);
		return;
	}
	for (size_t k = 0; k < ev->args->n; k++) {
		const struct arg_value *v = &ev->args->values[k];

		if (v->has_path && v->mask & ARG_BIT(role))
			open.list[open.n++] = &v->path;
	}
	scan_paths(ev, role, &open, d);
}

void
eval_rules(const struct engine *e, const struct request *r, uint32_t resolved,
    struct decision *d)
{
	struct evaluation ev = {.engine = e, .r = r, .args = r->args};
	const struct eval_trace *t = e->trace;
	uint32_t escalated = 0, by_domains = 0;
	struct decision one;
	bool any = false;

	decide_default(d);
	if (index_rules(e, r) == -1)
		return;
	if (r->args->norder == 0) {
		scan(&ev, NO_ROLE, d);
		return;
	}
	for (unsigned i = 0; i < r->args->norder; i++) {
		enum arg_role role = (enum arg_role)r->args->order[i];

		if (t != NULL && t->role != NULL)
			t->role(t->arg, role, resolved & ARG_BIT(role));
		if (resolved & ARG_BIT(role))
			continue;
		eval_role(&ev, role, &one);
		if (t != NULL)
			t->done(t->arg, role, &one);
		if (one.status == PROTO_ESCALATE)
			escalated |= ARG_BIT(role);
		if (one.by != NULL && one.by->has_domains)
			by_domains |= ARG_BIT(role);
		if (!any || worse(one.status, d->status))
			*d = one;
		any = true;
		if (d->status == PROTO_DENY)
			return;
	}
	if (!any) {
		*d = (struct decision){
		    .status = PROTO_ALLOW,
		    .rule = SPAN("structural-sandbox-allow"),
		    .reason = SPAN("All path roles resolved by sandbox "
				   "containment"),
		};
		return;
	}
	d->escalated = d->status == PROTO_ESCALATE ? escalated : 0;
	d->by_domains = by_domains;
}
