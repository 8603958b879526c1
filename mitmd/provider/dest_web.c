/* SPDX-License-Identifier: ISC */
/*
 * A web site to read: GET and HEAD of any path, no body, no cookie, no
 * credential, and answers of limited size. Redirects are passed on to the
 * agent; their target must be allowed as well.
 */
#include <stdio.h>

#include "provider/dest.h"

#define WEB_REPLY (32LL << 20)

static const char *const web_request[] = {"accept", "accept-language",
    "if-match", "if-modified-since", "if-none-match", "if-range",
    "if-unmodified-since", "range", "user-agent", NULL};
static const char *const web_response[] = {"accept-ranges", "age",
    "cache-control", "content-disposition", "content-language", "content-range",
    "content-type", "date", "etag", "expires", "last-modified", "location",
    "retry-after", "vary", NULL};

static int
web_parse(struct parse *ps, const struct value *file)
{
	static const char *const names[] = {
	    "name", "kind", "host", "hosts", "maxBytes"};
	const struct value *max = value_get(file, "maxBytes");
	struct provider *p = ps->p;
	int64_t n = WEB_REPLY;

	if (parse_members(ps, file, "file", names, 5, 2) == -1 ||
	    dest_parse_common(ps, file) == -1 ||
	    dest_list(ps, web_request, &p->request) == -1 ||
	    dest_list(ps, web_response, &p->response) == -1)
		return -1;
	if (max != NULL &&
	    value_int(max, 1, (int64_t)PROVIDER_MAX_REPLY, &n) == -1)
		return parse_fail(
		    ps, "maxBytes: must be 1 to %llu", PROVIDER_MAX_REPLY);
	if ((p->routes = parse_alloc(ps, 2, sizeof(*p->routes))) == NULL)
		return -1;
	p->nroutes = 2;
	p->routes[0].method = SPAN("GET");
	p->routes[1].method = SPAN("HEAD");
	for (unsigned i = 0; i < 2; i++) {
		p->routes[i].path = SPAN("/");
		p->routes[i].reply = (uint64_t)n;
	}
	return 0;
}

static enum provider_result
web_match(const struct provider *p, unsigned host, struct span method,
    struct span path, struct span query, unsigned *route)
{
	if (!dest_is_path(path))
		return PROVIDER_BAD_PATH;
	if (query.p != NULL && !dest_is_query(query))
		return PROVIDER_BAD_QUERY;
	for (unsigned i = 0; i < p->nroutes; i++) {
		if (!span_eq(p->routes[i].method, method))
			continue;
		*route = i;
		return PROVIDER_OK;
	}
	return PROVIDER_NO_METHOD;
}

const struct dest_kind dest_web = {"web", web_parse, web_match};
