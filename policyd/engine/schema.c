/* SPDX-License-Identifier: ISC */
/*
 * Checks arguments against a tool's inputSchema, as far as the TypeScript
 * IronCurtain does: names, and the plain types of the top level. The schema is
 * the server's and the arguments are the agent's; neither is trusted for more.
 */
#include "engine/args.h"

#include "common/log.h"

/* Truthy as in JavaScript; a schema has true, false or an object here. */
static bool
given(const struct value *v)
{
	return v != NULL && v->type != VALUE_NULL && v->type != VALUE_FALSE;
}

static void
add_name(struct buf *b, const char *before, struct span name)
{
	char vis[120];

	buf_printf(b, "%s\"%s\"", before, log_vis(name, vis, sizeof(vis)));
}

/*
 * Find the property by name, starting at *p. Both lists are sorted, so that
 * looking up each member in turn walks the properties once.
 */
static const struct value *
property(const struct value **p, struct span name)
{
	while (*p != NULL && span_cmp((*p)->key, name) < 0)
		*p = (*p)->next;
	return *p != NULL && span_eq((*p)->key, name) ? *p : NULL;
}

/*
 * List the members of `args` that the schema does not name. Returns their
 * number.
 */
static unsigned
unknown_names(
    const struct value *args, const struct value *props, struct buf *b)
{
	const struct value *v, *p = props->child;
	unsigned n = 0;

	for (v = args->child; v != NULL; v = v->next) {
		if (property(&p, v->key) != NULL)
			continue;
		if (n == 0)
			buf_adds(b, "Unknown argument(s): ");
		if (n++ < 8)
			add_name(b, n == 1 ? "" : ", ", v->key);
	}
	return n;
}

static int
check_names(const struct value *args, const struct value *props,
    struct value_pool *pool, struct span *reason)
{
	const struct value *v;
	struct buf b;
	int ret = -1;

	buf_init(&b, 1 << 16);
	if (unknown_names(args, props, &b) == 0) {
		ret = 0;
		goto out;
	}
	buf_adds(&b, ". Valid parameters are: ");
	for (v = props->child; v != NULL; v = v->next)
		add_name(&b, v == props->child ? "" : ", ", v->key);
	*reason = reason_printf(
	    pool, "%.*s", (int)buf_span(&b).len, (const char *)buf_span(&b).p);
out:
	buf_free(&b);
	return ret;
}

static const char *
kind_of(const struct value *v)
{
	switch (v->type) {
	case VALUE_NULL:
		return "null";
	case VALUE_FALSE:
	case VALUE_TRUE:
		return "boolean";
	case VALUE_NUMBER:
		return "number";
	case VALUE_STRING:
		return "string";
	case VALUE_ARRAY:
		return "array";
	case VALUE_OBJECT:
		return "object";
	}
	return "?";
}

/*
 * Returns true for an integer: the fraction is zero, and an exponent keeps it
 * whole. A number too odd to judge by its text is not one.
 */
static bool
whole(struct span s)
{
	bool fraction = false;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '.')
			fraction = true;
		else if (s.p[i] == 'e' || s.p[i] == 'E')
			return !fraction && i + 1 < s.len && s.p[i + 1] != '-';
		else if (fraction && s.p[i] != '0')
			return false;
	}
	return true;
}

static bool
has_type(const struct value *v, struct span type)
{
	if (span_is(type, "string"))
		return v->type == VALUE_STRING;
	if (span_is(type, "number"))
		return v->type == VALUE_NUMBER;
	if (span_is(type, "integer"))
		return v->type == VALUE_NUMBER && whole(v->text);
	if (span_is(type, "boolean"))
		return v->type == VALUE_TRUE || v->type == VALUE_FALSE;
	if (span_is(type, "array"))
		return v->type == VALUE_ARRAY;
	if (span_is(type, "object"))
		return v->type == VALUE_OBJECT;
	return true;
}

static int
check_types(const struct value *args, const struct value *props,
    struct value_pool *pool, struct span *reason)
{
	const struct value *v, *p = props->child;
	struct span type;
	char vis[120];
	bool an;

	for (v = args->child; v != NULL; v = v->next) {
		type = value_str(property(&p, v->key), "type");
		if (type.p == NULL || has_type(v, type))
			continue;
		an = type.p[0] == 'a' || type.p[0] == 'i' || type.p[0] == 'o';
		*reason = reason_printf(pool,
		    "Argument \"%s\" must be %s %.*s (got %s).",
		    log_vis(v->key, vis, sizeof(vis)), an ? "an" : "a",
		    (int)type.len, (const char *)type.p, kind_of(v));
		return -1;
	}
	return 0;
}

int
args_check(const struct value *args, const struct value *schema,
    struct value_pool *pool, struct span *reason)
{
	const struct value *props = value_get(schema, "properties");

	if (props == NULL || props->type != VALUE_OBJECT)
		return 0;
	if (!given(value_get(schema, "additionalProperties")) &&
	    check_names(args, props, pool, reason) == -1)
		return -1;
	return check_types(args, props, pool, reason);
}
