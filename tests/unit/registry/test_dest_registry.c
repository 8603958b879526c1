/* SPDX-License-Identifier: ISC */
/*
 * Files of destinations of the kind registry, and the requests that they
 * permit: by host and method, and never with a query.
 */
#include <stdio.h>

#include "mitmd/provider/dest.h"
#include "mitmd/registry/rules.h"
#include "tap.h"
#include "unit/provider/dest_files.h"

#define HEAD "{\"name\":\"r\",\"kind\":\"registry\","
#define HOSTS "\"hosts\":[\"i.test\",\"f.test\"]"

static const struct dest_file files[] = {
    {HEAD "\"registry\":\"npm\",\"host\":\"i.test\"}", NULL},
    {HEAD "\"registry\":\"pypi\"," HOSTS ",\"quarantineDays\":0,"
	  "\"allow\":[],\"deny\":[\"a*\",\"@b/*\"]}",
	NULL},
    {HEAD HOSTS "}", "registry"},
    {HEAD "\"registry\":\"cpan\"," HOSTS "}", "registry"},
    {HEAD "\"registry\":7," HOSTS "}", "registry"},
    {HEAD "\"registry\":\"npm\"}", "host"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"quarantineDays\":3651}",
	"quarantineDays"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"quarantineDays\":-1}",
	"quarantineDays"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"quarantineDays\":\"2\"}",
	"quarantineDays"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"allow\":\"a\"}", "allow"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"allow\":[1]}", "allow"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"deny\":[\"a b\"]}", "deny"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"deny\":[\"\"]}", "deny"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"deny\":[\"a\",\"a\"]}", "deny"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"maxBytes\":1}", "maxBytes"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"routes\":[]}", "routes"},
    {HEAD "\"registry\":\"npm\"," HOSTS ",\"credential\":{}}", "credential"},
};

static void
test_rules(void)
{
	struct provider *p = provider_parse(span_str(files[0].text), NULL, 0);

	ok(p->registry->registry == REGISTRY_NPM &&
		p->registry->days == REGISTRY_DFLT_DAYS &&
		p->registry->nallow == 0 && p->registry->ndeny == 0,
	    "what is not said: two days, no lists");
	provider_free(p);
	p = provider_parse(span_str(files[1].text), NULL, 0);
	ok(p->registry->registry == REGISTRY_PYPI && p->registry->days == 0 &&
		p->registry->ndeny == 2 &&
		span_is(p->registry->deny[1], "@b/*"),
	    "what is said");
	ok(p->nkinds == 0 && !provider_listed(&p->request, SPAN("range")) &&
		!provider_listed(&p->request, SPAN("cookie")) &&
		!provider_listed(&p->request, SPAN("authorization")) &&
		!provider_listed(&p->response, SPAN("etag")) &&
		!provider_listed(&p->response, SPAN("location")),
	    "headers: none that asks for a part, or leads elsewhere");
	provider_free(p);
}

#define FILE_PATH "/packages/a/b/c/x-1.0.tar.gz"

static const struct {
	unsigned host;
	const char *method, *path, *query; /* query is NULL if there is none */
	enum provider_result want;
	unsigned route;
} requests[] = {
    {0, "GET", "/simple/x/", NULL, PROVIDER_OK, 0},
    {0, "HEAD", "/simple/x/", NULL, PROVIDER_OK, 1},
    {0, "GET", FILE_PATH, NULL, PROVIDER_OK, 2},
    {1, "HEAD", FILE_PATH, NULL, PROVIDER_OK, 3},
    {1, "GET", "/simple/x/", NULL, PROVIDER_NO_ROUTE, 0},
    {0, "POST", "/simple/x/", NULL, PROVIDER_NO_METHOD, 0},
    {0, "PUT", FILE_PATH, NULL, PROVIDER_NO_METHOD, 0},
    {0, "get", "/simple/x/", NULL, PROVIDER_NO_METHOD, 0},
    {0, "GET", "/simple/x/", "a=b", PROVIDER_NO_PARAM, 0},
    {0, "GET", "/simple/x/", "", PROVIDER_NO_PARAM, 0},
    {0, "GET", "/simple/", NULL, PROVIDER_NO_ROUTE, 0},
    {0, "POST", "/legacy/", NULL, PROVIDER_NO_ROUTE, 0},
    {0, "GET", "", NULL, PROVIDER_BAD_PATH, 0},
    {0, "GET", "simple/x/", NULL, PROVIDER_BAD_PATH, 0},
};

static void
test_match(void)
{
	struct provider *p = provider_parse(span_str(files[1].text), NULL, 0);
	enum provider_result r;
	struct span query;
	unsigned route;

	for (size_t i = 0; i < nitems(requests); i++) {
		route = 99;
		query = requests[i].query == NULL ? span_of(NULL, 0)
						  : span_str(requests[i].query);
		r = provider_match(p, requests[i].host,
		    span_str(requests[i].method), span_str(requests[i].path),
		    query, &route);
		ok(r == requests[i].want &&
			route == (r == PROVIDER_OK ? requests[i].route : 99),
		    "%s %s%s%s, host %u", requests[i].method, requests[i].path,
		    query.p != NULL ? "?" : "",
		    query.p != NULL ? requests[i].query : "", requests[i].host);
		if (r != PROVIDER_OK)
			continue;
		for (unsigned k = 0; k < p->nroutes + 1; k++)
			is_int(provider_match_route(p, k, requests[i].host,
				   span_str(requests[i].path),
				   SPAN("")) == PROVIDER_OK,
			    k / 2 == route / 2 && k < p->nroutes,
			    "... keyd's check, as of route %u", k);
	}
	provider_free(p);
}

int
main(void)
{
	test_dest_files(files, nitems(files));
	test_rules();
	test_match();
	return tap_done();
}
