/* SPDX-License-Identifier: ISC */
/*
 * JSON Schema 2020-12, keyword by keyword: each value has its type.  Older
 * spellings with one meaning become the one of 2020-12; null for a keyword that
 * an object may lack, and [] for an object without members (PHP), are as if
 * they were not there.  What a client would compile must compile.  Recursion
 * follows the tree, whose depth is VALUE_MAX_DEPTH at most.
 *
 * An outputSchema is compiled by clients (Ajv, of draft 7), which lose their
 * whole list by one that does not compile.  What that compiler refuses is left
 * out there, and tuples of older drafts are refused.
 */
#include "define/fit.h"

#include <stdlib.h>

#define WANTED_MAX 256U /* required names that are looked for */

/* A member of a schema, on its way to `out`. */
struct keyword {
	const char *name;
	int (*take)(struct fit *, const struct value *in, struct value *out);
};

static bool
is_empty_array(const struct value *v)
{
	return v->type == VALUE_ARRAY && v->count == 0;
}

static int
take_schema(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v = fit_schema(f, in);

	if (v == NULL)
		return f->why[0] == '\0' ? 0 : -1;
	return fit_keep(f, out, in, v);
}

/* Rebuild each schema of a list that must have one. */
static int
take_list(struct fit *f, const struct value *in, struct value *out)
{
	const struct value *v;
	struct value *list, *c;

	if (in->type != VALUE_ARRAY)
		return fit_wrong(f, in, "a list of schemas");
	if (in->count == 0)
		return fit_mend(f, "left out: is empty");
	list = value_new(f->pool, VALUE_ARRAY);
	for (v = in->child; v != NULL; v = v->next) {
		if (v->type == VALUE_NULL)
			return fit_bad(f, "has null among its schemas");
		if ((c = fit_schema(f, v)) == NULL ||
		    fit_append(f, list, c) == -1)
			return -1;
	}
	return fit_keep(f, out, in, list);
}

/* Rebuild the schema of one name; a boolean becomes an object. */
static int
take_named(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v = NULL, *none;

	if (fit_plain(f, in->key) == -1)
		return -1;
	if (in->type == VALUE_TRUE || in->type == VALUE_NULL) {
		(void)fit_mend(f, "%s became {}",
		    in->type == VALUE_TRUE ? "true" : "null");
		v = value_new(f->pool, VALUE_OBJECT);
	} else if (in->type == VALUE_FALSE) {
		(void)fit_mend(f, "false became {\"not\":{}}");
		v = value_new(f->pool, VALUE_OBJECT);
		none = value_new(f->pool, VALUE_OBJECT);
		if (v != NULL && fit_put(f, v, SPAN("not"), none) == -1)
			return -1;
	} else if ((v = fit_schema(f, in)) == NULL) {
		return -1;
	}
	return fit_keep(f, out, in, v);
}

/* Rebuild an object with `take` for each of its members. */
static int
take_members(struct fit *f, const struct value *in, struct value *out,
    int (*take)(struct fit *, const struct value *, struct value *))
{
	struct value *map = value_new(f->pool, VALUE_OBJECT);
	const struct value *v;
	int r;

	if (is_empty_array(in))
		(void)fit_mend(f, "[] became {}");
	else if (in->type != VALUE_OBJECT)
		return fit_wrong(f, in, "an object");
	if (map == NULL)
		return fit_bad(f, "is too large");
	for (v = in->child; v != NULL; v = v->next) {
		fit_enter(f, v->key);
		r = take(f, v, map);
		fit_leave(f);
		if (r == -1)
			return -1;
	}
	return fit_keep(f, out, in, map);
}

static int
take_map(struct fit *f, const struct value *in, struct value *out)
{
	return take_members(f, in, out, take_named);
}

static int
take_by_pattern(struct fit *f, const struct value *in, struct value *out)
{
	if (constraint_check_pattern(f, in->key) == -1)
		return -1;
	return take_named(f, in, out);
}

static int
take_pattern_map(struct fit *f, const struct value *in, struct value *out)
{
	return take_members(f, in, out, take_by_pattern);
}

static int
take_names_map(struct fit *f, const struct value *in, struct value *out)
{
	return take_members(f, in, out, constraint_names);
}

/* A dependency of older drafts: names, or a schema. */
static int
take_dependency(struct fit *f, const struct value *in, struct value *out)
{
	return in->type == VALUE_ARRAY ? constraint_names(f, in, out)
				       : take_named(f, in, out);
}

static int
take_dependencies(struct fit *f, const struct value *in, struct value *out)
{
	return take_members(f, in, out, take_dependency);
}

static int
take_ref(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_STRING)
		return fit_wrong(f, in, "a string");
	if (fit_plain(f, in->text) == -1 || ref_find(f, in->text) == NULL)
		return -1;
	return fit_keep_alias(f, out, in);
}

/* It is for meta-schemas, and a tool has none. */
static int
take_vocabulary(struct fit *f, const struct value *in, struct value *out)
{
	return fit_mend(f, "left out: no client needs it");
}

static int
take_anchor(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_STRING)
		return fit_drop(f, in);
	if (!ref_is_anchor(in->text))
		return fit_mend(f, "left out: is no name for an anchor");
	if (ref_anchors(f, in->text) > 1)
		return fit_bad(f, "is the name of more than one part");
	return fit_keep_alias(f, out, in);
}

/*
 * A rebuilt schema is of 2020-12, and can be read as of the two drafts before
 * it; a client that minds the name knows no other one.
 */
static int
take_dialect(struct fit *f, const struct value *in, struct value *out)
{
	static const char *const known[] = {
	    "https://json-schema.org/draft/2020-12/schema",
	    "https://json-schema.org/draft/2019-09/schema",
	    "http://json-schema.org/draft-07/schema"};
	struct span s = in->text;

	if (in->type != VALUE_STRING)
		return fit_drop(f, in);
	if (s.len != 0 && s.p[s.len - 1] == '#')
		s.len--;
	for (size_t i = 0; i < nitems(known); i++)
		if (span_is(s, known[i]))
			return fit_keep_alias(f, out, in);
	return fit_mend(f, "left out: is a dialect that clients do not know");
}

/* One compiler keeps the schemas of all tools by their ids. */
static int
take_id(struct fit *f, const struct value *in, struct value *out)
{
	if (f->output || (in->type == VALUE_STRING && in->text.len != 0 &&
			     memchr(in->text.p, '#', in->text.len) != NULL))
		return fit_mend(f, "left out: no client needs it");
	return constraint_word(f, in, out);
}

/* A list of schemas is a tuple of older drafts: rebuild() has seen to it. */
static int
take_items(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type == VALUE_ARRAY && in->count != 0)
		return 0;
	return take_schema(f, in, out);
}

/* Not of 2020-12; said of a tuple, it is what `items` says there. */
static int
take_additional(struct fit *f, const struct value *in, struct value *out)
{
	return value_get(out, "prefixItems") != NULL &&
		       value_get(out, "items") != NULL
		   ? 0
		   : take_schema(f, in, out);
}

/* An extension of OpenAPI, which the compiler refuses beside no type. */
static int
take_nullable(struct fit *f, const struct value *in, struct value *out)
{
	if (f->output)
		return fit_mend(f, "left out: is no keyword of JSON Schema");
	return fit_keep(f, out, in, fit_words(f, in));
}

/* clang-format off */
/* Sorted. */
static const struct keyword keywords[] = {
	{"$anchor",		take_anchor},
	{"$comment",		constraint_text},
	{"$defs",		take_map},
	{"$dynamicAnchor",	take_anchor},
	{"$dynamicRef",		take_ref},
	{"$id",			take_id},
	{"$recursiveRef",	take_ref},
	{"$ref",		take_ref},
	{"$schema",		take_dialect},
	{"$vocabulary",		take_vocabulary},
	{"additionalItems",	take_additional},
	{"additionalProperties", take_schema},
	{"allOf",		take_list},
	{"anyOf",		take_list},
	{"const",		constraint_exact},
	{"contains",		take_schema},
	{"contentEncoding",	constraint_word},
	{"contentMediaType",	constraint_word},
	{"contentSchema",	take_schema},
	{"default",		constraint_exact},
	{"definitions",		take_map},
	{"dependencies",	take_dependencies},
	{"dependentRequired",	take_names_map},
	{"dependentSchemas",	take_map},
	{"deprecated",		constraint_hint},
	{"description",		constraint_text},
	{"else",		take_schema},
	{"enum",		constraint_enum},
	{"examples",		constraint_examples},
	{"exclusiveMaximum",	constraint_exclusive},
	{"exclusiveMinimum",	constraint_exclusive},
	{"format",		constraint_word},
	{"if",			take_schema},
	{"items",		take_items},
	{"maxContains",		constraint_count},
	{"maxItems",		constraint_count},
	{"maxLength",		constraint_count},
	{"maxProperties",	constraint_count},
	{"maximum",		constraint_number},
	{"minContains",		constraint_count},
	{"minItems",		constraint_count},
	{"minLength",		constraint_count},
	{"minProperties",	constraint_count},
	{"minimum",		constraint_number},
	{"multipleOf",		constraint_step},
	{"not",			take_schema},
	{"nullable",		take_nullable},
	{"oneOf",		take_list},
	{"pattern",		constraint_pattern},
	{"patternProperties",	take_pattern_map},
	{"prefixItems",		take_list},
	{"properties",		take_map},
	{"propertyNames",	take_schema},
	{"readOnly",		constraint_hint},
	{"required",		constraint_required},
	{"then",		take_schema},
	{"title",		constraint_text},
	{"type",		constraint_type},
	{"unevaluatedItems",	take_schema},
	{"unevaluatedProperties", take_schema},
	{"uniqueItems",		constraint_flag},
	{"writeOnly",		constraint_hint},
};
/* clang-format on */

static int
compare(const void *key, const void *row)
{
	const struct span *name = key;
	const struct keyword *k = row;

	return span_cmp(*name, span_str(k->name));
}

/* Names that the compiler refuses, or that have no meaning without others. */
static bool
is_refused(struct span name)
{
	static const char *const names[] = {"id", "$async", "formatMinimum",
	    "formatMaximum", "formatExclusiveMinimum",
	    "formatExclusiveMaximum"};

	for (size_t i = 0; i < nitems(names); i++)
		if (span_is(name, names[i]))
			return true;
	return false;
}

static int
take_unknown(struct fit *f, const struct value *in, struct value *out)
{
	if (fit_plain(f, in->key) == -1)
		return -1;
	/* The compiler looks for ids and anchors in all that are objects. */
	if (f->output && (in->child != NULL || is_refused(in->key)))
		return fit_mend(f, "left out: is no keyword of JSON Schema");
	return fit_keep(f, out, in, fit_words(f, in));
}

static int
take_keyword(struct fit *f, const struct value *in, struct value *out)
{
	const struct keyword *k;

	k = bsearch(&in->key, keywords, nitems(keywords), sizeof(*k), compare);
	if (in->type == VALUE_NULL && k != NULL && k->take != constraint_exact)
		return fit_mend(f, "left out: is null");
	return k != NULL ? k->take(f, in, out) : take_unknown(f, in, out);
}

/* Write a tuple of older drafts as 2020-12 has it. */
static int
take_tuple(struct fit *f, const struct value *in, struct value *out)
{
	const struct value *items = value_get(in, "items"), *more;
	struct value renamed, *v;

	if (items == NULL || items->type != VALUE_ARRAY || items->count == 0)
		return 0;
	if (f->output)
		return fit_bad(f, "its items are a list");
	(void)fit_mend(f, "the list of items became prefixItems");
	renamed = *items;
	renamed.key = SPAN("prefixItems");
	if (take_list(f, &renamed, out) == -1)
		return -1;
	if ((more = value_get(in, "additionalItems")) == NULL ||
	    more->type == VALUE_NULL)
		return 0;
	if ((v = fit_schema(f, more)) == NULL)
		return -1;
	return fit_put(f, out, SPAN("items"), v);
}

/* Write a limit of draft 4 as later drafts have it. */
static int
take_limit(struct fit *f, const struct value *in, struct value *out,
    const char *limit, const char *exclusive)
{
	const struct value *v = value_get(in, limit), *ex;
	struct value *n;

	ex = value_get(in, exclusive);
	if (v == NULL || ex == NULL || ex->type != VALUE_TRUE)
		return 0;
	if ((n = constraint_number_of(f, v)) == NULL)
		return -1;
	return fit_put(f, out, span_str(exclusive), n);
}

/* Returns true if the schema that was rebuilt is for values of this type. */
static bool
is_for(const struct value *out, const char *type)
{
	const struct value *v = value_get(out, "type");

	if (v != NULL && v->type == VALUE_ARRAY)
		for (v = v->child; v != NULL && !span_is(v->text, type);)
			v = v->next;
	return v != NULL && v->type == VALUE_STRING && span_is(v->text, type);
}

/*
 * Add what some model providers want of an argument, and what says nothing: a
 * schema of the items of an array, and of each property that is required.
 */
static int
take_wanted(struct fit *f, struct value *out)
{
	struct value *props;
	const struct value *v = value_get(out, "required");

	if (is_for(out, "array") && value_get(out, "items") == NULL &&
	    value_get(out, "prefixItems") == NULL) {
		(void)fit_mend(f, "an array without items got \"items\": {}");
		return fit_put(
		    f, out, SPAN("items"), value_new(f->pool, VALUE_OBJECT));
	}
	if (!is_for(out, "object") || v == NULL || v->count > WANTED_MAX)
		return 0;
	props = (struct value *)(uintptr_t)value_get(out, "properties");
	for (v = v->child; v != NULL; v = v->next) {
		if (!root_is_argument(v->text) ||
		    (props != NULL && value_getspan(props, v->text) != NULL))
			continue;
		if (props == NULL &&
		    ((props = value_new(f->pool, VALUE_OBJECT)) == NULL ||
			fit_put(f, out, SPAN("properties"), props) == -1))
			return fit_bad(f, "is too large");
		(void)fit_mend(f, "what is required and not described got {}");
		if (fit_put(f, props, v->text,
			value_new(f->pool, VALUE_OBJECT)) == -1)
			return -1;
	}
	return 0;
}

static struct value *
rebuild(struct fit *f, const struct value *in)
{
	struct value *out = value_new(f->pool, VALUE_OBJECT);
	int r;

	if (out == NULL) {
		(void)fit_bad(f, "is too large");
		return NULL;
	}
	if (take_tuple(f, in, out) == -1 ||
	    take_limit(f, in, out, "maximum", "exclusiveMaximum") == -1 ||
	    take_limit(f, in, out, "minimum", "exclusiveMinimum") == -1)
		return NULL;
	for (const struct value *v = in->child; v != NULL; v = v->next) {
		fit_enter(f, v->key);
		r = take_keyword(f, v, out);
		fit_leave(f);
		if (r == -1)
			return NULL;
	}
	return f->output || take_wanted(f, out) == 0 ? out : NULL;
}

struct value *
fit_schema(struct fit *f, const struct value *in)
{
	switch (in->type) {
	case VALUE_OBJECT:
		return rebuild(f, in);
	case VALUE_TRUE:
	case VALUE_FALSE:
		return fit_alias(f, in);
	case VALUE_NULL:
		(void)fit_mend(f, "left out: is null");
		return NULL;
	case VALUE_ARRAY:
		if (in->count != 0)
			break;
		(void)fit_mend(f, "[] became {}");
		return value_new(f->pool, VALUE_OBJECT);
	case VALUE_NUMBER:
	case VALUE_STRING:
		break;
	}
	(void)fit_bad(f, "is %s, not a schema", value_type_name(in->type));
	return NULL;
}
