/* SPDX-License-Identifier: ISC */
/* Checks schemas: their keywords, the kinds of their values, and references. */
#include "icctl/schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "icctl/schema/pattern.h"

#define CHECK_DEPTH 64U

enum kind {
	KIND_ANY,   /* an annotation */
	KIND_TYPE,  /* a type, or several */
	KIND_LIST,  /* any values, at least one */
	KIND_NAMES, /* strings */
	KIND_COUNT, /* a number that is not negative and whole */
	KIND_NUMBER,
	KIND_BOOL,
	KIND_PATTERN,
	KIND_SCHEMA,
	KIND_SCHEMAS, /* a list of them, at least one */
	KIND_MEMBERS, /* an object of them */
	KIND_REF,
	KIND_DIALECT
};

/* clang-format off */
static const struct {
	const char *name;
	enum kind kind;
} keywords[] = {
	{"$comment", KIND_ANY}, {"$defs", KIND_MEMBERS}, {"$id", KIND_ANY},
	{"$ref", KIND_REF}, {"$schema", KIND_DIALECT},
	{"additionalProperties", KIND_SCHEMA}, {"allOf", KIND_SCHEMAS},
	{"anyOf", KIND_SCHEMAS}, {"const", KIND_ANY}, {"default", KIND_ANY},
	{"deprecated", KIND_ANY}, {"description", KIND_ANY},
	{"enum", KIND_LIST}, {"examples", KIND_ANY},
	{"exclusiveMaximum", KIND_NUMBER}, {"exclusiveMinimum", KIND_NUMBER},
	{"format", KIND_ANY}, /* an annotation, since 2019-09 */
	{"items", KIND_SCHEMA}, {"maxItems", KIND_COUNT},
	{"maxLength", KIND_COUNT}, {"maxProperties", KIND_COUNT},
	{"maximum", KIND_NUMBER}, {"minItems", KIND_COUNT},
	{"minLength", KIND_COUNT}, {"minProperties", KIND_COUNT},
	{"minimum", KIND_NUMBER}, {"not", KIND_SCHEMA},
	{"oneOf", KIND_SCHEMAS}, {"pattern", KIND_PATTERN}, {"prefixItems", KIND_SCHEMAS},
	{"properties", KIND_MEMBERS}, {"required", KIND_NAMES},
	{"title", KIND_ANY}, {"type", KIND_TYPE}, {"uniqueItems", KIND_BOOL},
};
/* clang-format on */

struct check {
	const struct value *root;
	struct schema_fail *fail;
};

static int check_schema(
    const struct check *, const struct value *, size_t at, unsigned depth);

size_t
schema_path(char path[SCHEMA_PATH], size_t len, struct span name)
{
	char vis[SCHEMA_PATH];
	int n;

	/* "~" and "/" have a meaning in pointers. */
	log_vis(name, vis, sizeof(vis));
	if (len >= SCHEMA_PATH - 1)
		return len;
	path[len++] = '/';
	for (const char *p = vis; *p != '\0' && len < SCHEMA_PATH - 2; p++) {
		n = snprintf(path + len, SCHEMA_PATH - len, "%s",
		    *p == '~'   ? "~0"
		    : *p == '/' ? "~1"
				: "");
		if (n == 0)
			path[len++] = *p;
		else
			len += (size_t)n;
	}
	if (len > SCHEMA_PATH - 1)
		len = SCHEMA_PATH - 1;
	path[len] = '\0';
	return len;
}

bool
schema_is(const struct value *v, struct span type)
{
	char text[VALUE_MAX_NUMBER + 1];
	double d;

	switch (v->type) {
	case VALUE_NULL:
		return span_eq(type, SPAN("null"));
	case VALUE_FALSE:
	case VALUE_TRUE:
		return span_eq(type, SPAN("boolean"));
	case VALUE_STRING:
		return span_eq(type, SPAN("string"));
	case VALUE_ARRAY:
		return span_eq(type, SPAN("array"));
	case VALUE_OBJECT:
		return span_eq(type, SPAN("object"));
	case VALUE_NUMBER:
		break;
	}
	if (span_eq(type, SPAN("number")))
		return true;
	if (!span_eq(type, SPAN("integer")) ||
	    span_copy(v->text, text, sizeof(text)) == -1)
		return false;
	/* 1.0 is one, too; beyond this, no number has a fraction. */
	d = strtod(text, NULL);
	return d >= 9e15 || d <= -9e15 || d == (double)(int64_t)d;
}

const struct value *
schema_ref(const struct value *root, struct span ref)
{
	static const struct span defs = SPAN("#/$defs/");

	if (span_eq(ref, SPAN("#")))
		return root;
	if (!span_starts(ref, defs))
		return NULL;
	ref = span_of(ref.p + defs.len, ref.len - defs.len);
	if (memchr(ref.p, '/', ref.len) != NULL ||
	    memchr(ref.p, '~', ref.len) != NULL)
		return NULL;
	return value_getspan(value_get(root, "$defs"), ref);
}

static int
check_fail(const struct check *c, const char *text)
{
	snprintf(c->fail->text, sizeof(c->fail->text), "%s", text);
	return -1;
}

static bool
type_known(const struct value *v)
{
	static const char *const types[] = {"array", "boolean", "integer",
	    "null", "number", "object", "string"};

	for (size_t i = 0; v->type == VALUE_STRING && i < nitems(types); i++)
		if (span_eq(v->text, span_str(types[i])))
			return true;
	return false;
}

static int
check_type(const struct check *c, const struct value *v)
{
	const struct value *one = v->type == VALUE_ARRAY ? v->child : v;

	if (one == NULL)
		return check_fail(c, "must not be empty");
	for (; one != NULL; one = v->type == VALUE_ARRAY ? one->next : NULL)
		if (!type_known(one))
			return check_fail(c,
			    "must be array, boolean, integer, null, number, "
			    "object or string, or a list of these");
	return 0;
}

static int
check_names(const struct check *c, const struct value *v)
{
	if (v->type != VALUE_ARRAY)
		return check_fail(c, "must be a list of names");
	for (v = v->child; v != NULL; v = v->next)
		if (v->type != VALUE_STRING)
			return check_fail(c, "must be a list of names");
	return 0;
}

static int
check_pattern(const struct check *c, const struct value *v)
{
	static struct pattern p;

	if (v->type != VALUE_STRING)
		return check_fail(c, "must be a string");
	return pattern_compile(&p, v->text) == -1 ? check_fail(c, p.why) : 0;
}

/* Check each schema in a list or in an object. */
static int
check_each(
    const struct check *c, const struct value *v, size_t at, unsigned depth)
{
	char number[24];
	unsigned i = 0;
	size_t n;

	for (const struct value *s = v->child; s != NULL; s = s->next, i++) {
		snprintf(number, sizeof(number), "%u", i);
		n = schema_path(c->fail->path, at,
		    v->type == VALUE_OBJECT ? s->key : span_str(number));
		if (check_schema(c, s, n, depth + 1) == -1)
			return -1;
		c->fail->path[at] = '\0';
	}
	return 0;
}

static int
check_keyword(const struct check *c, enum kind kind, const struct value *v,
    size_t at, unsigned depth)
{
	int64_t n;

	switch (kind) {
	case KIND_ANY:
		return 0;
	case KIND_TYPE:
		return check_type(c, v);
	case KIND_NAMES:
		return check_names(c, v);
	case KIND_LIST:
		return v->type == VALUE_ARRAY && v->count != 0
			   ? 0
			   : check_fail(c, "must be a list with a value");
	case KIND_COUNT:
		return value_int(v, 0, INT32_MAX, &n) == 0
			   ? 0
			   : check_fail(c, "must be a whole number from 0");
	case KIND_NUMBER:
		return v->type == VALUE_NUMBER
			   ? 0
			   : check_fail(c, "must be a number");
	case KIND_BOOL:
		return v->type == VALUE_TRUE || v->type == VALUE_FALSE
			   ? 0
			   : check_fail(c, "must be true or false");
	case KIND_PATTERN:
		return check_pattern(c, v);
	case KIND_SCHEMA:
		return check_schema(c, v, at, depth + 1);
	case KIND_SCHEMAS:
		return v->type == VALUE_ARRAY && v->count != 0
			   ? check_each(c, v, at, depth)
			   : check_fail(c, "must be a list with a schema");
	case KIND_MEMBERS:
		return v->type == VALUE_OBJECT
			   ? check_each(c, v, at, depth)
			   : check_fail(c, "must be an object of schemas");
	case KIND_REF:
		return v->type == VALUE_STRING &&
			       schema_ref(c->root, v->text) != NULL
			   ? 0
			   : check_fail(c,
				 "must be # or #/$defs/NAME of a name that is "
				 "there");
	case KIND_DIALECT:
		return v->type == VALUE_STRING && memmem(v->text.p, v->text.len,
						      "2020-12", 7) != NULL
			   ? 0
			   : check_fail(c, "only 2020-12 is known");
	}
	return -1;
}

static int
check_schema(
    const struct check *c, const struct value *s, size_t at, unsigned depth)
{
	size_t i, n;

	if (s->type == VALUE_TRUE || s->type == VALUE_FALSE)
		return 0;
	if (s->type != VALUE_OBJECT)
		return check_fail(c, "must be an object, true or false");
	if (depth > CHECK_DEPTH)
		return check_fail(c, "is too deep");
	for (const struct value *v = s->child; v != NULL; v = v->next) {
		n = schema_path(c->fail->path, at, v->key);
		for (i = 0; i < nitems(keywords); i++)
			if (span_eq(v->key, span_str(keywords[i].name)))
				break;
		if (i == nitems(keywords))
			return check_fail(c,
			    "this keyword is not known (icctl-session(1) lists "
			    "those that are)");
		if (check_keyword(c, keywords[i].kind, v, n, depth) == -1)
			return -1;
		c->fail->path[at] = '\0';
	}
	return 0;
}

int
schema_check(const struct value *schema, struct schema_fail *fail)
{
	const struct check c = {schema, fail};

	memset(fail, 0, sizeof(*fail));
	return check_schema(&c, schema, 0, 0);
}
