/* SPDX-License-Identifier: ISC */
/*
 * Finds what a recorded call touches: for each role of its arguments the values
 * that had it. Paths and URLs in a log are as they were sent, so they are
 * compared exactly. A place in the workspace is named by a directory condition,
 * because the log and the policy name it differently.
 */
#include "icctl/propose/propose.h"

#include <string.h>

#define WORKSPACE "/workspace"

/* Insert in order, once. Returns false if there is no room. */
static bool
dim_add(struct propose_dim *d, struct span s)
{
	unsigned i = 0;
	int r = 1;

	while (i < d->n && (r = span_cmp(d->values[i], s)) < 0)
		i++;
	if (i < d->n && r == 0)
		return true;
	if (d->n == PROPOSE_MAX_VALUES)
		return false;
	memmove(&d->values[i + 1], &d->values[i],
	    (d->n - i) * sizeof(d->values[0]));
	d->values[i] = s;
	d->n++;
	return true;
}

static bool
dim_take(void *d, struct span text)
{
	return dim_add(d, text);
}

static bool
in_workspace(struct span s)
{
	return span_is(s, WORKSPACE) || span_starts(s, SPAN(WORKSPACE "/"));
}

/* Returns NULL if a rule can name the values, or the reason why not. */
static const char *
dim_check(const struct propose_dim *d)
{
	struct span s;

	for (unsigned i = 0; i < d->n; i++) {
		s = d->values[i];
		if (s.len == 0)
			return "one of its values is empty";
		if (s.p[0] == '@')
			return "one of its values begins with @";
		if ((d->roles & ARGS_PATH) && s.p[0] != '/')
			return "a path in it is not absolute";
		if ((d->roles & ARG_BIT(ARG_GIT_REMOTE_URL)) &&
		    memchr(s.p, ':', s.len) == NULL)
			return "it names a remote, and the log does not say "
			       "where that leads";
	}
	return NULL;
}

/* The structural rules allow these servers what is in the workspace. */
static bool
is_structural(struct span server)
{
	return span_is(server, "filesystem") || span_is(server, "git");
}

/*
 * Treat places in the workspace. Returns false if the condition is not needed,
 * or cannot be made: then with `why_not`.
 */
static bool
dim_keep(struct propose_dim *d, struct propose_call *c)
{
	unsigned inside = 0;

	if (!(d->roles & ARGS_PATH))
		return true;
	for (unsigned i = 0; i < d->n; i++)
		inside += in_workspace(d->values[i]);
	if (inside == 0)
		return true;
	if (inside == d->n && is_structural(c->request.server))
		return false;
	if (inside == d->n && d->n == 1) {
		d->within = true;
		return true;
	}
	c->why_not = "it touches several places, some in the workspace";
	return false;
}

static bool
dim_same(const struct propose_dim *a, const struct propose_dim *b)
{
	unsigned i = 0;

	if (a->n != b->n || a->within != b->within)
		return false;
	while (i < a->n && span_eq(a->values[i], b->values[i]))
		i++;
	return i == a->n;
}

/* Make one condition of the roles that have the same values. */
static unsigned
dims_join(struct propose_dim *dims, unsigned n)
{
	unsigned out = 0, k;

	for (unsigned i = 0; i < n; i++) {
		for (k = 0; k < out && !dim_same(&dims[k], &dims[i]); k++)
			continue;
		if (k < out)
			dims[k].roles |= dims[i].roles;
		else
			dims[out++] = dims[i];
	}
	return out;
}

/* Gather the values of one role. Returns true if the call has the role. */
static bool
dim_of_role(struct propose_call *c, const struct annot_tool *t, unsigned role,
    struct propose_dim *d)
{
	const struct annot_roles *ar;
	const struct value *v;
	bool has = false;

	d->roles = ARG_BIT(role);
	d->n = 0;
	d->within = false;
	for (unsigned i = 0; i < t->nargs; i++) {
		ar = annot_arg_roles(&t->args[i], c->request.args);
		if (!(ar->mask & ARG_BIT(role)))
			continue;
		has = true;
		v = value_getspan(c->request.args, t->args[i].name);
		if (!value_strings(v, dim_take, d))
			c->why_not = "it has too many values";
	}
	return has;
}

unsigned
propose_values(
    struct propose *p, struct propose_call *c, struct propose_dim *dims)
{
	const struct annot_tool *t;
	bool unsaid = false;
	unsigned n = 0;

	t = annots_find(&p->annots, c->request.server, c->request.tool);
	if (t == NULL) {
		c->why_not = "the tool has no annotation: icctl mcp annotate";
		return 0;
	}
	for (unsigned r = 0; r < ARG_COUNT && c->why_not == NULL; r++) {
		if (r == ARG_NONE || !dim_of_role(c, t, r, &dims[n]))
			continue;
		if (dims[n].n == 0) {
			unsaid = unsaid || (ARGS_RESOURCE & ARG_BIT(r));
			continue;
		}
		c->why_not = dim_check(&dims[n]);
		if (c->why_not == NULL && dim_keep(&dims[n], c))
			n++;
		else
			unsaid = true;
	}
	n = dims_join(dims, n);
	for (unsigned i = 0; i < n && c->why_not == NULL; i++)
		if (dims[i].within && n > 1)
			c->why_not = "it touches several places, some in the "
				     "workspace";
	if (n == 0 && unsaid && c->why_not == NULL)
		c->why_not = "no argument of it says what a rule could allow";
	return c->why_not != NULL ? 0 : n;
}
