/* SPDX-License-Identifier: ISC */
/*
 * The parts of a refusal that depend on the provider: the list of routes, the
 * status of a route, and the form in which its clients read errors.
 */
#include "mitmd.h"

#include <stdio.h>
#include <string.h>

/* Write "Allowed: POST /v1/messages, ...", cut if it grows too long. */
static const char *
deny_routes(const struct provider *p, char *dst, size_t cap)
{
	size_t len = 0;
	int n;

	dst[0] = '\0';
	for (unsigned i = 0; i < p->nroutes; i++) {
		if (p->routes[i].answer != 0)
			continue;
		n = snprintf(dst + len, cap - len, "%s%.*s %.*s",
		    len == 0 ? "Allowed: " : ", ", (int)p->routes[i].method.len,
		    (const char *)p->routes[i].method.p,
		    (int)p->routes[i].path.len,
		    (const char *)p->routes[i].path.p);
		if (n < 0 || (size_t)n >= cap - len - 8) {
			snprintf(dst + len, cap - len, ", ...");
			break;
		}
		len += (size_t)n;
	}
	return dst;
}

/* "api.example.com: the provider cannot be reached." */
static const char *
deny_host(const struct exchange *x, const char *detail, char *dst, size_t cap)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;
	struct span host = p->hosts[x->a->host];
	size_t n = strlen(detail);

	snprintf(dst, cap, "%.*s: %s%s", (int)host.len, (const char *)host.p,
	    detail, n != 0 && detail[n - 1] == '.' ? "" : ".");
	return dst;
}

const char *
deny_detail(const struct exchange *x, enum refusal no, const char *detail,
    char *dst, size_t cap)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	if (no == REFUSE_REPOSITORY)
		return provider_git_why(p, x->req.path, x->req.query, dst, cap);
	if (no == REFUSE_FORGE && x->req.why != NULL) {
		snprintf(dst, cap,
		    "%.*s: %s.", (int)p->name.len,
		    (const char *)p->name.p, x->req.why);
		return dst;
	}
	if (no == REFUSE_PROVIDER && detail != NULL)
		return deny_host(x, detail, dst, cap);
	if (no == REFUSE_ENDPOINT || no == REFUSE_METHOD)
		return deny_routes(p, dst, cap);
	if (no == REFUSE_REACH_KEPT && x->req.why != NULL) {
		snprintf(dst, cap,
		    "%s: send the whole input itself, or the user may set "
		    "filter.store for this provider in config.json. Do not "
		    "retry.",
		    x->req.why);
		return dst;
	}
	if (no == REFUSE_MALFORMED || no == REFUSE_HEADERS ||
	    no == REFUSE_JSON || no == REFUSE_PUSH)
		return refuse_why(x->req.why, dst, cap);
	return detail;
}

unsigned
deny_status(const struct exchange *x, enum refusal no)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	/* Clients of GraphQL print errors of an answer that came. */
	if (deny_form(x) == REFUSE_AS_GRAPHQL && !refuse_retries(
		refuse_text(no)->status))
		return 200;
	return no == REFUSE_OFFERED ? p->routes[x->req.route].answer : 0;
}

enum refuse_form
deny_form(const struct exchange *x)
{
	const struct provider *p = mitmd_env.providers[x->a->provider].p;

	if (p->forge != NULL)
		return p->routes[x->req.route].call &&
			       span_is(p->routes[x->req.route].path, "/graphql")
			   ? REFUSE_AS_GRAPHQL
			   : REFUSE_AS_LFS;
	/* git-lfs, beside git, reads JSON. */
	if (p->git != NULL && x->req.path.p != NULL &&
	    memmem(x->req.path.p, x->req.path.len, "/info/lfs/", 10) != NULL)
		return REFUSE_AS_LFS;
	if (p->plain)
		return REFUSE_AS_TEXT;
	return p->alphabet == PROVIDER_BEDROCK ? REFUSE_AS_AWS : REFUSE_AS_JSON;
}
