/* SPDX-License-Identifier: ISC */
/*
 * The root of an inputSchema.  MCP wants an object with the type "object", and
 * model providers refuse a whole request for one tool with alternatives at its
 * root, or with a property of another name than theirs.  What says less than
 * before is taken by the server all the same, which checks its own arguments.
 */
#include "define/fit.h"

#define ROOT_HOPS 8U      /* references that may follow one another */
#define ROOT_MERGED 256U  /* properties that are joined */
#define ROOT_BRANCHES 64U /* alternatives of one keyword */
#define ROOT_NAME 64U     /* bytes of the name of a property */

struct root {
	struct fit *f;
	struct value *out;               /* the new root */
	struct value *made[ROOT_MERGED]; /* lists of schemas that are ours */
	unsigned nmade;
};

/* Take the member out of the object. */
static void
cut(struct value *object, const char *name)
{
	struct value **at = &object->child, *before = NULL;

	for (; *at != NULL; at = &(*at)->next) {
		if (span_is((*at)->key, name)) {
			*at = (*at)->next;
			object->count--;
			if (*at == NULL)
				object->last = before;
			return;
		}
		before = *at;
	}
}

/* Returns the member, which is not const here: it is a copy of ours. */
static struct value *
own(struct value *object, const char *name)
{
	return (struct value *)(uintptr_t)value_get(object, name);
}

static int
set_alias(struct fit *f, struct value *out, const struct value *v)
{
	return fit_put(f, out, v->key, fit_alias(f, v));
}

/* Returns an object with copies of the members. */
static struct value *
shallow(struct fit *f, const struct value *in)
{
	struct value *out = value_new(f->pool, VALUE_OBJECT);

	if (out == NULL)
		(void)fit_bad(f, "is too large");
	for (const struct value *v = in->child; out != NULL && v != NULL;
	     v = v->next)
		if (set_alias(f, out, v) == -1)
			return NULL;
	return out;
}

/* Replace a reference at the root by what it leads to. */
static struct value *
inline_ref(struct fit *f, const struct value *in)
{
	struct value *out = shallow(f, in);
	const struct value *to;
	struct span ref;

	for (unsigned i = 0; out != NULL; i++) {
		if ((ref = value_str(out, "$ref")).p == NULL)
			return out;
		if (i == ROOT_HOPS) {
			(void)fit_bad(f, "refers to itself");
			return NULL;
		}
		if ((to = ref_find(f, ref)) == NULL)
			return NULL;
		cut(out, "$ref");
		for (to = to->child; to != NULL; to = to->next)
			if (set_alias(f, out, to) == -1)
				return NULL;
		(void)fit_mend(f, "its $ref became what it leads to");
	}
	return NULL;
}

/* Returns true if the type is "object", or a list that has it. */
static bool
may_be_object(const struct value *type)
{
	if (type == NULL || type->type == VALUE_NULL)
		return true;
	if (type->type == VALUE_STRING)
		return span_ieq(type->text, SPAN("object"));
	if (type->type != VALUE_ARRAY)
		return false;
	for (const struct value *v = type->child; v != NULL; v = v->next)
		if (v->type == VALUE_STRING &&
		    span_ieq(v->text, SPAN("object")))
			return true;
	return false;
}

static int
root_type(struct fit *f, struct value *out)
{
	const struct value *type = value_get(out, "type");

	if (type != NULL && type->type == VALUE_STRING &&
	    span_is(type->text, "object"))
		return 0;
	if (!may_be_object(type))
		return fit_bad(f, "its type is not \"object\"");
	fit_enter(f, SPAN("type"));
	(void)fit_mend(f, "became \"object\"");
	fit_leave(f);
	cut(out, "type");
	return fit_put(f, out, SPAN("type"), fit_string(f, "object"));
}

/* Returns the properties of the root, which are made if there are none. */
static struct value *
properties(struct root *r)
{
	struct value *v = own(r->out, "properties");

	if (v != NULL && v->type == VALUE_OBJECT && v->count != 0) {
		/* Its members are shared with the definition. */
		if ((v = shallow(r->f, v)) == NULL)
			return NULL;
	} else if (v == NULL || v->type == VALUE_NULL || v->count == 0) {
		v = value_new(r->f->pool, VALUE_OBJECT);
	} else {
		(void)fit_bad(r->f, "its properties are no object");
		return NULL;
	}
	cut(r->out, "properties");
	return fit_put(r->f, r->out, SPAN("properties"), v) == 0 ? v : NULL;
}

/* Make a property what it is, or `also`, or both if `all`. */
static int
join(struct root *r, struct value *had, const struct value *also, bool all)
{
	struct value *list = NULL, *object;

	for (unsigned i = 0; i < r->nmade; i++)
		if (had->child != NULL && had->child == r->made[i])
			list = r->made[i];
	if (list == NULL) {
		if (r->nmade == ROOT_MERGED)
			return fit_bad(r->f, "has too many alternatives at "
					     "its root");
		list = value_new(r->f->pool, VALUE_ARRAY);
		if (fit_append(r->f, list, fit_alias(r->f, had)) == -1)
			return -1;
		object = value_new(r->f->pool, VALUE_OBJECT);
		if (fit_put(r->f, object, all ? SPAN("allOf") : SPAN("anyOf"),
			list) == -1)
			return -1;
		object->key = had->key;
		object->next = had->next;
		*had = *object;
		r->made[r->nmade++] = list;
	}
	for (const struct value *v = list->child; v != NULL; v = v->next)
		if (value_eq(v, also))
			return 0;
	return fit_append(r->f, list, fit_alias(r->f, also));
}

static int
merge_properties(struct root *r, const struct value *of, bool all)
{
	struct value *props = own(r->out, "properties");
	const struct value *v = value_get(of, "properties");
	struct value *had;

	if (v == NULL || v->type != VALUE_OBJECT)
		return 0;
	for (v = v->child; v != NULL; v = v->next) {
		had = (struct value *)(uintptr_t)value_getspan(props, v->key);
		if (had == NULL) {
			if (set_alias(r->f, props, v) == -1)
				return -1;
		} else if (!value_eq(had, v) && join(r, had, v, all) == -1) {
			return -1;
		}
	}
	return 0;
}

/* Returns true if the schema requires the name. */
static bool requires(const struct value *of, struct span name)
{
	const struct value *v = value_get(of, "required");

	if (v == NULL || v->type != VALUE_ARRAY)
		return false;
	for (v = v->child; v != NULL; v = v->next)
		if (v->type == VALUE_STRING && span_eq(v->text, name))
			return true;
	return false;
}

/* Require what one of the branches requires, or all of them. */
static int
merge_required(
    struct root *r, const struct value *const list[], unsigned n, bool all)
{
	struct value *req = value_new(r->f->pool, VALUE_ARRAY);
	const struct value *v = value_get(r->out, "required");
	unsigned in, i;

	for (v = v != NULL && v->type == VALUE_ARRAY ? v->child : NULL;
	     v != NULL; v = v->next)
		if (fit_append(r->f, req, fit_alias(r->f, v)) == -1)
			return -1;
	for (i = 0; i < (all ? n : 1); i++) {
		v = value_get(list[i], "required");
		v = v != NULL && v->type == VALUE_ARRAY ? v->child : NULL;
		for (; v != NULL; v = v->next) {
			for (in = 0; in < n && requires(list[in], v->text);)
				in++;
			if (v->type != VALUE_STRING || (!all && in != n) ||
			    requires(r->out, v->text))
				continue;
			if (fit_append(r->f, req, fit_alias(r->f, v)) == -1)
				return -1;
		}
	}
	cut(r->out, "required");
	return req == NULL || req->count == 0
		   ? 0
		   : fit_put(r->f, r->out, SPAN("required"), req);
}

/* Read the branches that are objects into `list`. Returns their number, or -1.
 */
static int
branches(struct root *r, const struct value *of,
    const struct value *list[ROOT_BRANCHES])
{
	const struct value *v, *to;
	struct span ref;
	int n = 0;

	for (v = of->child; v != NULL; v = v->next) {
		to = v;
		for (unsigned i = 0; (ref = value_str(to, "$ref")).p != NULL;
		     i++)
			if (i == ROOT_HOPS ||
			    (to = ref_find(r->f, ref)) == NULL)
				return fit_bad(r->f, "refers to itself");
		if (to->type == VALUE_TRUE)
			continue;
		if (to->type != VALUE_OBJECT)
			return fit_bad(r->f, "has an alternative that is no "
					     "object");
		if (!may_be_object(value_get(to, "type")))
			continue;
		if (n == ROOT_BRANCHES)
			return fit_bad(r->f, "has more than %u alternatives",
			    ROOT_BRANCHES);
		list[n++] = to;
	}
	return n;
}

/* Join the branches of one keyword with the root. */
static int
merge(struct root *r, const char *keyword)
{
	const struct value *of = value_get(r->out, keyword);
	const struct value *list[ROOT_BRANCHES];
	int n = 0, rv = 0;
	bool all, had = value_get(r->out, "properties") != NULL;

	if (of == NULL || of->type == VALUE_NULL)
		return 0;
	fit_enter(r->f, span_str(keyword));
	if (of->type != VALUE_ARRAY)
		rv = fit_bad(r->f, "is no list");
	else if ((n = branches(r, of, list)) == -1 || properties(r) == NULL)
		rv = -1;
	if (rv == 0) {
		all = strcmp(keyword, "allOf") == 0 || n == 1;
		for (int i = 0; i < n && rv == 0; i++)
			rv = merge_properties(r, list[i], all);
		if (rv == 0 && n != 0)
			rv = merge_required(r, list, (unsigned)n, all);
		(void)fit_mend(
		    r->f, "joined with the root: model providers refuse it");
	}
	fit_leave(r->f);
	cut(r->out, keyword);
	/* An object without any property would mean something else. */
	if (!had && rv == 0 && own(r->out, "properties")->count == 0)
		cut(r->out, "properties");
	return rv;
}

bool
root_is_argument(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '-' && c != '.')
			return false;
	}
	return name.len != 0 && name.len <= ROOT_NAME;
}

/* Check the names of the properties of the root. */
static int
names(struct fit *f, const struct value *out)
{
	const struct value *v = value_get(out, "properties");

	if (v == NULL || v->type != VALUE_OBJECT)
		return 0;
	for (v = v->child; v != NULL; v = v->next) {
		if (root_is_argument(v->key))
			continue;
		fit_enter(f, v->key);
		(void)fit_bad(f,
		    "model providers take arguments with names "
		    "of 1 to %u letters, digits, _, - and .",
		    ROOT_NAME);
		fit_leave(f);
		fit_leave(f);
		return -1;
	}
	return 0;
}

const struct value *
root_input(struct fit *f, const struct value *in)
{
	static const char *const keywords[] = {"allOf", "anyOf", "oneOf"};
	struct root r = {.f = f};

	if (in->type == VALUE_NULL || in->type == VALUE_TRUE ||
	    (in->type == VALUE_ARRAY && in->count == 0)) {
		(void)fit_mend(f, "became {\"type\":\"object\"}");
		in = value_new(f->pool, VALUE_OBJECT);
	}
	if (in == NULL || in->type != VALUE_OBJECT) {
		(void)fit_bad(f, "is %s, not an object",
		    in == NULL ? "too large" : value_type_name(in->type));
		return NULL;
	}
	if ((r.out = inline_ref(f, in)) == NULL || root_type(f, r.out) == -1)
		return NULL;
	for (size_t i = 0; i < nitems(keywords); i++)
		if (merge(&r, keywords[i]) == -1)
			return NULL;
	if (value_get(r.out, "enum") != NULL ||
	    value_get(r.out, "const") != NULL) {
		(void)fit_bad(f, "is a list of constants, which model "
				 "providers refuse");
		return NULL;
	}
	if (value_get(r.out, "not") != NULL) {
		(void)fit_mend(f, "its \"not\" is left out: model providers "
				  "refuse it");
		cut(r.out, "not");
	}
	return names(f, r.out) == -1 ? NULL : r.out;
}
