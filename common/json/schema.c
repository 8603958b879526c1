/* SPDX-License-Identifier: ISC */
/*
 * Checks values against schemas. Recursion follows the value and the schema,
 * and its depth and the number of steps have limits of their own, because a
 * schema may refer to itself.
 */
#include "common/json/schema.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"

#define SCHEMA_STEPS 200000U
#define SCHEMA_DEPTH 96U
#define SCHEMA_PATH 120U
#define SCHEMA_NAME 256U /* bytes of a name in a pointer */

struct check {
	const struct value *root;
	unsigned steps;
	char path[SCHEMA_PATH]; /* the value's, for messages */
	char *why;
};

static int check_one(struct check *, const struct value *schema,
    const struct value *v, unsigned depth);

static int __attribute__((format(printf, 2, 3)))
bad(struct check *c, const char *fmt, ...)
{
	char text[SCHEMA_WHY - SCHEMA_PATH];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)snprintf(c->why, SCHEMA_WHY, "%s %s",
	    c->path[0] != '\0' ? c->path : "it", text);
	return -1;
}

/* Check a value below this one, under its name or index. */
static int
check_below(struct check *c, const struct value *schema, const struct value *v,
    struct span name, unsigned depth)
{
	size_t len = strlen(c->path);
	char shown[48];
	int r;

	(void)snprintf(c->path + len, sizeof(c->path) - len, "/%s",
	    log_vis(name, shown, sizeof(shown)));
	r = check_one(c, schema, v, depth);
	c->path[len] = '\0';
	return r;
}

/* Returns the number, whose text is that of a JSON number. */
static double
number_of(struct span s)
{
	bool minus = s.len != 0 && s.p[0] == '-', down = false;
	int exponent = 0, shift = 0;
	double x = 0;
	size_t i = minus;

	for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		x = x * 10 + (s.p[i] - '0');
	if (i < s.len && s.p[i] == '.')
		for (i++; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
			x = x * 10 + (s.p[i] - '0');
			shift--;
		}
	if (i < s.len && (s.p[i] | 0x20) == 'e') {
		i++;
		if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
			down = s.p[i++] == '-';
		for (; i < s.len && exponent < 1000; i++)
			exponent = exponent * 10 + (s.p[i] - '0');
	}
	shift += down ? -exponent : exponent;
	for (; shift > 0 && x != 0 && x < 1e300; shift--)
		x *= 10;
	for (; shift < 0 && x != 0; shift++)
		x /= 10;
	return minus ? -x : x;
}

static bool
is_integer(struct span s)
{
	double x = number_of(s);

	if (x >= 9007199254740992.0 || x <= -9007199254740992.0)
		return true;
	return (double)(int64_t)x == x;
}

/* Returns true if the value has the type of that name. */
static bool
is_type(const struct value *v, struct span name)
{
	switch (v->type) {
	case VALUE_NULL:
		return span_is(name, "null");
	case VALUE_FALSE:
	case VALUE_TRUE:
		return span_is(name, "boolean");
	case VALUE_NUMBER:
		return span_is(name, "number") ||
		       (span_is(name, "integer") && is_integer(v->text));
	case VALUE_STRING:
		return span_is(name, "string");
	case VALUE_ARRAY:
		return span_is(name, "array");
	case VALUE_OBJECT:
		return span_is(name, "object");
	}
	return false;
}

static int
check_type(struct check *c, const struct value *type, const struct value *v)
{
	const struct value *one;
	char shown[32];

	if (type == NULL)
		return 0;
	if (type->type == VALUE_STRING)
		return is_type(v, type->text)
			   ? 0
			   : bad(c, "is %s, not %s", value_type_name(v->type),
				 log_vis(type->text, shown, sizeof(shown)));
	if (type->type != VALUE_ARRAY)
		return 0;
	for (one = type->child; one != NULL; one = one->next)
		if (one->type == VALUE_STRING && is_type(v, one->text))
			return 0;
	return bad(c, "is %s", value_type_name(v->type));
}

/* Compare as JSON Schema does: 1.0 is 1. */
static bool
same(const struct value *a, const struct value *b)
{
	if (a->type == VALUE_NUMBER && b->type == VALUE_NUMBER) {
		double x = number_of(a->text), y = number_of(b->text);

		return !(x < y) && !(x > y);
	}
	return value_eq(a, b);
}

static int
check_values(struct check *c, const struct value *schema, const struct value *v)
{
	const struct value *list = value_get(schema, "enum"), *one;

	if ((one = value_get(schema, "const")) != NULL && !same(one, v))
		return bad(c, "is another value than the only one allowed");
	if (list == NULL || list->type != VALUE_ARRAY)
		return 0;
	for (one = list->child; one != NULL; one = one->next) {
		c->steps++;
		if (same(one, v))
			return 0;
	}
	return bad(c, "is none of the values that are allowed");
}

/* Returns the length in code points. */
static double
length_of(struct span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return (double)n;
}

static int
check_limit(struct check *c, const struct value *schema, double x,
    const char *least, const char *most, const char *what)
{
	const struct value *lo = value_get(schema, least),
			   *hi = value_get(schema, most);

	if (lo != NULL && lo->type == VALUE_NUMBER && x < number_of(lo->text))
		return bad(c, "%s less than %s allows", what, least);
	if (hi != NULL && hi->type == VALUE_NUMBER && x > number_of(hi->text))
		return bad(c, "%s more than %s allows", what, most);
	return 0;
}

static int
check_number(struct check *c, const struct value *schema, double x)
{
	const struct value *lo = value_get(schema, "exclusiveMinimum"),
			   *hi = value_get(schema, "exclusiveMaximum");

	if (lo != NULL && lo->type == VALUE_NUMBER && x <= number_of(lo->text))
		return bad(c, "is less than exclusiveMinimum allows");
	if (hi != NULL && hi->type == VALUE_NUMBER && x >= number_of(hi->text))
		return bad(c, "is more than exclusiveMaximum allows");
	return check_limit(c, schema, x, "minimum", "maximum", "is");
}

static int
check_array(struct check *c, const struct value *schema, const struct value *v,
    unsigned depth)
{
	const struct value *first = value_get(schema, "prefixItems"),
			   *items = value_get(schema, "items"), *one, *s;
	char index[24];
	unsigned n = 0;

	if (check_limit(c, schema, v->count, "minItems", "maxItems", "has") ==
	    -1)
		return -1;
	s = first != NULL && first->type == VALUE_ARRAY ? first->child : NULL;
	for (one = v->child; one != NULL; one = one->next, n++) {
		(void)snprintf(index, sizeof(index), "%u", n);
		if ((s != NULL || items != NULL) &&
		    check_below(c, s != NULL ? s : items, one, span_str(index),
			depth) == -1)
			return -1;
		if (s != NULL)
			s = s->next;
	}
	return 0;
}

static int
check_object(struct check *c, const struct value *schema, const struct value *v,
    unsigned depth)
{
	const struct value *props = value_get(schema, "properties"),
			   *more = value_get(schema, "additionalProperties"),
			   *list = value_get(schema, "required"), *one, *s;
	char shown[64];

	if (check_limit(c, schema, v->count, "minProperties", "maxProperties",
		"has") == -1)
		return -1;
	for (one = list != NULL && list->type == VALUE_ARRAY ? list->child
							     : NULL;
	     one != NULL; one = one->next)
		if (one->type == VALUE_STRING &&
		    value_getspan(v, one->text) == NULL)
			return bad(c, "lacks \"%s\"",
			    log_vis(one->text, shown, sizeof(shown)));
	/* Names by pattern are not looked at, nor what is beside them. */
	if (value_get(schema, "patternProperties") != NULL)
		more = NULL;
	for (one = v->child; one != NULL; one = one->next) {
		s = value_getspan(props, one->key);
		if (s == NULL)
			s = more;
		if (s != NULL && check_below(c, s, one, one->key, depth) == -1)
			return -1;
	}
	return 0;
}

/* Returns true if the value fits one of the list. */
static bool
fits_any(struct check *c, const struct value *list, const struct value *v,
    unsigned depth)
{
	for (const struct value *s = list->child; s != NULL; s = s->next)
		if (check_one(c, s, v, depth) == 0)
			return true;
	return list->child == NULL;
}

static int
check_combined(struct check *c, const struct value *schema,
    const struct value *v, unsigned depth)
{
	static const char *const any[] = {"anyOf", "oneOf"};
	const struct value *list = value_get(schema, "allOf"), *s;

	for (s = list != NULL && list->type == VALUE_ARRAY ? list->child : NULL;
	     s != NULL; s = s->next)
		if (check_one(c, s, v, depth) == -1)
			return -1;
	for (size_t i = 0; i < nitems(any); i++) {
		list = value_get(schema, any[i]);
		if (list != NULL && list->type == VALUE_ARRAY &&
		    !fits_any(c, list, v, depth))
			return bad(c, "fits nothing of %s", any[i]);
	}
	return 0;
}

/* Find what "#", or "#/a/b" leads to; NULL for any other reference. */
static const struct value *
ref_of(const struct check *c, struct span ref)
{
	const struct value *v = c->root;
	uint8_t name[SCHEMA_NAME];
	uint64_t at;
	size_t n;

	if (ref.len == 0 || ref.p[0] != '#' ||
	    memchr(ref.p, '%', ref.len) != NULL)
		return NULL;
	for (size_t i = 1; v != NULL && i < ref.len;) {
		if (ref.p[i++] != '/')
			return NULL;
		for (n = 0; i < ref.len && ref.p[i] != '/' && n < sizeof(name);
		     i++) {
			name[n] = ref.p[i];
			if (ref.p[i] == '~' && i + 1 < ref.len)
				name[n] = ref.p[++i] == '1' ? '/' : '~';
			n++;
		}
		if (v->type != VALUE_ARRAY) {
			v = value_getspan(v, span_of(name, n));
			continue;
		}
		if (span_u64(span_of(name, n), VALUE_MAX_NODES, &at) == -1)
			return NULL;
		for (v = v->child; v != NULL && at != 0; at--)
			v = v->next;
	}
	return v;
}

static int
check_one(struct check *c, const struct value *schema, const struct value *v,
    unsigned depth)
{
	struct span ref = value_str(schema, "$ref");
	const struct value *to;

	if (schema->type == VALUE_FALSE)
		return bad(c, "is not allowed");
	if (schema->type != VALUE_OBJECT)
		return 0;
	if (depth == SCHEMA_DEPTH || ++c->steps > SCHEMA_STEPS)
		return bad(c, "takes too many steps to check");
	depth++;
	if (ref.p != NULL && (to = ref_of(c, ref)) != NULL &&
	    check_one(c, to, v, depth) == -1)
		return -1;
	if (check_type(c, value_get(schema, "type"), v) == -1 ||
	    check_values(c, schema, v) == -1 ||
	    check_combined(c, schema, v, depth) == -1)
		return -1;
	if (v->type == VALUE_NUMBER)
		return check_number(c, schema, number_of(v->text));
	if (v->type == VALUE_STRING)
		return check_limit(c, schema, length_of(v->text), "minLength",
		    "maxLength", "has");
	if (v->type == VALUE_ARRAY)
		return check_array(c, schema, v, depth);
	return v->type == VALUE_OBJECT ? check_object(c, schema, v, depth) : 0;
}

int
schema_value_check(
    const struct value *schema, const struct value *v, char why[SCHEMA_WHY])
{
	struct check c = {.root = schema, .why = why};

	if (check_one(&c, schema, v, 0) == -1)
		return -1;
	/* Alternatives that it does not fit have left their reasons there. */
	why[0] = '\0';
	return 0;
}
