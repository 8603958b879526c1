/* SPDX-License-Identifier: ISC */
/*
 * The API of a forge: reading, and changes that a person approves one by one,
 * in the listed repositories. common/forge says what each request is. A request
 * without a body is checked completely here, by mitmd and by keyd; any other is
 * handed to policyd as a tree (mitmd/forge.c), and keyd sends only the body
 * whose digest came back. keyd adds the credential; the sandbox has a
 * placeholder.
 * {"name": ..., "kind": "forge", "forge": "github", "hosts": [...],
 *  "repositories": ["owner/name"], "read": ..., "write": ..., "run": ...,
 *  "merge": ..., "release": ..., "classic": ..., "credential": {...}}
 */
#include "provider/forge.h"

#include "common/forge/grant.h"
#include "provider/dest.h"

#define FORGE_POOL (2U << 20)
#define FORGE_REPLY (256ULL << 20)

static const char *const forge_request[] = {"accept", "content-type",
    "graphql-features", "if-modified-since", "if-none-match", "user-agent",
    "x-github-api-version", NULL};
static const char *const forge_response[] = {"cache-control",
    "content-disposition", "content-language", "content-type", "date", "etag",
    "last-modified", "link", "retry-after", "ratelimit-limit",
    "ratelimit-remaining", "ratelimit-reset", "x-accepted-oauth-scopes",
    "x-github-media-type", "x-github-request-id", "x-next-page",
    "x-oauth-scopes", "x-page", "x-per-page", "x-prev-page",
    "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset",
    "x-ratelimit-resource", "x-ratelimit-used", "x-total", "x-total-count",
    "x-total-pages", NULL};

static int
forge_routes(struct parse *ps, const struct forge_grant *g)
{
	static struct span types[] = {{(const uint8_t *)"application/json", 16},
	    {(const uint8_t *)"application/x-www-form-urlencoded", 33}};
	static const char *const methods[FORGE_ROUTES] = {
	    [FORGE_ROUTE_READ] = "GET",
	    [FORGE_ROUTE_FOLLOW] = "GET",
	    [FORGE_ROUTE_GRAPHQL] = "POST",
	    [FORGE_ROUTE_POST] = "POST",
	    [FORGE_ROUTE_PATCH] = "PATCH",
	    [FORGE_ROUTE_PUT] = "PUT",
	    [FORGE_ROUTE_DELETE] = "DELETE"};
	struct provider *p = ps->p;
	struct provider_route *r;

	if ((p->routes = parse_alloc(ps, FORGE_ROUTES, sizeof(*r))) == NULL)
		return -1;
	p->nroutes = FORGE_ROUTES;
	for (unsigned i = 0; i < FORGE_ROUTES; i++) {
		r = &p->routes[i];
		r->method = span_str(methods[i]);
		r->path = i == FORGE_ROUTE_GRAPHQL ? SPAN("/graphql")
						   : SPAN("/REPOSITORY");
		r->reply = FORGE_REPLY;
		r->stay = true;
		/* policyd shows what a read asks for from its tree, too. */
		r->ask = r->call = g->word[FORGE_READ] == FORGE_ASK;
		if (i <= FORGE_ROUTE_FOLLOW)
			continue;
		r->types = types;
		r->ntypes = 1;
		r->max = FORGE_MAX_BODY;
		r->ask = r->call = true;
	}
	return 0;
}

/* Returns the pool's copy of the settings, or NULL after reporting. */
static const struct forge_grant *
forge_grant_parse(struct parse *ps, const struct value *file)
{
	struct forge_settings *s;
	struct forge_fail fail;

	if ((s = parse_alloc(ps, 1, sizeof(*s))) == NULL)
		return NULL;
	if (forge_settings_read(ps->p->pool, file, s, &fail) == -1) {
		parse_fail(ps, "%s", fail.why);
		return NULL;
	}
	return &s->grant;
}

static int
forge_parse(struct parse *ps, const struct value *file)
{
	static const char *const names[] = {"name", "kind", "forge", "hosts",
	    "repositories", "credential", "read", "write", "run", "merge",
	    "release", "classic"};
	struct provider *p = ps->p;

	if (parse_members(ps, file, "file", names, nitems(names), 5) == -1 ||
	    dest_parse_common(ps, file) == -1 ||
	    (p->forge = forge_grant_parse(ps, file)) == NULL ||
	    dest_list(ps, forge_request, &p->request) == -1 ||
	    dest_list(ps, forge_response, &p->response) == -1)
		return -1;
	return forge_routes(ps, p->forge);
}

int
forge_checked_make(struct forge_checked *c, const struct provider *p,
    struct span method, struct span target, struct span body,
    struct forge_fail *fail)
{
	const struct value *tree;

	forge_request_init(&c->out);
	(void)strlcpy(fail->why, "there is no memory for this request",
	    sizeof(fail->why));
	if ((c->pool = value_pool_new(FORGE_POOL)) == NULL ||
	    (tree = forge_request_read(
		 p->forge, c->pool, method, target, body, fail)) == NULL ||
	    forge_check(p->forge, tree, &c->call, fail) == -1)
		return -1;
	if (forge_compose(&c->call, &c->out) == 0)
		return 0;
	(void)strlcpy(fail->why, "the request is larger than one may be",
	    sizeof(fail->why));
	return -1;
}

void
forge_checked_free(struct forge_checked *c)
{
	forge_request_free(&c->out);
	value_pool_free(c->pool);
	c->pool = NULL;
}

/* Write path and query as they stand in a request. Returns false if too long.
 */
static bool
forge_target(struct span path, struct span query, struct buf *b)
{
	buf_addspan(b, path);
	if (query.p != NULL) {
		buf_addc(b, '?');
		buf_addspan(b, query);
	}
	return !b->failed;
}

/*
 * Check a request without a body. It must be spelled as it would be composed,
 * so that nothing but what was checked is sent.
 */
static enum provider_result
forge_match_read(const struct provider *p, struct span method,
    struct span target, unsigned *route)
{
	enum provider_result r = PROVIDER_NO_ROUTE;
	struct forge_checked c;
	struct forge_fail fail;

	if (forge_checked_make(
		&c, p, method, target, span_of(NULL, 0), &fail) == 0 &&
	    c.call.class == FORGE_READ && c.call.nrefs == 0 &&
	    p->forge->word[FORGE_READ] != FORGE_DENY) {
		*route = c.call.follow ? FORGE_ROUTE_FOLLOW : FORGE_ROUTE_READ;
		if (span_is(method, c.out.method) && c.out.body.len == 0 &&
		    span_eq(buf_span(&c.out.target), target))
			r = PROVIDER_OK;
	}
	forge_checked_free(&c);
	return r;
}

static enum provider_result
forge_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	enum provider_result r = PROVIDER_NO_METHOD;
	struct buf target;

	if (path.len == 0 || path.p[0] != '/')
		return PROVIDER_BAD_PATH;
	buf_init(&target, FORGE_MAX_TARGET);
	if (!forge_target(path, query, &target)) {
		buf_free(&target);
		return PROVIDER_BAD_QUERY;
	}
	if (!forge_needs_body(method))
		r = forge_match_read(p, method, buf_span(&target), route);
	for (unsigned i = FORGE_ROUTE_GRAPHQL;
	     r == PROVIDER_NO_METHOD && i < FORGE_ROUTES; i++) {
		if (!span_eq(p->routes[i].method, method) ||
		    (i == FORGE_ROUTE_GRAPHQL) !=
			forge_is_graphql(p->forge, buf_span(&target)))
			continue;
		*route = i;
		r = PROVIDER_OK;
	}
	buf_free(&target);
	return r;
}

const struct dest_kind dest_forge = {"forge", forge_parse, forge_match};
