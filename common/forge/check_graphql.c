/* SPDX-License-Identifier: ISC */
/*
 * Checks the tree of a GraphQL request, which may be hostile, against the table
 * of edges: each field has to be one that the type around it has in the table,
 * and leads to the type that the table names. What is not in the table, such as
 * the way from an owner to all of their repositories, cannot be asked for.
 */
#include "common/forge/forge_priv.h"

#define CHECK_MAX_DEPTH 20U
#define CHECK_MAX_FIELDS 2000U

struct checker {
	struct forge_call *call;
	struct forge_fail *fail;
	unsigned fields;
};

const struct forge_edge *
forge_edge_find(const struct forge_type *type, struct span name)
{
	const struct forge_edge *e = type->edges;

	for (; e->name != NULL; e++) {
		if (span_is(name, e->name))
			return e;
	}
	return NULL;
}

const struct forge_type *
forge_part_find(const struct forge_type *in, struct span name)
{
	const struct forge_type *const *part = in->parts;

	if (span_is(name, in->name))
		return in;
	for (; *part != NULL; part++) {
		if (span_is(name, (*part)->name))
			return *part;
	}
	return NULL;
}

static bool
alias_valid(struct span s)
{
	if (s.len == 0 || s.len > 100 || span_starts(s, SPAN("__")))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];
		bool digit = c >= '0' && c <= '9';

		if ((digit && i == 0) || (!digit && (c < 'a' || c > 'z') &&
					     (c < 'A' || c > 'Z') && c != '_'))
			return false;
	}
	return true;
}

/* Check the repository that a field names with `owner` and `name`. */
static int
repository_check(
    struct checker *c, const struct forge_edge *edge, const struct value *args)
{
	const struct forge_member *m = edge->args;
	char joined[FORGE_MAX_REPOSITORY + 1], brief[FORGE_BRIEF];
	struct span owner = value_str(args, "owner"), name, found;

	while (m->name != NULL && m->role != FORGE_REPO)
		m++;
	if (m->name == NULL)
		return 0;
	name = value_str(args, m->name);
	if (owner.len + 1 + name.len >= sizeof(joined))
		return forge_refuse(c->fail, "the repository's name is too "
					     "long");
	memcpy(joined, owner.p, owner.len);
	joined[owner.len] = '/';
	memcpy(joined + owner.len + 1, name.p, name.len);
	name = span_of(joined, owner.len + 1 + name.len);
	found = forge_repository_find(c->call->grant, name);
	if (found.p == NULL)
		return forge_refuse(c->fail,
		    "the repository %s is not on the "
		    "list of this destination; do not try again",
		    forge_brief(name, brief));
	if (c->call->repository.p == NULL)
		c->call->repository = found;
	return 0;
}

static int selections_check(struct checker *, const struct forge_type *,
    const struct value *select, unsigned depth);

static int
part_check(struct checker *c, const struct forge_type *in,
    const struct value *v, unsigned depth)
{
	const struct forge_type *part;
	struct span on = value_str(v, "on");
	char brief[FORGE_BRIEF];

	if (v->count != 2 || on.p == NULL)
		return forge_refuse(c->fail, "a fragment of the tree is "
					     "malformed");
	if ((part = forge_part_find(in, on)) == NULL)
		return forge_refuse(c->fail,
		    "a fragment on %s is not "
		    "permitted within %s",
		    forge_brief(on, brief), in->name);
	return selections_check(c, part, value_get(v, "select"), depth);
}

static int
field_check(struct checker *c, const struct forge_type *in,
    const struct value *v, unsigned depth)
{
	const struct value *args = value_get(v, "args");
	const struct value *select = value_get(v, "select");
	const struct value *alias = value_get(v, "alias");
	struct span name = value_str(v, "name");
	const struct forge_edge *edge;
	char brief[FORGE_BRIEF];

	if (name.p == NULL || v->count != 1U + (args != NULL) +
					      (select != NULL) +
					      (alias != NULL))
		return forge_refuse(c->fail, "a field of the tree is "
					     "malformed");
	if (alias != NULL &&
	    (alias->type != VALUE_STRING || !alias_valid(alias->text)))
		return forge_refuse(c->fail, "an alias is malformed");
	if ((edge = forge_edge_find(in, name)) == NULL)
		return forge_refuse(c->fail,
		    "the field \"%s\" of %s is not "
		    "on the list of what is permitted; do not try again",
		    forge_brief(name, brief), in->name);
	if (forge_members_check(
		c->call, edge->args, args, edge->name, c->fail) == -1 ||
	    repository_check(c, edge, args) == -1)
		return -1;
	if (edge->to != NULL)
		return selections_check(c, edge->to, select, depth);
	if (select != NULL)
		return forge_refuse(c->fail, "\"%s\" of %s has no fields",
		    edge->name, in->name);
	return 0;
}

static int
selections_check(struct checker *c, const struct forge_type *type,
    const struct value *select, unsigned depth)
{
	const struct value *v;

	if (select == NULL || select->type != VALUE_ARRAY || select->count == 0)
		return forge_refuse(
		    c->fail, "%s is asked for without fields", type->name);
	if (depth >= CHECK_MAX_DEPTH)
		return forge_refuse(c->fail, "fields are nested too deeply");
	for (v = select->child; v != NULL; v = v->next) {
		if (++c->fields > CHECK_MAX_FIELDS)
			return forge_refuse(c->fail, "there are too many "
						     "fields");
		if (v->type != VALUE_OBJECT)
			return forge_refuse(c->fail, "a field of the tree is "
						     "malformed");
		if ((value_get(v, "on") != NULL
			    ? part_check(c, type, v, depth + 1)
			    : field_check(c, type, v, depth + 1)) == -1)
			return -1;
	}
	return 0;
}

static int
mutation_check(struct checker *c, const struct value *select)
{
	const struct forge_field *f;
	const struct value *v, *args, *alias;
	struct span name;
	char brief[FORGE_BRIEF];

	if (select == NULL || select->type != VALUE_ARRAY || select->count != 1)
		return forge_refuse(c->fail,
		    "a request has to have exactly "
		    "one mutation, so that it can be approved by itself");
	v = select->child;
	name = value_str(v, "name");
	args = value_get(v, "args");
	alias = value_get(v, "alias");
	if (name.p == NULL || v->count != 3U + (alias != NULL) ||
	    (alias != NULL &&
		(alias->type != VALUE_STRING || !alias_valid(alias->text))))
		return forge_refuse(c->fail, "the mutation is malformed, or "
					     "has no input");
	f = forge_table(c->call->grant->kind)->mutations;
	while (f->name != NULL && !span_is(name, f->name))
		f++;
	if (f->name == NULL)
		return forge_refuse(c->fail,
		    "the mutation \"%s\" is not "
		    "permitted, whatever the settings; do not try again",
		    forge_brief(name, brief));
	if (args == NULL || args->type != VALUE_OBJECT || args->count != 1 ||
	    value_get(args, "input") == NULL)
		return forge_refuse(
		    c->fail, "%s takes one argument, \"input\"", f->name);
	c->call->mutation = f;
	c->call->class = f->class;
	if (forge_members_check(c->call, f->members, value_get(args, "input"),
		f->name, c->fail) == -1)
		return -1;
	return selections_check(c, f->payload, value_get(v, "select"), 1);
}

int
forge_graphql_check(struct forge_call *call, struct forge_fail *fail)
{
	struct checker c = {.call = call, .fail = fail};
	const struct value *select = value_get(call->tree, "select");

	if (call->tree->count != 2)
		return forge_refuse(fail, "the tree is malformed");
	if (span_is(value_str(call->tree, "call"), "mutation"))
		return mutation_check(&c, select);
	call->class = FORGE_READ;
	return selections_check(
	    &c, forge_table(call->grant->kind)->query, select, 0);
}
