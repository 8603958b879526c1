/* SPDX-License-Identifier: ISC */
/*
 * Keywords of JSON Schema 2020-12 whose values are no schemas: types, names,
 * numbers, texts.  The values come from an MCP server.  A constraint with a
 * type that gives it no meaning ends the check; an annotation is left out.
 */
#include "define/fit.h"

#include "common/json/json.h"
#include "common/log.h"
#include "define/pattern.h"

#define REQUIRED_MAX 1000U

int
constraint_check_pattern(struct fit *f, struct span text)
{
	const char *why;

	if (fit_plain(f, text) == -1)
		return -1;
	if ((why = pattern_check(text, f->output)) != NULL)
		return fit_bad(f, "the pattern %s", why);
	return 0;
}

int
constraint_pattern(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_STRING)
		return fit_wrong(f, in, "a string");
	if (constraint_check_pattern(f, in->text) == -1)
		return -1;
	return fit_keep_alias(f, out, in);
}

/* Returns true if the array has that string. */
static bool
has_string(const struct value *array, struct span text)
{
	for (const struct value *v = array->child; v != NULL; v = v->next)
		if (span_eq(v->text, text))
			return true;
	return false;
}

/* Names of members, each once. */
int
constraint_names(struct fit *f, const struct value *in, struct value *out)
{
	struct value *list = value_new(f->pool, VALUE_ARRAY);
	const struct value *v;

	if (list == NULL)
		return fit_bad(f, "is too large");
	if (in->type == VALUE_STRING) {
		(void)fit_mend(f, "the string became a list");
		if (fit_plain(f, in->text) == -1 ||
		    fit_append(f, list, fit_alias(f, in)) == -1)
			return -1;
		return fit_keep(f, out, in, list);
	}
	if (in->type != VALUE_ARRAY)
		return fit_wrong(f, in, "a list of strings");
	if (in->count > REQUIRED_MAX)
		return fit_bad(f, "has more than %u names", REQUIRED_MAX);
	for (v = in->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING)
			return fit_bad(f, "has %s among its names",
			    value_type_name(v->type));
		if (fit_plain(f, v->text) == -1)
			return -1;
		if (has_string(list, v->text))
			(void)fit_mend(f, "a repeated name was removed");
		else if (fit_append(f, list, fit_alias(f, v)) == -1)
			return -1;
	}
	return fit_keep(f, out, in, list);
}

int
constraint_required(struct fit *f, const struct value *in, struct value *out)
{
	/* A boolean is draft 3's, and {} is no list of names. */
	if (in->type == VALUE_TRUE || in->type == VALUE_FALSE ||
	    (in->type == VALUE_OBJECT && in->count == 0))
		return fit_drop(f, in);
	return constraint_names(f, in, out);
}

static const char *const types[] = {
    "array", "boolean", "integer", "null", "number", "object", "string"};

/* Returns the name of the type as JSON Schema spells it, or NULL. */
static const char *
type_name(struct span text)
{
	for (size_t i = 0; i < nitems(types); i++)
		if (span_ieq(text, span_str(types[i])))
			return types[i];
	return NULL;
}

/* Returns the type as a value, or NULL with the reason. */
static struct value *
one_type(struct fit *f, const struct value *in)
{
	const char *name;
	char shown[40];

	if (in->type != VALUE_STRING) {
		(void)fit_wrong(f, in, "the name of a type");
		return NULL;
	}
	if ((name = type_name(in->text)) == NULL) {
		(void)fit_bad(f, "is \"%s\", which is no type of JSON",
		    log_vis(in->text, shown, sizeof(shown)));
		return NULL;
	}
	if (!span_is(in->text, name))
		(void)fit_mend(f, "became \"%s\"", name);
	return fit_string(f, name);
}

int
constraint_type(struct fit *f, const struct value *in, struct value *out)
{
	struct value *list, *one;
	const struct value *v;

	if (in->type == VALUE_STRING && span_is(in->text, "any"))
		return fit_mend(f, "left out: \"any\" is no type of JSON");
	if (in->type != VALUE_ARRAY)
		return fit_keep(f, out, in, one_type(f, in));
	if (in->count == 0)
		return fit_bad(f, "is an empty list");
	list = value_new(f->pool, VALUE_ARRAY);
	for (v = in->child; list != NULL && v != NULL; v = v->next) {
		if ((one = one_type(f, v)) == NULL)
			return -1;
		if (has_string(list, one->text))
			(void)fit_mend(f, "a repeated type was removed");
		else if (fit_append(f, list, one) == -1)
			return -1;
	}
	return fit_keep(f, out, in, list);
}

int
constraint_enum(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_ARRAY)
		return fit_wrong(f, in, "a list");
	if (in->count == 0)
		return fit_mend(f, "left out: is empty");
	return fit_keep(f, out, in, fit_exact(f, in));
}

int
constraint_exact(struct fit *f, const struct value *in, struct value *out)
{
	return fit_keep(f, out, in, fit_exact(f, in));
}

int
constraint_examples(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_ARRAY)
		return fit_drop(f, in);
	return fit_keep(f, out, in, fit_words(f, in));
}

/* Returns the number, also if it is written as a string, or NULL. */
struct value *
constraint_number_of(struct fit *f, const struct value *in)
{
	const struct value *n;

	if (in->type == VALUE_NUMBER)
		return fit_alias(f, in);
	if (in->type == VALUE_STRING && in->text.len <= VALUE_MAX_NUMBER &&
	    (n = json_read(f->pool, in->text, NULL)) != NULL &&
	    n->type == VALUE_NUMBER) {
		(void)fit_mend(f, "the string became a number");
		return fit_alias(f, n);
	}
	(void)fit_wrong(f, in, "a number");
	return NULL;
}

int
constraint_number(struct fit *f, const struct value *in, struct value *out)
{
	return fit_keep(f, out, in, constraint_number_of(f, in));
}

/* Returns true if a digit of the number before its exponent is not 0. */
static bool
is_positive(struct span n)
{
	if (n.p[0] == '-')
		return false;
	for (size_t i = 0; i < n.len && n.p[i] != 'e' && n.p[i] != 'E'; i++)
		if (n.p[i] >= '1' && n.p[i] <= '9')
			return true;
	return false;
}

int
constraint_step(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v = constraint_number_of(f, in);

	if (v != NULL && !is_positive(v->text))
		return fit_bad(f, "is not greater than 0");
	return fit_keep(f, out, in, v);
}

/* A limit that is excluded: of draft 4 a boolean about the limit beside it. */
int
constraint_exclusive(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type == VALUE_FALSE)
		return fit_mend(f, "left out: is false");
	if (in->type == VALUE_TRUE)
		return fit_mend(f, "true became the limit itself");
	return constraint_number(f, in, out);
}

int
constraint_count(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v = constraint_number_of(f, in);

	if (v != NULL) {
		size_t dot = 0;

		while (dot < v->text.len && v->text.p[dot] != '.')
			dot++;
		for (size_t i = dot + 1; i < v->text.len; i++)
			if (v->text.p[i] != '0')
				return fit_bad(f, "is not a whole number");
		if (v->text.p[0] == '-' ||
		    memchr(v->text.p, 'e', v->text.len) != NULL ||
		    memchr(v->text.p, 'E', v->text.len) != NULL)
			return fit_bad(f, "is not a plain count");
	}
	return fit_keep(f, out, in, v);
}

int
constraint_flag(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v = fit_alias(f, in);
	bool set = in->type == VALUE_STRING && span_is(in->text, "true");

	if (v != NULL && in->type == VALUE_STRING &&
	    (set || span_is(in->text, "false"))) {
		v->type = set ? VALUE_TRUE : VALUE_FALSE;
		v->text = span_of(NULL, 0);
		(void)fit_mend(f, "the string became a boolean");
	} else if (in->type != VALUE_TRUE && in->type != VALUE_FALSE) {
		return fit_wrong(f, in, "a boolean");
	}
	return fit_keep(f, out, in, v);
}

int
constraint_hint(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_TRUE && in->type != VALUE_FALSE)
		return fit_drop(f, in);
	return fit_keep_alias(f, out, in);
}

int
constraint_text(struct fit *f, const struct value *in, struct value *out)
{
	struct value *v;

	if (in->type != VALUE_STRING)
		return fit_drop(f, in);
	if ((v = fit_alias(f, in)) == NULL)
		return -1;
	v->text = fit_text(f, in->text);
	return fit_keep(f, out, in, v);
}

/* A word that programs read, and that changes nothing if it is not there. */
int
constraint_word(struct fit *f, const struct value *in, struct value *out)
{
	if (in->type != VALUE_STRING)
		return fit_drop(f, in);
	if (fit_plain(f, in->text) == -1)
		return -1;
	return fit_keep_alias(f, out, in);
}
