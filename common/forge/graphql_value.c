/* SPDX-License-Identifier: ISC */
/*
 * Values and variables of GraphQL. A value is put where its variable stood, so
 * that a variable that nothing uses is nowhere in the tree.
 */
#include "common/forge/graphql_reader.h"

#include <errno.h>

static struct value *value_read(struct reader *, bool constant, unsigned depth);

static const struct variable *
variable_find(const struct reader *r, struct span name)
{
	for (size_t i = 0; i < r->nvariables; i++) {
		if (span_eq(r->variables[i].name, name))
			return &r->variables[i];
	}
	return NULL;
}

static unsigned
count_values(const struct value *v)
{
	unsigned n = 1;

	/* The reader of JSON has bounded the depth. */
	for (v = v->child; v != NULL; v = v->next)
		n += count_values(v);
	return n;
}

/*
 * Read the variable here. Returns its value's copy; NULL with `*none` if none
 * was given, or NULL.
 */
static struct value *
variable_read(struct reader *r, bool *none)
{
	const struct variable *v;
	struct value *copy;
	struct span s;

	graphql_next(r);
	if (graphql_name(r, &s) == -1)
		return NULL;
	if ((v = variable_find(r, s)) == NULL) {
		graphql_fail(r, "a variable is not defined");
		return NULL;
	}
	if (v->value == NULL) {
		*none = true;
		return NULL;
	}
	r->values += count_values(v->value);
	if (r->values > GRAPHQL_MAX_VALUES ||
	    (copy = value_copy(r->pool, v->value)) == NULL) {
		graphql_fail(r, "there are too many values");
		return NULL;
	}
	return copy;
}

static int
list_read(struct reader *r, struct value *list, bool constant, unsigned depth)
{
	struct value *v;
	bool none;

	graphql_next(r);
	while (!graphql_is(r, ']')) {
		none = false;
		if (graphql_is(r, '$') && !constant) {
			v = variable_read(r, &none);
			if (none)
				v = value_new(r->pool, VALUE_NULL);
		} else {
			v = value_read(r, constant, depth + 1);
		}
		if (v == NULL)
			return -1;
		if (value_append(list, v) == -1)
			return graphql_fail(r, "there are too many values");
	}
	graphql_next(r);
	return 0;
}

int
graphql_member(
    struct reader *r, struct value *object, bool constant, unsigned depth)
{
	struct value *v;
	struct span key;
	bool none = false;

	if (graphql_name(r, &key) == -1 || graphql_expect(r, ':') == -1)
		return -1;
	if (graphql_is(r, '$') && !constant)
		v = variable_read(r, &none);
	else
		v = value_read(r, constant, depth);
	if (v == NULL)
		return none ? 0 : -1;
	if (value_set(object, key, v) == -1)
		return graphql_fail(
		    r, errno == EEXIST
			   ? "a name stands twice in one list of values"
			   : "there are too many values");
	return 0;
}

static int
object_read(
    struct reader *r, struct value *object, bool constant, unsigned depth)
{
	graphql_next(r);
	while (!graphql_is(r, '}')) {
		if (graphql_member(r, object, constant, depth + 1) == -1)
			return -1;
	}
	graphql_next(r);
	return 0;
}

static struct value *
scalar_read(struct reader *r)
{
	const struct lex_token *t = &r->lex.tokens[r->at];
	struct value *v = NULL;
	struct span s = graphql_text(r);

	if (t->kind == LEX_STRING) {
		if (lex_string(r->pool, &r->lex, t, &s) == -1) {
			graphql_fail(
			    r, "a string has an escape that is malformed");
			return NULL;
		}
		v = value_new_string(r->pool, s);
	} else if (t->kind == LEX_INT || t->kind == LEX_FLOAT) {
		if (s.len > VALUE_MAX_NUMBER) {
			graphql_fail(r, "a number is too long");
			return NULL;
		}
		if ((v = value_new(r->pool, VALUE_NUMBER)) != NULL)
			v->text = s;
	} else if (t->kind == LEX_NAME) {
		if (span_is(s, "true"))
			v = value_new(r->pool, VALUE_TRUE);
		else if (span_is(s, "false"))
			v = value_new(r->pool, VALUE_FALSE);
		else if (span_is(s, "null"))
			v = value_new(r->pool, VALUE_NULL);
		else
			v = value_new_string(r->pool, s);
	} else {
		graphql_fail(r, "a value is missing");
		return NULL;
	}
	graphql_next(r);
	if (v == NULL)
		graphql_fail(r, "the request is too large");
	return v;
}

/* Read a value that is not a variable itself. */
static struct value *
value_read(struct reader *r, bool constant, unsigned depth)
{
	struct value *v;

	if (depth > GRAPHQL_MAX_NESTED || ++r->values > GRAPHQL_MAX_VALUES) {
		graphql_fail(r, "values are nested too deeply, or too many");
		return NULL;
	}
	if (!graphql_is(r, '[') && !graphql_is(r, '{'))
		return scalar_read(r);
	if ((v = value_new(r->pool,
		 graphql_is(r, '[') ? VALUE_ARRAY : VALUE_OBJECT)) == NULL) {
		graphql_fail(r, "the request is too large");
		return NULL;
	}
	if ((v->type == VALUE_ARRAY ? list_read(r, v, constant, depth)
				    : object_read(r, v, constant, depth)) == -1)
		return NULL;
	return v;
}

/* Variables. */

/* Read a type, of which only "!" at its end matters. */
static int
type_read(struct reader *r, unsigned depth, bool *required)
{
	struct span s;

	if (graphql_is(r, '[') && depth < 4) {
		graphql_next(r);
		if (type_read(r, depth + 1, required) == -1 ||
		    graphql_expect(r, ']') == -1)
			return -1;
	} else if (graphql_name(r, &s) == -1) {
		return -1;
	}
	*required = graphql_is(r, '!');
	if (*required)
		graphql_next(r);
	return 0;
}

static bool
too_deep(const struct value *v, unsigned depth)
{
	if (depth > GRAPHQL_MAX_NESTED)
		return true;
	for (v = v->child; v != NULL; v = v->next) {
		if (too_deep(v, depth + 1))
			return true;
	}
	return false;
}

static int
variable_define(struct reader *r)
{
	struct variable *v = &r->variables[r->nvariables];
	bool required = false;

	if (r->nvariables == GRAPHQL_MAX_VARIABLES)
		return graphql_fail(r, "there are too many variables");
	*v = (struct variable){0};
	if (graphql_expect(r, '$') == -1 || graphql_name(r, &v->name) == -1 ||
	    graphql_expect(r, ':') == -1 || type_read(r, 0, &required) == -1)
		return -1;
	if (variable_find(r, v->name) != NULL)
		return graphql_fail(r, "two variables have the same name");
	if (graphql_is(r, '=')) {
		graphql_next(r);
		if ((v->value = value_read(r, true, 0)) == NULL)
			return -1;
	}
	if (value_getspan(r->given, v->name) != NULL)
		v->value = value_getspan(r->given, v->name);
	if (v->value != NULL && too_deep(v->value, 0))
		return graphql_fail(r, "a variable is nested too deeply");
	if (required && (v->value == NULL || v->value->type == VALUE_NULL))
		return graphql_fail(r,
		    "a variable that has to have a value has "
		    "none");
	r->nvariables++;
	return 0;
}

int
graphql_variables(struct reader *r)
{
	if (!graphql_is(r, '('))
		return 0;
	graphql_next(r);
	if (graphql_is(r, ')'))
		return graphql_fail(r, "\"()\" is empty");
	while (!graphql_is(r, ')')) {
		if (variable_define(r) == -1)
			return -1;
	}
	graphql_next(r);
	return 0;
}
