/* SPDX-License-Identifier: ISC */
/*
 * Reads a GraphQL request into a call tree. The document is gone through twice:
 * first its definitions are found, then the tree of the one operation is made,
 * in which a fragment stands where it was spread, and a value where its
 * variable was. What the operation does not use is not in the tree.
 */
#include <errno.h>

#include "common/forge/forge_priv.h"
#include "common/forge/lex.h"
#include "common/json/json.h"

#define GRAPHQL_MAX_DEPTH 20U
#define GRAPHQL_MAX_FIELDS 2000U
#define GRAPHQL_MAX_VALUES 4000U /* in arguments and variables */
#define GRAPHQL_MAX_NESTED 12U   /* of a value */
#define GRAPHQL_MAX_FRAGMENTS 64U
#define GRAPHQL_MAX_VARIABLES 128U
#define GRAPHQL_MAX_STEPS 200000U /* words read, fragments put in place */

struct fragment {
	struct span name, on;
	uint32_t body; /* the token "{" */
	bool open;     /* being put in place */
	bool used;
};

struct variable {
	struct span name;
	const struct value *value; /* NULL: none was given */
};

struct reader {
	struct value_pool *pool;
	struct forge_fail *fail;
	struct lex lex;
	uint32_t at; /* the next token */
	uint32_t steps;
	struct fragment fragments[GRAPHQL_MAX_FRAGMENTS];
	size_t nfragments;
	struct variable variables[GRAPHQL_MAX_VARIABLES];
	size_t nvariables;
	const struct value *given; /* the JSON member `variables` */
	struct span operation;     /* its name */
	bool found, mutation;
	uint32_t definitions; /* the token "(", or the body */
	uint32_t body;
	unsigned fields, values;
};

static int
fail_at(struct reader *r, const char *why)
{
	return forge_refuse(r->fail, "at byte %u of the query: %s",
	    r->lex.tokens[r->at].at, why);
}

static struct span
text(const struct reader *r)
{
	return lex_text(&r->lex, &r->lex.tokens[r->at]);
}

static bool
is(const struct reader *r, char c)
{
	const struct lex_token *t = &r->lex.tokens[r->at];

	return t->kind == LEX_PUNCTUATOR && r->lex.text.p[t->at] == (uint8_t)c;
}

static bool
is_kind(const struct reader *r, enum lex_kind kind)
{
	return r->lex.tokens[r->at].kind == kind;
}

static void
next(struct reader *r)
{
	if (!is_kind(r, LEX_END))
		r->at++;
	r->steps++;
}

static int
expect(struct reader *r, char c)
{
	static const char *const names[] = {"\"(\" is missing",
	    "\")\" is missing", "\":\" is missing", "\"{\" is missing",
	    "\"$\" is missing", "\"]\" is missing"};
	static const char chars[] = "():{$]";

	if (!is(r, c))
		return fail_at(r, names[strchr(chars, c) - chars]);
	next(r);
	return 0;
}

static int
name(struct reader *r, struct span *out)
{
	if (!is_kind(r, LEX_NAME))
		return fail_at(r, "a name is missing");
	*out = text(r);
	if (out->len > 100)
		return fail_at(r, "a name is too long");
	next(r);
	return 0;
}

/* Skip a group that begins here, with all groups within it. */
static int
skip_group(struct reader *r)
{
	unsigned depth = 0;

	do {
		if (is_kind(r, LEX_END))
			return fail_at(r, "a bracket is not closed");
		if (is(r, '{') || is(r, '(') || is(r, '['))
			depth++;
		else if (is(r, '}') || is(r, ')') || is(r, ']'))
			depth--;
		next(r);
	} while (depth != 0);
	return 0;
}

/* The first pass: find the definitions. */

static int
find_fragment(struct reader *r)
{
	struct fragment *f = &r->fragments[r->nfragments];
	struct span on;

	if (r->nfragments == GRAPHQL_MAX_FRAGMENTS)
		return fail_at(r, "there are too many fragments");
	next(r);
	*f = (struct fragment){0};
	if (name(r, &f->name) == -1 || name(r, &on) == -1 ||
	    name(r, &f->on) == -1)
		return -1;
	if (!span_is(on, "on") || span_is(f->name, "on") || !is(r, '{'))
		return fail_at(r, "a fragment is malformed");
	for (size_t i = 0; i < r->nfragments; i++) {
		if (span_eq(r->fragments[i].name, f->name))
			return fail_at(r, "two fragments have the same name");
	}
	f->body = r->at;
	r->nfragments++;
	return skip_group(r);
}

static int
find_operation(struct reader *r)
{
	struct span word = SPAN("query");

	if (r->found)
		return fail_at(r, "there is more than one operation");
	r->found = true;
	if (!is(r, '{')) {
		word = text(r);
		next(r);
		if (is_kind(r, LEX_NAME) && name(r, &r->operation) == -1)
			return -1;
	}
	r->mutation = span_is(word, "mutation");
	r->definitions = r->at;
	if (is(r, '(') && skip_group(r) == -1)
		return -1;
	r->body = r->at;
	if (!is(r, '{'))
		return fail_at(r, "\"{\" is missing");
	return skip_group(r);
}

static int
find_definitions(struct reader *r)
{
	while (!is_kind(r, LEX_END)) {
		struct span word = text(r);
		bool named = is_kind(r, LEX_NAME);

		if (named && span_is(word, "fragment")) {
			if (find_fragment(r) == -1)
				return -1;
		} else if (is(r, '{') ||
			   (named && (span_is(word, "query") ||
					 span_is(word, "mutation")))) {
			if (find_operation(r) == -1)
				return -1;
		} else if (named && span_is(word, "subscription")) {
			return fail_at(r, "subscriptions are not permitted");
		} else {
			return fail_at(r, "neither an operation nor a "
					  "fragment begins here");
		}
	}
	if (!r->found)
		return fail_at(r, "there is no operation");
	return 0;
}

/* The second pass: values. */

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

	next(r);
	if (name(r, &s) == -1)
		return NULL;
	if ((v = variable_find(r, s)) == NULL) {
		fail_at(r, "a variable is not defined");
		return NULL;
	}
	if (v->value == NULL) {
		*none = true;
		return NULL;
	}
	r->values += count_values(v->value);
	if (r->values > GRAPHQL_MAX_VALUES ||
	    (copy = value_copy(r->pool, v->value)) == NULL) {
		fail_at(r, "there are too many values");
		return NULL;
	}
	return copy;
}

static int
list_read(struct reader *r, struct value *list, bool constant, unsigned depth)
{
	struct value *v;
	bool none;

	next(r);
	while (!is(r, ']')) {
		none = false;
		if (is(r, '$') && !constant) {
			v = variable_read(r, &none);
			if (none)
				v = value_new(r->pool, VALUE_NULL);
		} else {
			v = value_read(r, constant, depth + 1);
		}
		if (v == NULL)
			return -1;
		if (value_append(list, v) == -1)
			return fail_at(r, "there are too many values");
	}
	next(r);
	return 0;
}

/* Read `name: value` into an object. An absent variable leaves it out. */
static int
member_read(
    struct reader *r, struct value *object, bool constant, unsigned depth)
{
	struct value *v;
	struct span key;
	bool none = false;

	if (name(r, &key) == -1 || expect(r, ':') == -1)
		return -1;
	if (is(r, '$') && !constant)
		v = variable_read(r, &none);
	else
		v = value_read(r, constant, depth);
	if (v == NULL)
		return none ? 0 : -1;
	if (value_set(object, key, v) == -1)
		return fail_at(
		    r, errno == EEXIST
			   ? "a name stands twice in one list of values"
			   : "there are too many values");
	return 0;
}

static int
object_read(
    struct reader *r, struct value *object, bool constant, unsigned depth)
{
	next(r);
	while (!is(r, '}')) {
		if (member_read(r, object, constant, depth + 1) == -1)
			return -1;
	}
	next(r);
	return 0;
}

static struct value *
scalar_read(struct reader *r)
{
	const struct lex_token *t = &r->lex.tokens[r->at];
	struct value *v = NULL;
	struct span s = text(r);

	if (t->kind == LEX_STRING) {
		if (lex_string(r->pool, &r->lex, t, &s) == -1) {
			fail_at(r, "a string has an escape that is malformed");
			return NULL;
		}
		v = value_new_string(r->pool, s);
	} else if (t->kind == LEX_INT || t->kind == LEX_FLOAT) {
		if (s.len > VALUE_MAX_NUMBER) {
			fail_at(r, "a number is too long");
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
		fail_at(r, "a value is missing");
		return NULL;
	}
	next(r);
	if (v == NULL)
		fail_at(r, "the request is too large");
	return v;
}

/* Read a value that is not a variable itself. */
static struct value *
value_read(struct reader *r, bool constant, unsigned depth)
{
	struct value *v;

	if (depth > GRAPHQL_MAX_NESTED || ++r->values > GRAPHQL_MAX_VALUES) {
		fail_at(r, "values are nested too deeply, or too many");
		return NULL;
	}
	if (!is(r, '[') && !is(r, '{'))
		return scalar_read(r);
	if ((v = value_new(r->pool, is(r, '[') ? VALUE_ARRAY : VALUE_OBJECT)) ==
	    NULL) {
		fail_at(r, "the request is too large");
		return NULL;
	}
	if ((v->type == VALUE_ARRAY ? list_read(r, v, constant, depth)
				    : object_read(r, v, constant, depth)) == -1)
		return NULL;
	return v;
}

/* The second pass: variables. */

/* Read a type, of which only "!" at its end matters. */
static int
type_read(struct reader *r, unsigned depth, bool *required)
{
	struct span s;

	if (is(r, '[') && depth < 4) {
		next(r);
		if (type_read(r, depth + 1, required) == -1 ||
		    expect(r, ']') == -1)
			return -1;
	} else if (name(r, &s) == -1) {
		return -1;
	}
	*required = is(r, '!');
	if (*required)
		next(r);
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

	*v = (struct variable){0};
	if (r->nvariables == GRAPHQL_MAX_VARIABLES)
		return fail_at(r, "there are too many variables");
	if (expect(r, '$') == -1 || name(r, &v->name) == -1 ||
	    expect(r, ':') == -1 || type_read(r, 0, &required) == -1)
		return -1;
	if (variable_find(r, v->name) != NULL)
		return fail_at(r, "two variables have the same name");
	if (is(r, '=')) {
		next(r);
		if ((v->value = value_read(r, true, 0)) == NULL)
			return -1;
	}
	if (value_getspan(r->given, v->name) != NULL)
		v->value = value_getspan(r->given, v->name);
	if (v->value != NULL && too_deep(v->value, 0))
		return fail_at(r, "a variable is nested too deeply");
	if (required && (v->value == NULL || v->value->type == VALUE_NULL))
		return fail_at(r, "a variable that has to have a value has "
				  "none");
	r->nvariables++;
	return 0;
}

static int
variables_read(struct reader *r)
{
	if (!is(r, '('))
		return 0;
	next(r);
	if (is(r, ')'))
		return fail_at(r, "\"()\" is empty");
	while (!is(r, ')')) {
		if (variable_define(r) == -1)
			return -1;
	}
	next(r);
	return 0;
}

/* The second pass: selections. */

static int selections_read(
    struct reader *, struct value *object, unsigned depth);

static struct value *
selection_new(struct reader *r)
{
	struct value *v;

	if (++r->fields > GRAPHQL_MAX_FIELDS || r->steps > GRAPHQL_MAX_STEPS) {
		fail_at(r, "there are too many fields, with fragments put in "
			   "place");
		return NULL;
	}
	if ((v = value_new(r->pool, VALUE_OBJECT)) == NULL)
		fail_at(r, "the request is too large");
	return v;
}

static int
set(struct reader *r, struct value *object, struct span key, struct value *v)
{
	if (value_set(object, key, v) == -1)
		return fail_at(r, "the request is too large");
	return 0;
}

static int
args_read(struct reader *r, struct value *field)
{
	struct value *args;

	if (!is(r, '('))
		return 0;
	next(r);
	if (is(r, ')'))
		return fail_at(r, "\"()\" is empty");
	args = value_new(r->pool, VALUE_OBJECT);
	while (args != NULL && !is(r, ')')) {
		if (member_read(r, args, false, 0) == -1)
			return -1;
	}
	next(r);
	/* All of its variables may have had no value. */
	if (args != NULL && args->count == 0)
		return 0;
	return set(r, field, SPAN("args"), args);
}

static int
field_read(struct reader *r, struct value *field, unsigned depth)
{
	struct span s;

	if (name(r, &s) == -1)
		return -1;
	if (is(r, ':')) {
		if (set(r, field, SPAN("alias"),
			value_new_string(r->pool, s)) == -1)
			return -1;
		next(r);
		if (name(r, &s) == -1)
			return -1;
	}
	if (set(r, field, SPAN("name"), value_new_string(r->pool, s)) == -1 ||
	    args_read(r, field) == -1)
		return -1;
	return is(r, '{') ? selections_read(r, field, depth) : 0;
}

static int
spread_read(struct reader *r, struct value *part, unsigned depth)
{
	struct fragment *f = r->fragments;
	struct span s;
	uint32_t back;

	next(r);
	/* "... {": the type of the fragment is that of what it stands in. */
	if (is(r, '{'))
		return fail_at(r, "a fragment without a type is not "
				  "permitted");
	if (name(r, &s) == -1)
		return -1;
	if (span_is(s, "on")) {
		if (name(r, &s) == -1 ||
		    set(r, part, SPAN("on"), value_new_string(r->pool, s)) ==
			-1)
			return -1;
		return selections_read(r, part, depth);
	}
	while (f < &r->fragments[r->nfragments] && !span_eq(f->name, s))
		f++;
	if (f == &r->fragments[r->nfragments])
		return fail_at(r, "a fragment is not defined");
	if (f->open)
		return fail_at(r, "a fragment contains itself");
	if (set(r, part, SPAN("on"), value_new_string(r->pool, f->on)) == -1)
		return -1;
	f->open = f->used = true;
	back = r->at;
	r->at = f->body;
	if (selections_read(r, part, depth) == -1)
		return -1;
	r->at = back;
	f->open = false;
	return 0;
}

static int
selections_read(struct reader *r, struct value *object, unsigned depth)
{
	struct value *list, *v;

	if (depth == GRAPHQL_MAX_DEPTH)
		return fail_at(r, "fields are nested too deeply (20 levels at "
				  "most)");
	if (expect(r, '{') == -1)
		return -1;
	if (is(r, '}'))
		return fail_at(r, "\"{}\" is empty");
	if ((list = value_new(r->pool, VALUE_ARRAY)) == NULL)
		return fail_at(r, "the request is too large");
	while (!is(r, '}')) {
		if ((v = selection_new(r)) == NULL)
			return -1;
		if ((is_kind(r, LEX_SPREAD)
			    ? spread_read(r, v, depth + 1)
			    : field_read(r, v, depth + 1)) == -1)
			return -1;
		if (value_append(list, v) == -1)
			return fail_at(r, "the request is too large");
	}
	next(r);
	return set(r, object, SPAN("select"), list);
}

static const struct value *
document_read(struct reader *r)
{
	struct value *root;

	if (find_definitions(r) == -1)
		return NULL;
	r->at = r->definitions;
	if (variables_read(r) == -1)
		return NULL;
	r->at = r->body;
	if ((root = value_new(r->pool, VALUE_OBJECT)) == NULL ||
	    value_set(root, SPAN("call"),
		value_new_string(r->pool,
		    r->mutation ? SPAN("mutation") : SPAN("query"))) == -1) {
		fail_at(r, "the request is too large");
		return NULL;
	}
	if (selections_read(r, root, 0) == -1)
		return NULL;
	for (size_t i = 0; i < r->nfragments; i++) {
		if (!r->fragments[i].used) {
			fail_at(r, "a fragment is not used");
			return NULL;
		}
	}
	return root;
}

/* Check the members of the request. Returns 0 with its text, or -1. */
static int
request_members(const struct value *v, struct span *query,
    const struct value **variables, struct forge_fail *fail)
{
	char brief[FORGE_BRIEF];

	if (v->type != VALUE_OBJECT)
		return forge_refuse(fail,
		    "the body has to be an object; "
		    "several requests in one are not permitted");
	for (const struct value *m = v->child; m != NULL; m = m->next) {
		if (!span_is(m->key, "query") &&
		    !span_is(m->key, "variables") &&
		    !span_is(m->key, "operationName"))
			return forge_refuse(fail,
			    "the member \"%s\" of the "
			    "body is not permitted",
			    forge_brief(m->key, brief));
	}
	*query = value_str(v, "query");
	if (query->p == NULL)
		return forge_refuse(fail, "the body has no query");
	if (query->len > FORGE_MAX_QUERY_TEXT)
		return forge_refuse(fail,
		    "the query has %zu bytes (%u at "
		    "most)",
		    query->len, FORGE_MAX_QUERY_TEXT);
	*variables = value_get(v, "variables");
	if (*variables != NULL && (*variables)->type != VALUE_NULL &&
	    (*variables)->type != VALUE_OBJECT)
		return forge_refuse(fail, "\"variables\" has to be an object");
	return 0;
}

/* Check that the operation that is asked for is the one that is there. */
static int
operation_named(
    const struct value *v, struct span operation, struct forge_fail *fail)
{
	const struct value *name = value_get(v, "operationName");

	if (name == NULL || name->type == VALUE_NULL)
		return 0;
	if (name->type != VALUE_STRING ||
	    (name->text.len != 0 && !span_eq(name->text, operation)))
		return forge_refuse(fail, "\"operationName\" is not the name "
					  "of the operation");
	return 0;
}

const struct value *
forge_graphql_read(
    struct value_pool *pool, struct span body, struct forge_fail *fail)
{
	struct reader r = {.pool = pool, .fail = fail};
	const struct value *v, *tree;
	struct json_fail at;
	struct span query;

	if (body.len > FORGE_MAX_BODY) {
		forge_refuse(fail, "the body has %zu bytes (%u at most)",
		    body.len, FORGE_MAX_BODY);
		return NULL;
	}
	if ((v = json_read(pool, body, &at)) == NULL) {
		forge_refuse(fail, "the body is not JSON: %s at byte %zu",
		    json_strerror(at.error), at.at);
		return NULL;
	}
	if (request_members(v, &query, &r.given, fail) == -1 ||
	    lex_read(pool, query, &r.lex, fail) == -1 ||
	    (tree = document_read(&r)) == NULL ||
	    operation_named(v, r.operation, fail) == -1)
		return NULL;
	return tree;
}
