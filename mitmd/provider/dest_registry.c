/* SPDX-License-Identifier: ISC */
/*
 * A package registry to install from: GET and HEAD of packages' metadata and
 * files, with the paths of registry/path.h, and nothing else: no search,
 * logins, audits or publishing. The first host is the index; files may come
 * from any host. keyd decides which versions are visible (keyd/package.c), by
 * the lists and the number of days in this file.
 */
#include <stdio.h>

#include "provider/dest.h"
#include "registry/rules.h"

static const char *const registry_request[] = {"accept", "user-agent", NULL};
static const char *const registry_response[] = {
    "content-type", "last-modified", NULL};

/* The paths shown for routes 2n (GET) and 2n + 1 (HEAD). */
static const char *const registry_paths[] = {
    "/(metadata)", "/(package file)", "/(index)"};
_Static_assert(
    REGISTRY_METADATA == 0 && REGISTRY_ARTEFACT == 1 && REGISTRY_INDEX == 2,
    "rows of registry_paths");

static int
registry_parse_rules(struct parse *ps, const struct value *file)
{
	const struct value *days = value_get(file, "quarantineDays"),
			   *allow = value_get(file, "allow"),
			   *deny = value_get(file, "deny");
	struct registry_rules *r;
	struct span *globs;
	struct span name = value_str(file, "registry");
	int64_t n = REGISTRY_DFLT_DAYS;
	int which;

	if (name.p == NULL || (which = registry_find(name)) == -1)
		return parse_fail(
		    ps, "registry: must be npm, pypi, crates or debian");
	if (days != NULL && value_int(days, 0, REGISTRY_MAX_DAYS, &n) == -1)
		return parse_fail(
		    ps, "quarantineDays: must be 0 to %u", REGISTRY_MAX_DAYS);
	if ((r = parse_alloc(ps, 1, sizeof(*r))) == NULL)
		return -1;
	r->registry = (enum registry)which;
	r->days = (unsigned)n;
	if (allow != NULL) {
		if (parse_texts(ps, allow, "allow", registry_glob_ok,
			REGISTRY_MAX_GLOBS, true, &globs, &r->nallow) == -1)
			return -1;
		r->allow = globs;
	}
	if (deny != NULL) {
		if (parse_texts(ps, deny, "deny", registry_glob_ok,
			REGISTRY_MAX_GLOBS, true, &globs, &r->ndeny) == -1)
			return -1;
		r->deny = globs;
	}
	ps->p->registry = r;
	return 0;
}

static int
registry_parse(struct parse *ps, const struct value *file)
{
	static const char *const names[] = {"name", "kind", "registry", "host",
	    "hosts", "quarantineDays", "allow", "deny"};
	struct provider *p = ps->p;

	if (parse_members(ps, file, "file", names, 8, 3) == -1 ||
	    dest_parse_common(ps, file) == -1 ||
	    registry_parse_rules(ps, file) == -1 ||
	    dest_list(ps, registry_request, &p->request) == -1 ||
	    dest_list(ps, registry_response, &p->response) == -1)
		return -1;
	if ((p->routes = parse_alloc(ps, 6, sizeof(*p->routes))) == NULL)
		return -1;
	p->nroutes = 6;
	for (unsigned i = 0; i < p->nroutes; i++) {
		p->routes[i].method = i % 2 == 0 ? SPAN("GET") : SPAN("HEAD");
		p->routes[i].path = span_str(registry_paths[i / 2]);
	}
	return 0;
}

static enum provider_result
registry_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	enum registry r = p->registry->registry;
	struct registry_path at;

	if (path.len == 0 || path.len > PROVIDER_MAX_PATH || path.p[0] != '/')
		return PROVIDER_BAD_PATH;
	if (registry_path_parse(r, path, &at) == -1)
		return PROVIDER_NO_ROUTE;
	if (host != 0 && r != REGISTRY_DEBIAN && at.what != REGISTRY_ARTEFACT)
		return PROVIDER_NO_ROUTE;
	if (query.p != NULL)
		return PROVIDER_NO_PARAM;
	for (unsigned i = 0; i < 2; i++) {
		if (!span_eq(
			p->routes[2 * (unsigned)at.what + i].method, method))
			continue;
		*route = 2 * (unsigned)at.what + i;
		return PROVIDER_OK;
	}
	return PROVIDER_NO_METHOD;
}

const struct dest_kind dest_registry = {
    "registry", registry_parse, registry_match};
