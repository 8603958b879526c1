/* SPDX-License-Identifier: ISC */
/*
 * A read, for a person who wants to be asked about those as well: the fields
 * that a query asks for, one level below the other, or the parts of an address.
 */
#include "common/forge/say_priv.h"

#define QUERY_MAX_INDENT 20U

static void
put_args(const struct sayer *s, struct buf *b, const struct forge_edge *edge,
    const struct value *args)
{
	const struct forge_member *m;
	const char *comma = "(";

	if (args == NULL || args->count == 0)
		return;
	for (args = args->child; args != NULL; args = args->next) {
		m = forge_member_find(edge->args, args->key);
		buf_printf(b, "%s%s: ", comma, m->name);
		say_value(s, b, m, args);
		comma = ", ";
	}
	buf_addc(b, ')');
}

static void
put_indent(struct buf *b, unsigned depth)
{
	for (unsigned i = 0; i < depth && i < QUERY_MAX_INDENT; i++)
		buf_adds(b, "  ");
}

/* Append the fields that have no fields of their own, in one line. */
static void
put_scalars(const struct sayer *s, struct buf *b, const struct forge_type *type,
    const struct value *select, unsigned depth)
{
	const struct forge_edge *edge;
	bool first = true;

	for (; select != NULL; select = select->next) {
		edge = forge_edge_find(type, value_str(select, "name"));
		if (edge == NULL || edge->to != NULL)
			continue;
		if (first)
			put_indent(b, depth);
		buf_printf(b, "%s%s", first ? "" : ", ", edge->name);
		put_args(s, b, edge, value_get(select, "args"));
		first = false;
	}
	if (!first)
		buf_addc(b, '\n');
}

static void
put_fields(const struct sayer *s, struct buf *b, const struct forge_type *type,
    const struct value *select, unsigned depth)
{
	const struct value *v = value_get(select, "select")->child;
	const struct forge_edge *edge;
	const struct forge_type *part;

	put_scalars(s, b, type, v, depth);
	for (; v != NULL; v = v->next) {
		if (value_get(v, "on") != NULL) {
			part = forge_part_find(type, value_str(v, "on"));
			if (part != type) {
				put_indent(b, depth);
				buf_printf(b, "of %s:\n", part->name);
			}
			put_fields(s, b, part, v, depth + (part != type));
			continue;
		}
		edge = forge_edge_find(type, value_str(v, "name"));
		if (edge->to == NULL)
			continue;
		put_indent(b, depth);
		buf_adds(b, edge->name);
		put_args(s, b, edge, value_get(v, "args"));
		buf_addc(b, '\n');
		put_fields(s, b, edge->to, v, depth + 1);
	}
}

/* Append the members of a path or a query. */
static void
put_strings(struct buf *b, const struct value *object)
{
	const struct value *v = object->child, *part;

	for (; v != NULL; v = v->next) {
		buf_addspan(b, v->key);
		buf_adds(b, ":");
		if (v->type == VALUE_STRING) {
			buf_addc(b, ' ');
			say_name(b, v->text);
		}
		for (part = v->child; part != NULL; part = part->next) {
			buf_addc(b, ' ');
			say_name(b, part->text);
		}
		buf_addc(b, '\n');
	}
}

void
say_query(const struct sayer *s, struct buf *b)
{
	const struct forge_call *call = s->call;

	if (call->route == NULL) {
		put_fields(
		    s, b, forge_table(call->grant->kind)->query, call->tree, 0);
		return;
	}
	put_strings(b, value_get(call->tree, "path"));
	put_strings(b, value_get(call->tree, "query"));
}
