/* SPDX-License-Identifier: ISC */
/* Compares a value with a schema. */
#include "icctl/schema/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "icctl/schema/pattern.h"

#define MATCH_DEPTH 128U
#define MATCH_STEPS 1000000U
#define MATCH_PATTERNS 50000000U /* steps of patterns */

struct match {
	const struct value *root;
	struct schema_fail *fail;
	unsigned steps;
	uint64_t patterns; /* steps that are left */
	struct pattern *pattern;
	const struct value *compiled; /* `pattern` is made of it; or NULL */
	bool over; /* too deep or too long: no schema of a choice fits */
};

static int match_value(struct match *, const struct value *s,
    const struct value *v, size_t at, unsigned depth);

static int __attribute__((format(printf, 3, 4)))
match_fail(struct match *m, const struct value *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(m->fail->text, sizeof(m->fail->text), fmt, ap);
	va_end(ap);
	m->fail->at = v;
	return -1;
}

static double
number(const struct value *v)
{
	char text[VALUE_MAX_NUMBER + 1];

	return span_copy(v->text, text, sizeof(text)) == -1
		   ? 0
		   : strtod(text, NULL);
}

/* Numbers are equal by value: 1 and 1.0 are. */
static bool
equal(const struct value *a, const struct value *b)
{
	if (a->type == VALUE_NUMBER && b->type == VALUE_NUMBER)
		return number(a) == number(b);
	return value_eq(a, b);
}

/* Returns the number of characters. */
static size_t
length(struct span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return n;
}

static int
match_type(struct match *m, const struct value *s, const struct value *v)
{
	const struct value *type = value_get(s, "type"), *one;

	if (type == NULL)
		return 0;
	one = type->type == VALUE_ARRAY ? type->child : type;
	for (; one != NULL; one = type->type == VALUE_ARRAY ? one->next : NULL)
		if (schema_is(v, one->text))
			return 0;
	one = type->type == VALUE_ARRAY ? type->child : type;
	return match_fail(m, v, "must be of type %.*s%s, is %s",
	    (int)one->text.len, (const char *)one->text.p,
	    type->type == VALUE_ARRAY && type->count > 1 ? " or another" : "",
	    value_type_name(v->type));
}

static int
match_constants(struct match *m, const struct value *s, const struct value *v)
{
	const struct value *e = value_get(s, "enum"), *c;

	if ((c = value_get(s, "const")) != NULL && !equal(c, v))
		return match_fail(m, v, "is not the constant of the schema");
	if (e == NULL)
		return 0;
	for (e = e->child; e != NULL; e = e->next)
		if (equal(e, v))
			return 0;
	return match_fail(m, v, "is none of the values of \"enum\"");
}

/* Compare a count with the keywords of its least and of its most. */
static int
match_count(struct match *m, const struct value *s, const struct value *v,
    size_t n, const char *least, const char *most)
{
	int64_t limit;

	if (value_get(s, least) != NULL &&
	    value_int(value_get(s, least), 0, INT32_MAX, &limit) == 0 &&
	    n < (uint64_t)limit)
		return match_fail(
		    m, v, "has %zu, %s is %lld", n, least, (long long)limit);
	if (value_get(s, most) != NULL &&
	    value_int(value_get(s, most), 0, INT32_MAX, &limit) == 0 &&
	    n > (uint64_t)limit)
		return match_fail(
		    m, v, "has %zu, %s is %lld", n, most, (long long)limit);
	return 0;
}

static int
match_number(struct match *m, const struct value *s, const struct value *v)
{
	const struct value *k;
	double d;

	if (v->type != VALUE_NUMBER)
		return 0;
	d = number(v);
	if ((k = value_get(s, "minimum")) != NULL && d < number(k))
		return match_fail(m, v, "is less than minimum");
	if ((k = value_get(s, "maximum")) != NULL && d > number(k))
		return match_fail(m, v, "is more than maximum");
	if ((k = value_get(s, "exclusiveMinimum")) != NULL && d <= number(k))
		return match_fail(m, v, "is not more than exclusiveMinimum");
	if ((k = value_get(s, "exclusiveMaximum")) != NULL && d >= number(k))
		return match_fail(m, v, "is not less than exclusiveMaximum");
	return 0;
}

static int
match_pattern(struct match *m, const struct value *s, const struct value *v)
{
	const struct value *k = value_get(s, "pattern");
	int found;

	if (k == NULL || v->type != VALUE_STRING)
		return 0;
	if (m->compiled != k && pattern_compile(m->pattern, k->text) == -1)
		return match_fail(m, v, "cannot be compared with pattern");
	m->compiled = k;
	found = pattern_find(m->pattern, v->text, &m->patterns);
	if (found == -1)
		m->over = true;
	return found == 1 ? 0
			  : match_fail(m, v,
				found == -1 ? "takes too long to compare"
					    : "does not match pattern");
}

static int
match_unique(struct match *m, const struct value *v)
{
	for (const struct value *a = v->child; a != NULL; a = a->next)
		for (const struct value *b = a->next; b != NULL; b = b->next) {
			if (++m->steps > MATCH_STEPS)
				m->over = true;
			if (m->over)
				return match_fail(m, v, "is too large");
			if (equal(a, b))
				return match_fail(
				    m, v, "has the same element twice");
		}
	return 0;
}

static int
match_array(struct match *m, const struct value *s, const struct value *v,
    size_t at, unsigned depth)
{
	const struct value *items = value_get(s, "items"),
			   *prefix = value_get(s, "prefixItems"), *one;
	char name[24];
	unsigned i = 0;
	size_t n;

	if (v->type != VALUE_ARRAY)
		return 0;
	if (match_count(m, s, v, v->count, "minItems", "maxItems") == -1 ||
	    (value_bool(s, "uniqueItems", false) && match_unique(m, v) == -1))
		return -1;
	prefix = prefix == NULL ? NULL : prefix->child;
	for (const struct value *e = v->child; e != NULL; e = e->next, i++) {
		one = prefix != NULL ? prefix : items;
		prefix = prefix == NULL ? NULL : prefix->next;
		if (one == NULL)
			continue;
		snprintf(name, sizeof(name), "%u", i);
		n = schema_path(m->fail->path, at, span_str(name));
		if (match_value(m, one, e, n, depth) == -1)
			return -1;
		m->fail->path[at] = '\0';
	}
	return 0;
}

static int
match_object(struct match *m, const struct value *s, const struct value *v,
    size_t at, unsigned depth)
{
	const struct value *props = value_get(s, "properties"),
			   *more = value_get(s, "additionalProperties"),
			   *required = value_get(s, "required"), *one;
	size_t n;

	if (v->type != VALUE_OBJECT)
		return 0;
	if (match_count(m, s, v, v->count, "minProperties", "maxProperties") ==
	    -1)
		return -1;
	for (one = required == NULL ? NULL : required->child; one != NULL;
	     one = one->next)
		if (value_getspan(v, one->text) == NULL)
			return match_fail(m, v, "lacks \"%.*s\"",
			    (int)(one->text.len > 100 ? 100 : one->text.len),
			    (const char *)one->text.p);
	for (const struct value *e = v->child; e != NULL; e = e->next) {
		one = props == NULL ? NULL : value_getspan(props, e->key);
		if (one == NULL && (one = more) == NULL)
			continue;
		n = schema_path(m->fail->path, at, e->key);
		if (one->type == VALUE_FALSE)
			return match_fail(m, e, "is not allowed here");
		if (match_value(m, one, e, n, depth) == -1)
			return -1;
		m->fail->path[at] = '\0';
	}
	return 0;
}

/* Returns how many schemas of the list fit, at most two. */
static unsigned
match_some(struct match *m, const struct value *list, const struct value *v,
    size_t at, unsigned depth)
{
	unsigned n = 0;

	for (const struct value *s = list->child; s != NULL && n < 2;
	     s = s->next) {
		n += match_value(m, s, v, at, depth) == 0;
		m->fail->path[at] = '\0';
	}
	return n;
}

static int
match_choices(struct match *m, const struct value *s, const struct value *v,
    size_t at, unsigned depth)
{
	const struct value *k;
	unsigned n;

	if ((k = value_get(s, "allOf")) != NULL)
		for (k = k->child; k != NULL; k = k->next)
			if (match_value(m, k, v, at, depth) == -1)
				return -1;
	if ((k = value_get(s, "anyOf")) != NULL &&
	    match_some(m, k, v, at, depth) == 0)
		return match_fail(m, v, "fits none of \"anyOf\"");
	if ((k = value_get(s, "oneOf")) != NULL &&
	    (n = match_some(m, k, v, at, depth)) != 1)
		return match_fail(m, v, "fits %s of \"oneOf\"",
		    n == 0 ? "none" : "more than one");
	if ((k = value_get(s, "not")) != NULL) {
		if (match_value(m, k, v, at, depth) == 0)
			return match_fail(m, v, "fits what \"not\" excludes");
		m->fail->path[at] = '\0';
	}
	return 0;
}

static int
match_value(struct match *m, const struct value *s, const struct value *v,
    size_t at, unsigned depth)
{
	const struct value *ref;

	if (depth > MATCH_DEPTH || ++m->steps > MATCH_STEPS)
		m->over = true;
	if (m->over)
		return match_fail(m, v, "takes too long to compare");
	if (s->type != VALUE_OBJECT)
		return s->type == VALUE_TRUE
			   ? 0
			   : match_fail(m, v, "is not allowed here");
	depth++;
	ref = value_get(s, "$ref");
	if (ref != NULL &&
	    match_value(m, schema_ref(m->root, ref->text), v, at, depth) == -1)
		return -1;
	if (match_type(m, s, v) == -1 || match_constants(m, s, v) == -1 ||
	    match_number(m, s, v) == -1 ||
	    (v->type == VALUE_STRING && match_count(m, s, v, length(v->text),
					    "minLength", "maxLength") == -1) ||
	    match_pattern(m, s, v) == -1 ||
	    match_array(m, s, v, at, depth) == -1 ||
	    match_object(m, s, v, at, depth) == -1)
		return -1;
	return match_choices(m, s, v, at, depth);
}

int
schema_match(
    const struct value *schema, const struct value *v, struct schema_fail *fail)
{
	static struct pattern pattern;
	struct match m = {.root = schema,
	    .fail = fail,
	    .patterns = MATCH_PATTERNS,
	    .pattern = &pattern};

	memset(fail, 0, sizeof(*fail));
	if (match_value(&m, schema, v, 0, 0) == -1)
		return -1;
	/* Too long for one choice may have passed as "not". */
	return m.over ? match_fail(&m, v, "takes too long to compare") : 0;
}
