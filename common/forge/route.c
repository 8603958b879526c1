/* SPDX-License-Identifier: ISC */
/*
 * Requests of REST. mitmd finds the route of a request and makes its tree;
 * policyd checks a tree, which may be hostile, against the route that it names;
 * both compose the request from the tree and the route.
 */
#include "common/forge/forge_priv.h"

#include <errno.h>

#include "common/json/json.h"

#define ROUTE_POOL (64U << 10)

/*
 * Read a part of a path, and the one after it for an owner. Returns the number
 * of parts read, or 0 if they do not fit.
 */
static size_t
part_read(const struct forge_grant *grant, const struct forge_part *part,
    const struct forge_target *t, size_t n, struct span *value)
{
	uint8_t joined[FORGE_MAX_REPOSITORY + 1];
	struct span s = t->parts[n];
	size_t len;

	*value = s;
	switch (part->kind) {
	case FORGE_PART_WORD:
		return span_is(s, part->name);
	case FORGE_PART_NUMBER:
		return forge_digits_valid(s);
	case FORGE_PART_TEXT:
		return forge_text_valid(s, 255);
	case FORGE_PART_REF:
		return forge_ref_valid(s);
	case FORGE_PART_SUFFIX:
		len = strlen(part->suffix);
		if (s.len <= len ||
		    memcmp(s.p + s.len - len, part->suffix, len) != 0)
			return 0;
		*value = span_of(s.p, s.len - len);
		return forge_digits_valid(*value);
	case FORGE_PART_PROJECT:
		*value = forge_repository_find(grant, s);
		return forge_repository_valid(grant->kind, s);
	case FORGE_PART_OWNER:
		if (n + 1 == t->nparts ||
		    s.len + t->parts[n + 1].len >= sizeof(joined))
			return 0;
		memcpy(joined, s.p, s.len);
		joined[s.len] = '/';
		memcpy(
		    joined + s.len + 1, t->parts[n + 1].p, t->parts[n + 1].len);
		*value = span_of(joined, s.len + 1 + t->parts[n + 1].len);
		if (!forge_repository_valid(grant->kind, *value))
			return 0;
		*value = forge_repository_find(grant, *value);
		return 2;
	case FORGE_PART_REST:
		return t->nparts - n;
	case FORGE_PART_REPO:
		break;
	}
	return 0;
}

/*
 * Match a target with the parts of a route. Values are stored for all parts
 * that are no words, if `path` is not NULL. `*foreign` tells that only the
 * repository was not on the list.
 */
static bool
route_matches(const struct forge_grant *grant, struct value_pool *pool,
    const struct forge_route *r, const struct forge_target *t,
    struct value *path, bool *foreign)
{
	const struct forge_part *part = r->parts;
	struct span value;
	size_t n = 0, took;

	for (; part->name != NULL && n < t->nparts; part++, n += took) {
		if ((took = part_read(grant, part, t, n, &value)) == 0)
			return false;
		if (part->kind == FORGE_PART_OWNER)
			part++;
		if (value.p == NULL)
			*foreign = true;
		if (path == NULL || part->kind == FORGE_PART_WORD)
			continue;
		if (part->kind == FORGE_PART_REST) {
			struct value *rest = value_new(pool, VALUE_ARRAY);

			if (value_set(path, span_str(part->name), rest) == -1)
				return false;
			for (size_t i = n; i < t->nparts; i++) {
				if (value_append(rest, value_new_string(pool,
							   t->parts[i])) == -1)
					return false;
			}
		} else if (value_set(path, span_str(part->name),
			       value_new_string(pool, value)) == -1) {
			return false;
		}
	}
	return part->name == NULL && n == t->nparts;
}

static const struct forge_route *
route_find(const struct forge_grant *grant, struct span method,
    const struct forge_target *t, bool *foreign)
{
	const struct forge_route *r = forge_table(grant->kind)->routes;

	for (; r->name != NULL; r++) {
		*foreign = false;
		if (span_is(method, r->method) &&
		    route_matches(grant, NULL, r, t, NULL, foreign))
			return r;
	}
	return NULL;
}

/* Set the members of the query that the route has. */
static int
query_read(struct value_pool *pool, const struct forge_route *r,
    const struct forge_target *t, struct value *query, struct forge_fail *fail)
{
	char brief[FORGE_BRIEF];

	for (size_t i = 0; i < t->nquery; i++) {
		struct span name = t->query[i].name;

		if (forge_member_find(r->query, name) == NULL)
			return forge_refuse(fail,
			    "the query member \"%s\" is "
			    "not permitted here",
			    forge_brief(name, brief));
		if (value_set(query, name,
			value_new_string(pool, t->query[i].value)) == -1)
			return forge_refuse(fail, "the query has \"%s\" twice",
			    forge_brief(name, brief));
	}
	return 0;
}

static const struct value *
body_read(struct value_pool *pool, const struct forge_route *r,
    struct span body, struct forge_fail *fail)
{
	const struct value *v;

	if (r->body == NULL) {
		forge_refuse(fail, "%s takes no body here", r->method);
		return NULL;
	}
	if ((v = forge_body_read(pool, body, fail)) == NULL)
		return NULL;
	if (v->type != VALUE_OBJECT) {
		forge_refuse(fail, "the body has to be an object");
		return NULL;
	}
	return v;
}

/* Say why there is no route to a target. */
static void
no_route(const struct forge_grant *grant, struct span method,
    const struct forge_target *t, struct forge_fail *fail)
{
	char brief[FORGE_BRIEF];
	const char *why;

	why = forge_never_why(forge_table(grant->kind), method, t);
	if (why != NULL)
		forge_refuse(fail,
		    "not permitted, whatever the settings: %s; "
		    "do not try again",
		    why);
	else
		forge_refuse(fail,
		    "%s of this address is not on the list of "
		    "what is permitted; do not try again",
		    forge_brief(method, brief));
}

const struct value *
forge_rest_read(const struct forge_grant *grant, struct value_pool *pool,
    struct span method, struct span target, struct span body,
    struct forge_fail *fail)
{
	struct forge_target t UNCLEARED;
	const struct forge_route *r;
	struct value *root, *path, *query;
	const struct value *v = NULL;
	bool foreign = false;

	if (forge_target_read(grant, pool, target, &t, fail) == -1)
		return NULL;
	if (forge_never_why(forge_table(grant->kind), method, &t) != NULL ||
	    (r = route_find(grant, method, &t, &foreign)) == NULL) {
		no_route(grant, method, &t, fail);
		return NULL;
	}
	if (foreign) {
		forge_refuse(fail, "the repository is not on the list of this "
				   "destination; do not try again");
		return NULL;
	}
	if (body.len != 0 && (v = body_read(pool, r, body, fail)) == NULL)
		return NULL;
	root = value_new(pool, VALUE_OBJECT);
	path = value_new(pool, VALUE_OBJECT);
	query = value_new(pool, VALUE_OBJECT);
	if (root == NULL || path == NULL || query == NULL ||
	    !route_matches(grant, pool, r, &t, path, &foreign))
		goto full;
	if (query_read(pool, r, &t, query, fail) == -1)
		return NULL;
	if (value_set(root, SPAN("call"),
		value_new_string(pool, SPAN("rest"))) == -1 ||
	    value_set(root, SPAN("method"),
		value_new_string(pool, span_str(r->method))) == -1 ||
	    value_set(root, SPAN("path"), path) == -1 ||
	    value_set(root, SPAN("query"), query) == -1 ||
	    value_set(root, SPAN("route"),
		value_new_string(pool, span_str(r->name))) == -1)
		goto full;
	/* A copy: the reader's value has no room for another name. */
	if (v != NULL &&
	    value_set(root, SPAN("body"), value_copy(pool, v)) == -1)
		goto full;
	return root;
full:
	forge_refuse(fail, "the request is too large");
	return NULL;
}

bool
forge_cuts(const struct forge_grant *grant, struct span method,
    struct span target, struct forge_call *call)
{
	struct value_pool *pool;
	struct forge_target t UNCLEARED;
	struct forge_fail fail;
	bool foreign;

	*call = (struct forge_call){.grant = grant};
	/* GraphQL has no field that leads to such a member. */
	if (forge_is_graphql(grant, target))
		return false;
	if ((pool = value_pool_new(ROUTE_POOL)) == NULL)
		return true;
	if (forge_target_read(grant, pool, target, &t, &fail) == 0)
		call->route = route_find(grant, method, &t, &foreign);
	value_pool_free(pool);
	/* An unknown answer is cut. */
	call->cut =
	    call->route == NULL ||
	    (call->route->flags & (FORGE_ROUTE_CUT | FORGE_ROUTE_KEEP)) != 0;
	return call->cut;
}
