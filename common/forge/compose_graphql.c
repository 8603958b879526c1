/* SPDX-License-Identifier: ISC */
/*
 * Composes the request of a checked GraphQL tree. The text consists of names
 * and punctuation alone: every value travels as a variable, in JSON, with the
 * type that the table has, so that none can be read as anything but a value.
 */
#include "common/forge/forge_priv.h"

#include <errno.h>

#include "common/json/json.h"

struct composer {
	struct buf text, defs, vars;
	unsigned count;
	bool failed;
};

static void
put_variable(struct composer *c, const struct forge_member *m,
    const char *named, const struct value *v)
{
	const char *end = v->type == VALUE_NULL ? "" : "!";

	if (c->count != 0)
		buf_addc(&c->defs, ',');
	buf_printf(&c->text, "$a%u", c->count);
	buf_printf(&c->defs,
	    m != NULL && m->list ? "$a%u:[%s!]%s" : "$a%u:%s%s", c->count,
	    named, end);
	buf_printf(&c->vars, "%s\"a%u\":", c->count == 0 ? "" : ",", c->count);
	if (json_write(&c->vars, v) == -1)
		c->failed = true;
	c->count++;
}

static void
put_args(
    struct composer *c, const struct forge_edge *edge, const struct value *args)
{
	const struct forge_member *m;
	const struct value *v;

	if (args == NULL || args->count == 0)
		return;
	buf_addc(&c->text, '(');
	for (v = args->child; v != NULL; v = v->next) {
		m = forge_member_find(edge->args, v->key);
		buf_addspan(&c->text, v->key);
		buf_addc(&c->text, ':');
		put_variable(c, m, m->named, v);
		if (v->next != NULL)
			buf_addc(&c->text, ',');
	}
	buf_addc(&c->text, ')');
}

static void
put_selections(struct composer *c, const struct forge_type *type,
    const struct value *select)
{
	const struct forge_edge *edge;
	const struct value *v;
	struct span s;

	buf_addc(&c->text, '{');
	for (v = select->child; v != NULL; v = v->next) {
		if ((s = value_str(v, "on")).p != NULL) {
			buf_adds(&c->text, "...on ");
			buf_addspan(&c->text, s);
			put_selections(c, forge_part_find(type, s),
			    value_get(v, "select"));
			continue;
		}
		if ((s = value_str(v, "alias")).p != NULL) {
			buf_addspan(&c->text, s);
			buf_addc(&c->text, ':');
		}
		edge = forge_edge_find(type, value_str(v, "name"));
		buf_adds(&c->text, edge->name);
		put_args(c, edge, value_get(v, "args"));
		if (edge->to != NULL)
			put_selections(c, edge->to, value_get(v, "select"));
		if (v->next != NULL)
			buf_addc(&c->text, ' ');
	}
	buf_addc(&c->text, '}');
}

static void
put_mutation(struct composer *c, const struct forge_call *call)
{
	const struct value *v = value_get(call->tree, "select")->child;
	struct span alias = value_str(v, "alias");

	buf_addc(&c->text, '{');
	if (alias.p != NULL) {
		buf_addspan(&c->text, alias);
		buf_addc(&c->text, ':');
	}
	buf_adds(&c->text, call->mutation->name);
	buf_adds(&c->text, "(input:");
	put_variable(c, NULL, call->mutation->input,
	    value_get(value_get(v, "args"), "input"));
	buf_addc(&c->text, ')');
	put_selections(c, call->mutation->payload, value_get(v, "select"));
	buf_addc(&c->text, '}');
}

static void
put_body(const struct composer *c, const char *kind, struct buf *b)
{
	buf_adds(b, "{\"query\":\"");
	buf_adds(b, kind);
	if (c->count != 0) {
		buf_addc(b, '(');
		buf_addspan(b, buf_span(&c->defs));
		buf_addc(b, ')');
	}
	buf_addspan(b, buf_span(&c->text));
	buf_addc(b, '"');
	if (c->count != 0) {
		buf_adds(b, ",\"variables\":{");
		buf_addspan(b, buf_span(&c->vars));
		buf_addc(b, '}');
	}
	buf_addc(b, '}');
}

int
forge_graphql_compose(const struct forge_call *call, struct forge_request *out)
{
	struct composer c = {.count = 0};
	int r = -1;

	buf_init(&c.text, FORGE_MAX_QUERY_TEXT);
	buf_init(&c.defs, FORGE_MAX_QUERY_TEXT);
	buf_init(&c.vars, FORGE_MAX_BODY);
	if (call->mutation != NULL)
		put_mutation(&c, call);
	else
		put_selections(&c, forge_table(call->grant->kind)->query,
		    value_get(call->tree, "select"));
	if (c.failed || buf_check(&c.text) == -1 || buf_check(&c.defs) == -1 ||
	    buf_check(&c.vars) == -1) {
		errno = ENOBUFS;
		goto out;
	}
	out->method = "POST";
	buf_adds(&out->target,
	    call->grant->enterprise ? "/api/graphql" : "/graphql");
	put_body(&c, call->mutation != NULL ? "mutation" : "query", &out->body);
	r = buf_check(&out->body);
out:
	buf_free(&c.text);
	buf_free(&c.defs);
	buf_free(&c.vars);
	return r;
}
