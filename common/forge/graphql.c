/* SPDX-License-Identifier: ISC */
/*
 * Reads a GraphQL request into a call tree. The document is gone through twice:
 * first its definitions are found, then the tree of the one operation is made,
 * in which a fragment stands where it was spread, and a value where its
 * variable was. What the operation does not use is not in the tree, nor is a
 * field that the table has as one that is not sent.
 */
#include "common/forge/graphql_reader.h"

#include "common/json/json.h"

/* Skip a group that begins here, with all groups within it. */
static int
skip_group(struct reader *r)
{
	unsigned depth = 0;

	do {
		if (graphql_is_kind(r, LEX_END))
			return graphql_fail(r, "a bracket is not closed");
		if (graphql_is(r, '{') || graphql_is(r, '(') ||
		    graphql_is(r, '['))
			depth++;
		else if (graphql_is(r, '}') || graphql_is(r, ')') ||
			 graphql_is(r, ']'))
			depth--;
		graphql_next(r);
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
		return graphql_fail(r, "there are too many fragments");
	graphql_next(r);
	*f = (struct fragment){0};
	if (graphql_name(r, &f->name) == -1 || graphql_name(r, &on) == -1 ||
	    graphql_name(r, &f->on) == -1)
		return -1;
	if (!span_is(on, "on") || span_is(f->name, "on") || !graphql_is(r, '{'))
		return graphql_fail(r, "a fragment is malformed");
	for (size_t i = 0; i < r->nfragments; i++) {
		if (span_eq(r->fragments[i].name, f->name))
			return graphql_fail(
			    r, "two fragments have the same name");
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
		return graphql_fail(r, "there is more than one operation");
	r->found = true;
	if (!graphql_is(r, '{')) {
		word = graphql_text(r);
		graphql_next(r);
		if (graphql_is_kind(r, LEX_NAME) &&
		    graphql_name(r, &r->operation) == -1)
			return -1;
	}
	r->mutation = span_is(word, "mutation");
	r->definitions = r->at;
	if (graphql_is(r, '(') && skip_group(r) == -1)
		return -1;
	r->body = r->at;
	if (!graphql_is(r, '{'))
		return graphql_fail(r, "\"{\" is missing");
	return skip_group(r);
}

static int
find_definitions(struct reader *r)
{
	while (!graphql_is_kind(r, LEX_END)) {
		struct span word = graphql_text(r);
		bool named = graphql_is_kind(r, LEX_NAME);

		if (named && span_is(word, "fragment")) {
			if (find_fragment(r) == -1)
				return -1;
		} else if (graphql_is(r, '{') ||
			   (named && (span_is(word, "query") ||
					 span_is(word, "mutation")))) {
			if (find_operation(r) == -1)
				return -1;
		} else if (named && span_is(word, "subscription")) {
			return graphql_fail(
			    r, "subscriptions are not permitted");
		} else {
			return graphql_fail(r, "neither an operation nor a "
					       "fragment begins here");
		}
	}
	if (!r->found)
		return graphql_fail(r, "there is no operation");
	return 0;
}

/* The second pass: selections. */

static int selections_read(struct reader *, const struct forge_type *,
    struct value *object, unsigned depth);

static struct value *
selection_new(struct reader *r)
{
	struct value *v;

	if (++r->fields > GRAPHQL_MAX_FIELDS || r->steps > GRAPHQL_MAX_STEPS) {
		graphql_fail(r,
		    "there are too many fields, with fragments put in "
		    "place");
		return NULL;
	}
	if ((v = value_new(r->pool, VALUE_OBJECT)) == NULL)
		graphql_fail(r, "the request is too large");
	return v;
}

static int
set(struct reader *r, struct value *object, struct span key, struct value *v)
{
	if (value_set(object, key, v) == -1)
		return graphql_fail(r, "the request is too large");
	return 0;
}

static int
args_read(struct reader *r, struct value *field)
{
	struct value *args;

	if (!graphql_is(r, '('))
		return 0;
	graphql_next(r);
	if (graphql_is(r, ')'))
		return graphql_fail(r, "\"()\" is empty");
	args = value_new(r->pool, VALUE_OBJECT);
	while (args != NULL && !graphql_is(r, ')')) {
		if (graphql_member(r, args, false, 0) == -1)
			return -1;
	}
	graphql_next(r);
	/* All of its variables may have had no value. */
	if (args != NULL && args->count == 0)
		return 0;
	return set(r, field, SPAN("args"), args);
}

/* Read a field of a type, which is NULL where the table has none. */
static int
field_read(struct reader *r, const struct forge_type *in, struct value *field,
    unsigned depth)
{
	const struct forge_edge *edge;
	struct span s;

	if (graphql_name(r, &s) == -1)
		return -1;
	if (graphql_is(r, ':')) {
		if (set(r, field, SPAN("alias"),
			value_new_string(r->pool, s)) == -1)
			return -1;
		graphql_next(r);
		if (graphql_name(r, &s) == -1)
			return -1;
	}
	if (set(r, field, SPAN("name"), value_new_string(r->pool, s)) == -1 ||
	    args_read(r, field) == -1)
		return -1;
	edge = in != NULL ? forge_edge_find(in, s) : NULL;
	return graphql_is(r, '{')
		   ? selections_read(
			 r, edge != NULL ? edge->to : NULL, field, depth)
		   : 0;
}

static int
spread_read(struct reader *r, const struct forge_type *in, struct value *part,
    unsigned depth)
{
	struct fragment *f = r->fragments;
	struct span s;
	uint32_t back;

	graphql_next(r);
	/* "... {": the type of the fragment is that of what it stands in. */
	if (graphql_is(r, '{'))
		return graphql_fail(r, "a fragment without a type is not "
				       "permitted");
	if (graphql_name(r, &s) == -1)
		return -1;
	if (span_is(s, "on")) {
		if (graphql_name(r, &s) == -1 ||
		    set(r, part, SPAN("on"), value_new_string(r->pool, s)) ==
			-1)
			return -1;
		return selections_read(
		    r, in != NULL ? forge_part_find(in, s) : NULL, part, depth);
	}
	while (f < &r->fragments[r->nfragments] && !span_eq(f->name, s))
		f++;
	if (f == &r->fragments[r->nfragments])
		return graphql_fail(r, "a fragment is not defined");
	if (f->open)
		return graphql_fail(r, "a fragment contains itself");
	if (set(r, part, SPAN("on"), value_new_string(r->pool, f->on)) == -1)
		return -1;
	f->open = f->used = true;
	back = r->at;
	r->at = f->body;
	if (selections_read(r, in != NULL ? forge_part_find(in, f->on) : NULL,
		part, depth) == -1)
		return -1;
	r->at = back;
	f->open = false;
	return 0;
}

/* Returns true if the field may be asked for, but is not sent. */
static bool
field_is_unsent(const struct forge_type *in, const struct value *v)
{
	const char *const *name = in->unsent;

	while (*name != NULL && !span_is(value_str(v, "name"), *name))
		name++;
	return *name != NULL && value_get(v, "args") == NULL &&
	       value_get(v, "select") == NULL;
}

static int
selections_read(struct reader *r, const struct forge_type *in,
    struct value *object, unsigned depth)
{
	struct value *list, *v;

	if (depth == GRAPHQL_MAX_DEPTH)
		return graphql_fail(r,
		    "fields are nested too deeply (20 levels at "
		    "most)");
	if (graphql_expect(r, '{') == -1)
		return -1;
	if (graphql_is(r, '}'))
		return graphql_fail(r, "\"{}\" is empty");
	if ((list = value_new(r->pool, VALUE_ARRAY)) == NULL)
		return graphql_fail(r, "the request is too large");
	while (!graphql_is(r, '}')) {
		if ((v = selection_new(r)) == NULL)
			return -1;
		if ((graphql_is_kind(r, LEX_SPREAD)
			    ? spread_read(r, in, v, depth + 1)
			    : field_read(r, in, v, depth + 1)) == -1)
			return -1;
		if (in != NULL && field_is_unsent(in, v))
			continue;
		if (value_append(list, v) == -1)
			return graphql_fail(r, "the request is too large");
	}
	if (list->count == 0)
		return graphql_fail(r, "nothing is asked for but what is never "
				       "sent, as the title of a linked issue");
	graphql_next(r);
	return set(r, object, SPAN("select"), list);
}

static const struct value *
document_read(struct reader *r)
{
	struct value *root;

	if (find_definitions(r) == -1)
		return NULL;
	r->at = r->definitions;
	if (graphql_variables(r) == -1)
		return NULL;
	r->at = r->body;
	if ((root = value_new(r->pool, VALUE_OBJECT)) == NULL ||
	    value_set(root, SPAN("call"),
		value_new_string(r->pool,
		    r->mutation ? SPAN("mutation") : SPAN("query"))) == -1) {
		graphql_fail(r, "the request is too large");
		return NULL;
	}
	if (selections_read(r, r->mutation ? NULL : r->query, root, 0) == -1)
		return NULL;
	for (size_t i = 0; i < r->nfragments; i++) {
		if (!r->fragments[i].used) {
			graphql_fail(r, "a fragment is not used");
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
forge_graphql_read(const struct forge_type *query_type, struct value_pool *pool,
    struct span body, struct forge_fail *fail)
{
	struct reader r = {.pool = pool, .fail = fail, .query = query_type};
	const struct value *v, *tree;
	struct span query;

	if ((v = forge_body_read(pool, body, fail)) == NULL ||
	    request_members(v, &query, &r.given, fail) == -1 ||
	    lex_read(pool, query, &r.lex, fail) == -1 ||
	    (tree = document_read(&r)) == NULL ||
	    operation_named(v, r.operation, fail) == -1)
		return NULL;
	return tree;
}
