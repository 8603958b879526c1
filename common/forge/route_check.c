/* SPDX-License-Identifier: ISC */
/*
 * Checks the tree of a REST request, which may be hostile, and composes the
 * request. Everything that is sent comes from the tree, and each of its members
 * was found in the route.
 */
#include "common/forge/forge_priv.h"

#include <errno.h>

#include "common/json/json.h"

static const struct forge_route *
route_named(
    const struct forge_table *table, struct span name, struct span method)
{
	const struct forge_route *r = table->routes;

	for (; r->name != NULL; r++) {
		if (span_is(name, r->name) && span_is(method, r->method))
			return r;
	}
	return NULL;
}

/* Returns the number of members that a path has to have. */
static uint32_t
path_members(const struct forge_route *r)
{
	const struct forge_part *part = r->parts;
	uint32_t n = 0;

	for (; part->name != NULL; part++)
		n += part->kind != FORGE_PART_WORD &&
		     part->kind != FORGE_PART_OWNER;
	return n;
}

static bool
rest_valid(const struct value *v)
{
	if (v == NULL || v->type != VALUE_ARRAY || v->count == 0 ||
	    v->count > FORGE_MAX_PARTS)
		return false;
	for (v = v->child; v != NULL; v = v->next) {
		if (v->type != VALUE_STRING || !forge_text_valid(v->text, 1024))
			return false;
	}
	return true;
}

static bool
part_valid(struct forge_call *call, const struct forge_part *part)
{
	const struct value *path = value_get(call->tree, "path");
	struct span s = value_str(path, part->name);

	switch (part->kind) {
	case FORGE_PART_WORD:
	case FORGE_PART_OWNER:
		return true;
	case FORGE_PART_REPO:
	case FORGE_PART_PROJECT:
		if (s.p == NULL)
			return false;
		call->repository = forge_repository_find(call->grant, s);
		return call->repository.p != NULL;
	case FORGE_PART_NUMBER:
	case FORGE_PART_SUFFIX:
		return s.p != NULL && forge_digits_valid(s);
	case FORGE_PART_TEXT:
		return s.p != NULL && forge_text_valid(s, 255);
	case FORGE_PART_REF:
		return s.p != NULL && forge_ref_valid(s);
	case FORGE_PART_REST:
		return rest_valid(value_get(path, part->name));
	}
	return false;
}

static enum forge_ref_kind
ref_kind(uint32_t is)
{
	if (is & FORGE_IS_RUN)
		return FORGE_REF_RUN;
	if (is & FORGE_IS_JOB)
		return FORGE_REF_JOB;
	if (is & FORGE_IS_RELEASE)
		return FORGE_REF_RELEASE;
	if (is & FORGE_IS_COMMENT)
		return FORGE_REF_COMMENT;
	if (is & FORGE_IS_PROJECT)
		return FORGE_REF_PROJECT;
	return FORGE_REF_NUMBER;
}

/* Check the parts of the path and gather those that refer to a thing. */
static int
path_check(struct forge_call *call, struct forge_fail *fail)
{
	const struct forge_route *r = call->route;
	const struct value *path = value_get(call->tree, "path");
	const struct forge_member *m;
	struct forge_ref ref;

	if (path == NULL || path->type != VALUE_OBJECT ||
	    path->count != path_members(r))
		return forge_refuse(fail, "the path of the tree does not fit "
					  "its route");
	for (const struct forge_part *p = r->parts; p->name != NULL; p++) {
		if (!part_valid(call, p))
			return forge_refuse(fail,
			    "the %s in the path is not "
			    "permitted",
			    p->name);
	}
	for (m = r->path; m->name != NULL; m++) {
		ref = (struct forge_ref){.kind = ref_kind(m->is),
		    .is = m->is,
		    .id = value_str(path, m->name),
		    .repository = call->repository,
		    .role = m->name};
		if (forge_ref_add(call, &ref, fail) == -1)
			return -1;
	}
	return 0;
}

/* A query has no null, unlike a body. */
static bool
query_valid(const struct value *query)
{
	if (query == NULL || query->type != VALUE_OBJECT)
		return false;
	for (query = query->child; query != NULL; query = query->next) {
		if (query->type != VALUE_STRING)
			return false;
	}
	return true;
}

int
forge_rest_check(struct forge_call *call, struct forge_fail *fail)
{
	const struct value *tree = call->tree, *body, *query;

	call->route = route_named(forge_table(call->grant->kind),
	    value_str(tree, "route"), value_str(tree, "method"));
	body = value_get(tree, "body");
	query = value_get(tree, "query");
	if (call->route == NULL || tree->count != 5 + (body != NULL) ||
	    !query_valid(query) ||
	    (body != NULL &&
		(call->route->body == NULL || body->type != VALUE_OBJECT)))
		return forge_refuse(fail, "the tree fits no route");
	call->class = call->route->class;
	call->follow = (call->route->flags & FORGE_ROUTE_FOLLOW) != 0;
	call->cut =
	    (call->route->flags & (FORGE_ROUTE_CUT | FORGE_ROUTE_KEEP)) != 0;
	if (path_check(call, fail) == -1 ||
	    forge_members_check(
		call, call->route->query, query, "the query", fail) == -1)
		return -1;
	if (call->route->body == NULL)
		return 0;
	return forge_members_check(
	    call, call->route->body, body, "the body", fail);
}

static void
compose_path(const struct forge_call *call, struct buf *b)
{
	const struct value *path = value_get(call->tree, "path"), *v;
	const struct forge_part *p = call->route->parts;
	const uint8_t *slash;
	struct span s;

	buf_adds(b, forge_prefix(call->grant));
	if (p->name == NULL)
		buf_addc(b, '/');
	for (; p->name != NULL; p++) {
		s = value_str(path, p->name);
		if (p->kind == FORGE_PART_OWNER)
			continue;
		buf_addc(b, '/');
		if (p->kind == FORGE_PART_WORD) {
			buf_adds(b, p->name);
		} else if (p->kind == FORGE_PART_REPO) {
			s = call->repository;
			slash = memchr(s.p, '/', s.len);
			forge_target_put(
			    b, span_of(s.p, (size_t)(slash - s.p)));
			buf_addc(b, '/');
			forge_target_put(
			    b, span_of(slash + 1,
				   s.len - (size_t)(slash + 1 - s.p)));
		} else if (p->kind == FORGE_PART_PROJECT) {
			forge_target_put(b, call->repository);
		} else if (p->kind == FORGE_PART_REST) {
			v = value_get(path, p->name)->child;
			for (; v != NULL; v = v->next) {
				forge_target_put(b, v->text);
				if (v->next != NULL)
					buf_addc(b, '/');
			}
		} else {
			forge_target_put(b, s);
			if (p->kind == FORGE_PART_SUFFIX)
				buf_adds(b, p->suffix);
		}
	}
}

int
forge_rest_compose(const struct forge_call *call, struct forge_request *out)
{
	const struct value *body = value_get(call->tree, "body"), *v;
	uint8_t sep = '?';

	out->method = call->route->method;
	compose_path(call, &out->target);
	v = value_get(call->tree, "query")->child;
	for (; v != NULL; v = v->next) {
		buf_addc(&out->target, sep);
		forge_target_put(&out->target, v->key);
		buf_addc(&out->target, '=');
		forge_target_put(&out->target, v->text);
		sep = '&';
	}
	if (body != NULL && json_write(&out->body, body) == -1)
		return -1;
	if (buf_check(&out->target) == -1 || buf_check(&out->body) == -1) {
		errno = ENOBUFS;
		return -1;
	}
	return 0;
}
