/* SPDX-License-Identifier: ISC */
/*
 * Decides whether a policy as a whole can allow a tool with the help of a rule:
 * each role that a call always has must be allowed, and a rule for one of them
 * is not enough. It errs on one side: true is returned unless it is plain that
 * no call can be allowed. Paths of the workspace need no rule for some servers,
 * and which ones these are is not in a policy.
 */
#include "icctl/policy/compile/cover.h"

static uint32_t
whole_roles(const struct annot_tool *t)
{
	uint32_t roles = 0;

	for (unsigned i = 0; i < t->nargs; i++)
		roles |= t->args[i].all;
	return roles;
}

/*
 * Returns the roles that the argument has in every call, or, if `usual`, in
 * those without anything on which its roles depend.
 */
static uint32_t
whole_always(const struct annot_arg *a, bool usual)
{
	uint32_t roles = a->roles.mask;

	for (unsigned i = 0; !usual && i < a->nwhen; i++)
		roles &= a->when[i].roles.mask;
	return roles & ARGS_RESOURCE;
}

/* Returns true if the rule can decide about one of these roles of the tool. */
static bool
whole_about(const struct rule *r, const struct annot_tool *t, uint32_t roles)
{
	if (rule_of_parts(r) || !rule_names(r->servers, t->server) ||
	    !rule_names(r->tools, t->tool))
		return false;
	if (r->has_roles)
		roles &= r->roles;
	if (r->has_paths)
		roles &= r->path_roles;
	if (r->has_domains)
		roles &= r->domain_roles;
	if (r->nlists != 0)
		roles &= r->list_roles;
	return roles != 0;
}

static bool
whole_allowed(
    const struct cover_policy *p, const struct annot_tool *t, uint32_t role)
{
	for (size_t i = 0; i < p->rules.n; i++)
		if (p->rules.rules[i].then == PROTO_ALLOW &&
		    whole_about(&p->rules.rules[i], t, role))
			return true;
	return false;
}

/* Returns true if a rule keeps some paths of the tool from being allowed. */
static bool
whole_withholds(const struct cover_policy *p, const struct annot_tool *t)
{
	for (size_t i = 0; i < p->rules.n; i++)
		if (p->rules.rules[i].then != PROTO_ALLOW &&
		    p->rules.rules[i].has_paths &&
		    rule_names(p->rules.rules[i].servers, t->server) &&
		    rule_names(p->rules.rules[i].tools, t->tool))
			return true;
	return false;
}

/*
 * Returns true if an argument that has these roles can be decided by the rule,
 * and none of them is withheld: no other rule is needed for a path outside of
 * the workspace.
 */
static bool
whole_argument(const struct cover_policy *p, const struct rule *r,
    const struct annot_tool *t, const struct annot_arg *a, uint32_t roles)
{
	uint32_t elsewhere = 0;

	roles &= ARGS_RESOURCE;
	if (!whole_about(r, t, roles) || (roles & ~ARGS_PATH) != 0)
		return whole_about(r, t, roles);
	for (unsigned i = 0; i < t->nargs; i++)
		if (&t->args[i] != a)
			elsewhere |= t->args[i].all;
	for (unsigned role = 0; role < ARG_COUNT; role++)
		if ((roles & ~elsewhere & ARG_BIT(role)) &&
		    !whole_allowed(p, t, ARG_BIT(role)))
			return false;
	return true;
}

bool
cover_whole(const struct cover_policy *old, const struct cover_policy *new,
    const struct rule *r, const struct annot_tool *t, bool usual)
{
	uint32_t always = 0, roles = whole_roles(t) & ARGS_RESOURCE;

	for (unsigned i = 0; i < t->nargs; i++)
		always |= whole_always(&t->args[i], usual);
	for (unsigned role = 0; role < ARG_COUNT; role++)
		if ((always & ~ARGS_PATH & ARG_BIT(role)) &&
		    !whole_allowed(new, t, ARG_BIT(role)))
			return false;
	/* Only of the server of files it is known what needs no rule. */
	if (roles == 0 || !span_is(t->server, "filesystem") ||
	    whole_withholds(old, t) || whole_withholds(new, t))
		return true;
	for (unsigned i = 0; i < t->nargs; i++) {
		const struct annot_arg *a = &t->args[i];

		if (whole_argument(new, r, t, a, a->roles.mask))
			return true;
		for (unsigned k = 0; !usual && k < a->nwhen; k++)
			if (whole_argument(new, r, t, a, a->when[k].roles.mask))
				return true;
	}
	/* A rule for calls without any of these. */
	return always == 0 && !r->has_paths && !r->has_domains &&
	       r->nlists == 0;
}
