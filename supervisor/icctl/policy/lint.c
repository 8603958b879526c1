/* SPDX-License-Identifier: ISC */
/*
 * Finds rules that do nothing: they contradict themselves, name something that
 * does not exist, or come after a rule that takes all their calls. Reports only
 * what is certain.
 */
#include "icctl/policy/lint.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"

/* Returns true if the array, with its lists expanded, has any value. */
static bool
allows_any(const struct lint *l, const struct value *allowed)
{
	const struct value *v, *list, *part;
	static const char *const parts[] = {"values", "manualAdditions"};

	for (v = allowed->child; v != NULL; v = v->next) {
		if (v->text.len == 0 || v->text.p[0] != '@')
			return true;
		list = l->lists == NULL
			   ? NULL
			   : value_getspan(l->lists->lists,
				 span_of(v->text.p + 1, v->text.len - 1));
		for (size_t i = 0; list != NULL && i < 2; i++) {
			part = value_get(list, parts[i]);
			if (part != NULL && part->count != 0)
				return true;
		}
	}
	return false;
}

/* Returns true if the rule requires a resource role. */
static bool
needs_role(const struct rule *r)
{
	return r->has_paths ||
	       (r->has_domains && !(r->domain_roles & ~ARGS_RESOURCE));
}

static const char *
why_never(const struct lint *l, const struct rule *r)
{
	uint32_t roles = policy_rule_roles(r), has;
	size_t tools;

	if (r->servers != NULL && r->servers->count == 0)
		return "if.server is empty";
	if (r->tools != NULL && r->tools->count == 0)
		return "if.tool is empty";
	if (r->has_roles && r->roles == 0)
		return "if.roles is empty";
	if (roles == 0 && needs_role(r))
		return "its conditions have no role in common";
	if (r->has_domains && !allows_any(l, r->domains))
		return "if.domains.allowed is empty";
	for (unsigned i = 0; i < r->nlists; i++)
		if (!allows_any(l, r->lists[i].allowed))
			return "a list condition allows nothing";
	has = policy_tool_roles(l->annots, r, &tools);
	if (tools == 0)
		return "no annotated tool has a name that it gives";
	if (r->has_roles && !(r->roles & has))
		return "no annotated tool that it names has an argument with "
		       "a role of if.roles";
	if (r->has_paths && !(r->path_roles & has))
		return "no annotated tool that it names has an argument with "
		       "a role of if.paths";
	if (r->has_domains && !(r->domain_roles & has))
		return "no annotated tool that it names has an argument with "
		       "a role of if.domains";
	if (r->nlists != 0 && !(r->list_roles & has))
		return "no annotated tool that it names has an argument with "
		       "a role of if.lists";
	return NULL;
}

/* Returns true if `a` has every name of `b`. NULL means all names. */
static bool
names_cover(const struct value *a, const struct value *b)
{
	const struct value *v;

	if (a == NULL)
		return true;
	for (v = b == NULL ? NULL : b->child; v != NULL; v = v->next)
		if (!rule_names(a, v->text))
			return false;
	return b != NULL;
}

/* "*" matches names but no addresses; "*.x" matches x and names below it. */
static bool
pattern_covers(struct span a, struct span b)
{
	bool name = b.len != 0 && b.p[0] != '@' && b.p[0] != '*' &&
		    memchr(b.p, ':', b.len) == NULL &&
		    (b.p[b.len - 1] < '0' || b.p[b.len - 1] > '9') &&
		    memchr(b.p, '/', b.len) == NULL;

	if (span_eq(a, b))
		return true;
	if (span_is(a, "*"))
		return name || span_starts(b, SPAN("*."));
	if (!span_starts(a, SPAN("*.")) || b.len == 0 || b.p[0] == '@')
		return false;
	a.p += 1;
	a.len -= 1;
	return (name && span_eq(b, span_of(a.p + 1, a.len - 1))) ||
	       (b.len > a.len &&
		   span_eq(span_of(b.p + b.len - a.len, a.len), a) &&
		   (name || span_starts(b, SPAN("*."))));
}

static bool
values_cover(const struct value *a, const struct value *b, bool domains)
{
	const struct value *x, *y;

	for (y = b->child; y != NULL; y = y->next) {
		for (x = a->child; x != NULL; x = x->next)
			if (domains ? pattern_covers(x->text, y->text)
				    : span_eq(x->text, y->text))
				break;
		if (x == NULL)
			return false;
	}
	return true;
}

static bool
within_covers(struct span a, struct span b)
{
	while (a.len > 1 && a.p[a.len - 1] == '/')
		a.len--;
	while (b.len > 1 && b.p[b.len - 1] == '/')
		b.len--;
	if (memmem(a.p, a.len, "..", 2) != NULL ||
	    memmem(b.p, b.len, "..", 2) != NULL)
		return false;
	if (span_is(a, "/"))
		return b.p[0] == '/' || b.p[0] == '~';
	return span_starts(b, a) && (b.len == a.len || b.p[a.len] == '/');
}

/* Returns true if each list condition of `a` is also one of `b`. */
static bool
lists_cover(const struct rule *a, const struct rule *b)
{
	unsigned k;

	for (unsigned i = 0; i < a->nlists; i++) {
		for (k = 0; k < b->nlists; k++)
			if (a->lists[i].roles == b->lists[k].roles &&
			    a->lists[i].type == b->lists[k].type &&
			    values_cover(a->lists[i].allowed,
				b->lists[k].allowed,
				a->lists[i].type == MATCH_DOMAINS))
				break;
		if (k == b->nlists)
			return false;
	}
	return true;
}

/* Returns true if `a` matches everything that `b` matches, for every role. */
static bool
covers(const struct rule *a, const struct rule *b)
{
	uint32_t roles = policy_rule_roles(b);
	bool scoped = needs_role(b);

	if (!names_cover(a->servers, b->servers) ||
	    !names_cover(a->tools, b->tools))
		return false;
	if (a->has_roles && !(b->has_roles && !(b->roles & ~a->roles)) &&
	    !(scoped && !(roles & ~a->roles)))
		return false;
	if (a->has_paths && (!b->has_paths || (roles & ~a->path_roles) ||
				!within_covers(a->within, b->within)))
		return false;
	if (a->has_domains && (!b->has_domains || (roles & ~a->domain_roles) ||
				  (b->domain_roles & ~a->domain_roles) ||
				  !values_cover(a->domains, b->domains, true)))
		return false;
	return lists_cover(a, b);
}

static void
lint_shadow(struct lint *l, size_t i, const char *place)
{
	const struct rule *r = &l->rules->rules[i], *o;
	char name[220], other[220];

	log_vis(r->name, name, sizeof(name));
	for (size_t k = 0; k < i; k++) {
		o = &l->rules->rules[k];
		if (span_eq(o->name, r->name))
			finding(l->f, false, PROTO_RULES_POLICY,
			    "duplicate-name", place,
			    "rule \"%s\" has the "
			    "name of rules[%zu]: the log cannot tell them "
			    "apart",
			    name, k);
		if (!covers(o, r))
			continue;
		finding(l->f, o->then != r->then, PROTO_RULES_POLICY,
		    o->then == r->then ? "redundant" : "shadowed", place,
		    "rule \"%s\" (%s) never decides: rules[%zu] \"%s\" (%s), "
		    "before it, matches every call that it would",
		    name, policy_status(r->then), k,
		    log_vis(o->name, other, sizeof(other)),
		    policy_status(o->then));
		return;
	}
}

/* Report single names that match nothing, in a rule that otherwise matches. */
static void
lint_names(struct lint *l, size_t i, const char *place)
{
	const struct rule *r = &l->rules->rules[i];
	const struct value *v;
	struct value one, array;
	struct rule probe;
	char at[64], name[220];
	size_t tools, k;

	for (int pass = 0; pass < 2; pass++) {
		v = pass == 0 ? r->servers : r->tools;
		k = 0;
		for (v = v == NULL ? NULL : v->child; v != NULL;
		     v = v->next, k++) {
			one = (struct value){
			    .type = VALUE_STRING, .text = v->text};
			array = (struct value){.type = VALUE_ARRAY,
			    .count = 1,
			    .child = &one,
			    .last = &one};
			probe = (struct rule){
			    .servers = pass == 0 ? &array : r->servers,
			    .tools = pass == 0 ? NULL : &array};
			(void)policy_tool_roles(l->annots, &probe, &tools);
			if (tools != 0)
				continue;
			snprintf(at, sizeof(at), "%s.if.%s[%zu]", place,
			    pass == 0 ? "server" : "tool", k);
			finding(l->f, false, PROTO_RULES_POLICY, "unannotated",
			    at,
			    "%s \"%s\" is not annotated: no rule can judge "
			    "calls to it",
			    pass == 0 ? "server" : "tool",
			    log_vis(v->text, name, sizeof(name)));
		}
	}
}

void
policy_lint(struct lint *l)
{
	const char *why;
	char place[32], name[220];

	for (size_t i = 0; i < l->rules->n; i++) {
		snprintf(place, sizeof(place), "rules[%zu]", i);
		if ((why = why_never(l, &l->rules->rules[i])) != NULL) {
			finding(l->f, true, PROTO_RULES_POLICY, "never-matches",
			    place,
			    "rule \"%s\" can never "
			    "match: %s",
			    log_vis(
				l->rules->rules[i].name, name, sizeof(name)),
			    why);
			policy_lint_void(l, i);
			continue;
		}
		lint_names(l, i, place);
		/* Quadratic; files with more rules come from generators. */
		if (i < 5000)
			lint_shadow(l, i, place);
		policy_lint_wide(l, i);
		policy_lint_void(l, i);
		policy_lint_links(l, i);
	}
}
