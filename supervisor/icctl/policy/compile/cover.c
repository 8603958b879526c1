/* SPDX-License-Identifier: ISC */
/*
 * Decides whether a rule allows something new. It errs on one side: a rule is
 * covered only if that is plain from its conditions; any other rule is shown to
 * a person, who may find that it grants nothing new.
 */
#include "icctl/policy/compile/cover.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
cover_load(
    struct cover_policy *p, const struct policy_set *set, struct fault *fault)
{
	const struct policy_file *f = set->files;
	struct load l;
	int rv = 0;

	memset(p, 0, sizeof(*p));
	load_init(&l, "policy");
	if (f[PROTO_RULES_LISTS].path != NULL)
		rv = lists_load(&p->lists,
		    span_of(f[PROTO_RULES_LISTS].text, f[PROTO_RULES_LISTS].len),
		    &l);
	if (rv == 0 && f[PROTO_RULES_POLICY].path != NULL)
		rv = rules_load(&p->rules,
		    span_of(
			f[PROTO_RULES_POLICY].text, f[PROTO_RULES_POLICY].len),
		    &l);
	if (rv == 0 && f[PROTO_RULES_ANNOTATIONS].path != NULL)
		rv = annots_load(&p->annots,
		    span_of(f[PROTO_RULES_ANNOTATIONS].text,
			f[PROTO_RULES_ANNOTATIONS].len),
		    &l);
	if (rv == -1) {
		fault_set(fault, "%s", l.error);
		cover_free(p);
	}
	load_free(&l);
	return rv;
}

void
cover_free(struct cover_policy *p)
{
	rules_free(&p->rules);
	annots_free(&p->annots);
	lists_free(&p->lists);
	memset(p, 0, sizeof(*p));
}

bool
cover_names_tool(const struct rule *r, const struct annot_tool *t)
{
	uint32_t roles = 0, want = r->roles;

	if (rule_of_parts(r) || !rule_names(r->servers, t->server) ||
	    !rule_names(r->tools, t->tool))
		return false;
	for (unsigned i = 0; i < t->nargs; i++)
		roles |= t->args[i].all;
	return (!r->has_roles || (want & roles)) &&
	       (!r->has_paths || (r->path_roles & roles)) &&
	       (!r->has_domains || (r->domain_roles & roles)) &&
	       (r->nlists == 0 || (r->list_roles & roles));
}

/* Returns true if a value is in an array. */
static bool
in_array(const struct value *array, struct span s)
{
	const struct value *v = array == NULL || array->type != VALUE_ARRAY
				    ? NULL
				    : array->child;

	while (v != NULL && !(v->type == VALUE_STRING && span_eq(v->text, s)))
		v = v->next;
	return v != NULL;
}

static void
list_values(const struct value *list, cover_value_fn *fn, void *arg)
{
	static const char *const members[] = {"values", "manualAdditions"};
	const struct value *gone = value_get(list, "manualRemovals"), *v;

	for (size_t i = 0; i < nitems(members); i++) {
		v = value_get(list, members[i]);
		v = v == NULL || v->type != VALUE_ARRAY ? NULL : v->child;
		for (; v != NULL; v = v->next)
			if (v->type == VALUE_STRING && !in_array(gone, v->text))
				fn(arg, v->text);
	}
}

void
cover_values(const struct cover_policy *p, const struct value *allowed,
    cover_value_fn *fn, void *arg)
{
	const struct value *v = allowed == NULL ? NULL : allowed->child;

	for (; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING)
			continue;
		if (v->text.len != 0 && v->text.p[0] == '@')
			list_values(value_getspan(p->lists.lists,
					span_of(v->text.p + 1,
					    v->text.len - 1)),
			    fn, arg);
		else
			fn(arg, v->text);
	}
}

struct finding_value {
	struct span want;
	bool found;
};

static void
on_value(void *arg, struct span value)
{
	struct finding_value *f = arg;

	f->found = f->found || span_eq(f->want, value);
}

bool
cover_has_value(const struct cover_policy *p, const struct value *allowed,
    struct span value)
{
	struct finding_value f = {value, false};

	cover_values(p, allowed, on_value, &f);
	return f.found;
}

struct subset {
	const struct cover_policy *p;
	const struct value *allowed;
	bool missing;
};

static void
on_subset(void *arg, struct span value)
{
	struct subset *s = arg;

	if (!s->missing && !cover_has_value(s->p, s->allowed, value))
		s->missing = true;
}

/* Returns true if every value of `a` is one of `b`. */
static bool
values_within(const struct cover_policy *pa, const struct value *a,
    const struct cover_policy *pb, const struct value *b)
{
	struct subset s = {pb, b, false};

	if (value_eq(a, b) && pa == pb)
		return true;
	cover_values(pa, a, on_subset, &s);
	return !s.missing;
}

/*
 * Write the directory that the text leads to: links in the part of it that
 * exists are followed. Returns false if that cannot be told.
 */
static bool
dir_real(struct span dir, char real[PATH_MAX])
{
	const char *home = dir.p[0] == '~' ? getenv("HOME") : "";
	size_t skip = dir.p[0] == '~';
	char path[PATH_MAX], *rest;
	int n;

	if (home == NULL || memmem(dir.p, dir.len, "/..", 3) != NULL)
		return false;
	n = snprintf(path, sizeof(path), "%s%.*s", home, (int)(dir.len - skip),
	    (const char *)dir.p + skip);
	if (n < 0 || (size_t)n >= sizeof(path) || path[0] != '/')
		return false;
	/* A path that does not exist yet will be below one that does. */
	while (realpath(path, real) == NULL) {
		if ((rest = strrchr(path, '/')) == path)
			return strlcpy(real, path, PATH_MAX) < PATH_MAX;
		*rest = '\0';
	}
	return true;
}

static bool
dir_below(struct span dir, struct span above)
{
	while (above.len > 1 && above.p[above.len - 1] == '/')
		above.len--;
	while (dir.len > 1 && dir.p[dir.len - 1] == '/')
		dir.len--;
	return span_eq(dir, above) || span_is(above, "/") ||
	       (span_starts(dir, above) && dir.p[above.len] == '/');
}

/* Returns true if one directory is in the other, also behind links. */
static bool
dir_within(struct span dir, struct span above)
{
	char real[PATH_MAX], top[PATH_MAX];

	if (span_eq(dir, above))
		return true;
	return dir.len != 0 && above.len != 0 && dir_below(dir, above) &&
	       dir_real(dir, real) && dir_real(above, top) &&
	       dir_below(span_str(real), span_str(top));
}

/* Returns true if all list conditions of `o` are among those of `n`. */
static bool
lists_within(const struct cover_policy *pn, const struct rule *n,
    const struct cover_policy *po, const struct rule *o)
{
	unsigned k;

	for (unsigned i = 0; i < o->nlists; i++) {
		for (k = 0; k < n->nlists; k++)
			if (n->lists[k].roles == o->lists[i].roles &&
			    n->lists[k].type == o->lists[i].type &&
			    values_within(pn, n->lists[k].allowed, po,
				o->lists[i].allowed))
				break;
		if (k == n->nlists)
			return false;
	}
	return true;
}

/* Returns true if all links that one rule permits are permitted by another. */
static bool
links_within(const struct value *n, const struct value *o)
{
	const struct value *v;

	if (o == NULL)
		return true;
	for (v = n == NULL ? NULL : n->child; v != NULL; v = v->next)
		if (v->type != VALUE_STRING || !in_array(o, v->text))
			return false;
	return n != NULL;
}

/*
 * Returns true if the conditions of `n` can only hold where those of `o` do;
 * servers and tools aside.
 */
static bool
conditions_within(const struct cover_policy *pn, const struct rule *n,
    const struct cover_policy *po, const struct rule *o)
{
	/* Only rules about tools are compared. */
	if (rule_of_parts(n) || rule_of_parts(o))
		return rule_of_parts(n) && rule_of_parts(o) &&
		       value_eq(value_get(n->source, "if"),
			   value_get(o->source, "if"));
	if (o->has_roles && (!n->has_roles || (n->roles & ~o->roles)))
		return false;
	if (o->has_paths &&
	    (!n->has_paths || n->path_roles != o->path_roles ||
		!dir_within(n->within, o->within) ||
		!links_within(n->links, o->links)))
		return false;
	if (o->has_domains &&
	    (!n->has_domains || n->domain_roles != o->domain_roles ||
		!values_within(pn, n->domains, po, o->domains)))
		return false;
	return lists_within(pn, n, po, o);
}

/* Returns true if the tool's arguments mean at least as much as before. */
static bool
not_lowered(const struct annot_tool *now, const struct annot_tool *was)
{
	unsigned k;

	if (was == NULL)
		return false;
	for (unsigned i = 0; i < was->nargs; i++) {
		for (k = 0; k < now->nargs; k++)
			if (span_eq(now->args[k].name, was->args[i].name))
				break;
		if (k == now->nargs)
			return false;
		if (was->args[i].all & ~now->args[k].all)
			return false;
		/* Conditions may differ only if there are none now. */
		if (now->args[k].nwhen != 0 &&
		    now->args[k].nwhen != was->args[i].nwhen)
			return false;
		for (unsigned w = 0; w < now->args[k].nwhen; w++)
			if (now->args[k].when[w].roles.mask !=
			    was->args[i].when[w].roles.mask)
				return false;
	}
	return true;
}

static bool
tools_within(const struct cover_policy *pn, const struct rule *n,
    const struct cover_policy *po, const struct rule *o)
{
	const struct annot_tool *t, *was;

	for (size_t i = 0; i < pn->annots.n; i++) {
		t = &pn->annots.tools[i];
		if (!cover_names_tool(n, t))
			continue;
		was = annots_find(&po->annots, t->server, t->tool);
		if (!not_lowered(t, was) || !cover_names_tool(o, was))
			return false;
	}
	return true;
}

/* Returns true if the rules can be about one tool, or one resource. */
static bool
share_tool(const struct cover_policy *p, const struct rule *a,
    const struct rule *b)
{
	if (rule_of_parts(a) && rule_of_parts(b))
		return true;
	for (size_t i = 0; i < p->annots.n; i++)
		if (cover_names_tool(a, &p->annots.tools[i]) &&
		    cover_names_tool(b, &p->annots.tools[i]))
			return true;
	return false;
}

/*
 * Returns true if a rule before `n` withholds all that `r`, a rule of `old`,
 * withheld; `links`: it must be one about directories, as others are not asked
 * about the way to a file of the workspace.
 */
static bool
still_withheld(const struct cover_policy *old, const struct rule *r,
    const struct cover_policy *new, size_t n, bool links)
{
	for (size_t i = 0; i < n; i++) {
		const struct rule *x = &new->rules.rules[i];

		if (x->then == PROTO_ALLOW || (links && !x->has_paths) ||
		    (r->then == PROTO_DENY && x->then != PROTO_DENY) ||
		    (r->person && x->then == PROTO_ESCALATE && !x->person))
			continue;
		if (conditions_within(old, r, new, x) &&
		    tools_within(old, r, new, x))
			return true;
	}
	return false;
}

/*
 * Returns true if all rules of `old` before `n` that only a person answers, and
 * that are about a tool of `r`, a rule of `new`, still withhold before `at`.
 */
static bool
persons_kept(const struct cover_policy *old, size_t n,
    const struct cover_policy *new, const struct rule *r, size_t at)
{
	for (size_t k = 0; k < n; k++)
		if (old->rules.rules[k].then == PROTO_ESCALATE &&
		    old->rules.rules[k].person &&
		    share_tool(new, r, &old->rules.rules[k]) &&
		    !still_withheld(old, &old->rules.rules[k], new, at, false))
			return false;
	return true;
}

bool
cover_asks(
    const struct cover_policy *old, const struct cover_policy *new, size_t n)
{
	const struct rule *r = &new->rules.rules[n], *o;

	if (persons_kept(old, old->rules.n, new, r, n))
		return true;
	for (size_t i = 0; i < old->rules.n; i++) {
		o = &old->rules.rules[i];
		if (o->then == PROTO_ESCALATE && !o->person &&
		    conditions_within(new, r, old, o) &&
		    tools_within(new, r, old, o) &&
		    persons_kept(old, i, new, r, n))
			return true;
	}
	return false;
}

bool
cover_rule(
    const struct cover_policy *old, const struct cover_policy *new, size_t n)
{
	const struct rule *r = &new->rules.rules[n];
	bool kept;

	for (size_t i = 0; i < old->rules.n; i++) {
		const struct rule *o = &old->rules.rules[i];

		if (o->then != PROTO_ALLOW ||
		    !conditions_within(new, r, old, o) ||
		    !tools_within(new, r, old, o))
			continue;
		kept = true;
		for (size_t k = 0; kept && k < i; k++)
			if (old->rules.rules[k].then != PROTO_ALLOW &&
			    share_tool(new, r, &old->rules.rules[k]))
				kept = still_withheld(
				    old, &old->rules.rules[k], new, n, false);
		if (kept)
			return true;
	}
	return false;
}

bool
cover_links_freed(
    const struct cover_policy *old, const struct cover_policy *new, size_t n)
{
	const struct rule *r = &old->rules.rules[n];
	const struct annot_tool *t;

	if (r->then == PROTO_ALLOW || !r->has_paths || rule_of_parts(r) ||
	    still_withheld(old, r, new, new->rules.n, true))
		return false;
	/* No other server is known to have files of the workspace unasked. */
	for (size_t i = 0; i < old->annots.n; i++) {
		t = &old->annots.tools[i];
		if ((span_is(t->server, "filesystem") ||
			span_is(t->server, "git")) &&
		    cover_names_tool(r, t))
			return true;
	}
	return false;
}
