/* SPDX-License-Identifier: ISC */
/*
 * The exact statement of what a new policy allows and the one in force does
 * not: every server, tool, directory and host, by name and count.
 */
#include "icctl/policy/compile/compile.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/policy/compile/cover.h"

struct grant {
	struct buf *out;
	const struct cover_policy *old, *new;
	const struct rule *rule, *was; /* the old rule of that name, or NULL */
	const struct value *was_allowed;
	unsigned n, fresh;
};

static void
put_name(struct grant *g, struct span s)
{
	(void)visible_add(g->out, s, VISIBLE_ASCII);
}

enum grant_part {
	GRANT_ALLOWED,  /* the policy as a whole can allow it with the rule */
	GRANT_PARTLY,   /* it can, but not in its usual calls */
	GRANT_WITHHELD, /* it cannot */
};

static bool
in_part(
    const struct grant *g, const struct annot_tool *t, enum grant_part part)
{
	bool whole;

	if (!cover_names_tool(g->rule, t))
		return false;
	whole = cover_whole(g->old, g->new, g->rule, t, false);
	if (part != GRANT_PARTLY)
		return whole == (part == GRANT_ALLOWED);
	return whole && !cover_whole(g->old, g->new, g->rule, t, true);
}

/*
 * Append the tools that the rule is about and that are of this part, with their
 * servers. Returns false if there are none.
 */
static bool
put_part_tools(struct grant *g, enum grant_part part, const char *what)
{
	const struct annots *a = &g->new->annots;
	struct span server = {0};
	unsigned n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += in_part(g, &a->tools[i], part);
	if (n == 0 && part != GRANT_ALLOWED)
		return false;
	buf_printf(g->out, "    %s%u tool%s:", what, n, plural(n));
	for (size_t i = 0; i < a->n; i++) {
		if (!in_part(g, &a->tools[i], part))
			continue;
		if (!span_eq(server, a->tools[i].server)) {
			server = a->tools[i].server;
			buf_addc(g->out, ' ');
			put_name(g, server);
			buf_addc(g->out, ':');
		}
		buf_addc(g->out, ' ');
		put_name(g, a->tools[i].tool);
	}
	return true;
}

static void
put_tools(struct grant *g)
{
	(void)put_part_tools(g, GRANT_ALLOWED, "");
	buf_addc(g->out, '\n');
	if (put_part_tools(g, GRANT_PARTLY, "only some calls of "))
		buf_addc(g->out, '\n');
	if (put_part_tools(g, GRANT_WITHHELD, "not enough for "))
		buf_adds(g->out, ", which other rules still withhold\n");
}

static void
put_roles(struct grant *g, uint32_t roles)
{
	const char *between = "";

	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(roles & ARG_BIT(r)))
			continue;
		buf_printf(
		    g->out, "%s%s", between, arg_role_name((enum arg_role)r));
		between = ", ";
	}
}

static void
count_value(void *arg, struct span value)
{
	struct grant *g = arg;

	g->n++;
	if (g->was_allowed != NULL &&
	    !cover_has_value(g->old, g->was_allowed, value))
		g->fresh++;
}

static void
put_value(void *arg, struct span value)
{
	struct grant *g = arg;
	bool fresh = g->was_allowed != NULL &&
		     !cover_has_value(g->old, g->was_allowed, value);

	buf_adds(g->out, fresh ? " +" : " ");
	put_name(g, value);
}

/* Append the values of a condition; those that are new are marked with +. */
static void
put_values(struct grant *g, const char *what, uint32_t roles,
    const struct value *allowed, const struct value *was)
{
	g->n = g->fresh = 0;
	g->was_allowed = was;
	cover_values(g->new, allowed, count_value, g);
	buf_printf(g->out, "    %u %s%s for ", g->n, what, plural(g->n));
	put_roles(g, roles);
	if (was != NULL)
		buf_printf(g->out, ", of which %u%s new", g->fresh,
		    g->fresh == 1 ? " is" : " are");
	buf_addc(g->out, ':');
	cover_values(g->new, allowed, put_value, g);
	buf_addc(g->out, '\n');
}

/* Append what limits the rule, or that nothing does. */
static void
put_limits(struct grant *g)
{
	static const char *const types[] = {"host", "address", "identifier"};
	const struct rule *r = g->rule, *was = g->was;
	uint32_t roles = 0;

	for (size_t i = 0; i < g->new->annots.n; i++) {
		const struct annot_tool *t = &g->new->annots.tools[i];

		for (unsigned k = 0; cover_names_tool(r, t) && k < t->nargs; k++)
			roles |= t->args[k].all;
	}
	if (r->has_roles)
		roles &= r->roles;
	if (r->has_paths) {
		buf_adds(g->out, "    1 directory for ");
		put_roles(g, r->path_roles);
		buf_adds(g->out, ": ");
		put_name(g, r->within);
		buf_adds(g->out, " and everything below\n");
	} else if ((roles & ARGS_PATH) && !r->has_domains && r->nlists == 0) {
		buf_adds(g->out, "    directories for ");
		put_roles(g, roles & ARGS_PATH);
		buf_adds(g->out, ": EVERY path on this machine\n");
	}
	if (r->has_domains)
		put_values(g, "host", r->domain_roles, r->domains,
		    was != NULL && was->has_domains ? was->domains : NULL);
	else if ((roles & ARGS_URL) && !r->has_paths && r->nlists == 0) {
		buf_adds(g->out, "    hosts for ");
		put_roles(g, roles & ARGS_URL);
		buf_adds(g->out, ": EVERY host\n");
	}
	for (unsigned i = 0; i < r->nlists; i++)
		put_values(g, types[r->lists[i].type], r->lists[i].roles,
		    r->lists[i].allowed,
		    was != NULL && i < was->nlists ? was->lists[i].allowed
						   : NULL);
}

static const struct rule *
find_rule(const struct rules *rs, struct span name)
{
	for (size_t i = 0; i < rs->n; i++)
		if (span_eq(rs->rules[i].name, name))
			return &rs->rules[i];
	return NULL;
}

/* Append a condition of a rule that is about no tool. */
static void
put_part(struct grant *g, const char *what, const struct value *patterns)
{
	const struct value *v = patterns == NULL ? NULL : patterns->child;

	if (v == NULL)
		return;
	buf_printf(g->out, "    %s:", what);
	for (; v != NULL; v = v->next) {
		buf_addc(g->out, ' ');
		put_name(g, v->text);
	}
	buf_addc(g->out, '\n');
}

static void
put_parts(struct grant *g)
{
	const struct rule *r = g->rule;

	if (r->servers == NULL)
		buf_adds(g->out, "    of EVERY server\n");
	put_part(g, "of the servers", r->servers);
	put_part(g, "resources", r->resources);
	put_part(g, "prompts", r->prompts);
	put_part(g, "completion", r->completion);
}

static void
put_grant(struct grant *g)
{
	buf_adds(g->out, "  allow ");
	put_name(g, g->rule->name);
	buf_adds(g->out, ": ");
	put_name(g, value_str(g->rule->source, "description"));
	buf_addc(g->out, '\n');
	if (rule_of_parts(g->rule)) {
		put_parts(g);
		return;
	}
	put_tools(g);
	put_limits(g);
}

/* State that a rule no longer wants a person. */
static void
put_answered(struct grant *g)
{
	buf_adds(g->out, "  the approver may answer ");
	put_name(g, g->rule->name);
	buf_adds(g->out, ": ");
	put_name(g, value_str(g->rule->source, "description"));
	buf_adds(g->out, "\n    \"autoApprove\": false is gone, so that a model "
			 "may answer in your place\n");
	put_tools(g);
}

/* State that a rule of the old policy withholds less. */
static void
put_freed(struct grant *g)
{
	buf_adds(g->out, "  ");
	put_name(g, g->rule->name);
	buf_adds(g->out, " no longer withholds files of the workspace that are "
			 "reached through links in ");
	put_name(g, g->rule->within);
	buf_addc(g->out, '\n');
}

int
grants_new(struct compile *c, const struct policy_set *old,
    const struct policy_set *new, struct buf *statement, struct fault *fault)
{
	struct cover_policy po, pn;
	struct grant g = {.out = statement, .old = &po, .new = &pn};
	int n = 0;

	(void)c;
	if (cover_load(&po, old, fault) == -1)
		return -1;
	if (cover_load(&pn, new, fault) == -1) {
		cover_free(&po);
		return -1;
	}
	if (po.rules.read_only && !pn.rules.read_only) {
		buf_adds(statement, "  the workspace may be written: "
				    "\"workspace\": \"read-only\" is gone\n");
		n++;
	}
	for (size_t i = 0; i < po.rules.n; i++) {
		if (!cover_links_freed(&po, &pn, i))
			continue;
		g.rule = &po.rules.rules[i];
		put_freed(&g);
		n++;
	}
	for (size_t i = 0; i < pn.rules.n; i++) {
		g.rule = &pn.rules.rules[i];
		g.was = find_rule(&po.rules, g.rule->name);
		if (g.rule->then == PROTO_ESCALATE && !g.rule->person &&
		    !cover_asks(&po, &pn, i)) {
			put_answered(&g);
			n++;
		}
		if (pn.rules.rules[i].then != PROTO_ALLOW ||
		    cover_rule(&po, &pn, i))
			continue;
		put_grant(&g);
		n++;
	}
	cover_free(&po);
	cover_free(&pn);
	return n;
}
