/* SPDX-License-Identifier: ISC */
/* Files of destinations, and the alphabet of their paths and queries. */
#include <stdio.h>

#include "mitmd/provider/dest.h"
#include "tap.h"
#include "unit/provider/dest_files.h"

static const char *const good_paths[] = {"/", "/a", "/a/", "/a/b.html",
    "/~u/x-1_2", "/a%20b", "/%C3%A9", "/@scope/x;v=1", "/a...", "/.well-known",
    "/a+b,c=d:e", "/%25"};
static const char *const bad_paths[] = {"", "a", "//", "/a//b", "/.", "/..",
    "/a/../b", "/a/./b", "/a/..", "/%2e%2e/a", "/%2E", "/a%2fb", "/a%2Fb",
    "/a%5cb", "/a\\b", "/a b", "/a%", "/a%2", "/a%zz", "/a%00", "/a%0d%0a",
    "/a%7f", "/a?b", "/a#b", "/a\"b", "/a<b", "/a\x80", "/a\r\n", "/a|b",
    "/a^b", "/a`b", "/{a}", "*", "http://x/"};
static const char *const good_queries[] = {"", "a=b", "a=b&c=d/e?f", "a%20b",
    "q=%C3%A9&x=1", "a=b;c"};
static const char *const bad_queries[] = {"a b", "a=%00", "a=%0a", "a=%2",
    "a#b", "a=\"", "a=<b>", "a\\b", "a=\x80"};

static void
test_alphabet(void)
{
	char longest[PROVIDER_MAX_PATH + 2];

	for (size_t i = 0; i < nitems(good_paths); i++)
		ok(dest_is_path(span_str(good_paths[i])), "path %s",
		    good_paths[i]);
	for (size_t i = 0; i < nitems(bad_paths); i++)
		ok(!dest_is_path(span_str(bad_paths[i])), "no path: row %zu",
		    i);
	for (size_t i = 0; i < sizeof(good_queries) / sizeof(char *); i++)
		ok(dest_is_query(span_str(good_queries[i])), "query %s",
		    good_queries[i]);
	for (size_t i = 0; i < sizeof(bad_queries) / sizeof(char *); i++)
		ok(!dest_is_query(span_str(bad_queries[i])),
		    "no query: row %zu", i);
	ok(!dest_is_path(span_of("/a\0b", 4)), "NUL in a path");
	ok(!dest_is_query(span_of("a\0b", 3)), "NUL in a query");
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	ok(dest_is_path(span_of(longest, PROVIDER_MAX_PATH)), "the longest");
	ok(!dest_is_path(span_of(longest, PROVIDER_MAX_PATH + 1)),
	    "one byte more");
}

#define MCP "{\"name\":\"m\",\"kind\":\"mcp\",\"hosts\":[\"a.test\"],"

static const struct dest_file files[] = {
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"a.test\"}", NULL},
    {"{\"name\":\"w\",\"kind\":\"web\",\"hosts\":[\"a.test\",\"b.test\"]}",
	NULL},
    {"{\"name\":\"w\",\"kind\":\"ftp\",\"host\":\"a.test\"}", "kind"},
    {"{\"name\":\"w\",\"kind\":1,\"host\":\"a.test\"}", "kind"},
    {"{\"name\":\"w\",\"kind\":\"web\"}", "host"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"a.test\",\"hosts\":"
     "[\"b.test\"]}",
	"host"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"hosts\":[]}", "hosts"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"hosts\":[\"a.test\",\"a.test\"]}",
	"repeated"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"hosts\":[\"a.test\",\"b.test\","
     "\"c.test\",\"d.test\",\"e.test\"]}",
	"hosts"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"127.0.0.1\"}", "host"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"a.test\",\"maxBytes\":0}",
	"maxBytes"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"a.test\",\"routes\":[]}",
	"routes"},
    {"{\"name\":\"w\",\"kind\":\"web\",\"host\":\"a.test\",\"credential\":{}}",
	"credential"},
    {MCP "\"path\":\"\",\"query\":\"\"}", NULL},
    {MCP "\"path\":\"/\",\"query\":\"a=b\"}", NULL},
    {MCP "\"path\":\"/x\",\"query\":\"\"}", "path"},
    {MCP "\"path\":\"\",\"query\":\"a b\"}", "query"},
    {MCP "\"path\":\"\"}", "query"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"x-team\":\"a\"}}", NULL},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"X-Team\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"mcp-session-id\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"mcp-method\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"content-length\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"content-type\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"accept\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"authorization\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"cookie\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"x-*\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"last-event-id\":\"a\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":{\"x-a\":\"b\\r\\nc: d\"}}",
	"headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"headers\":[]}", "headers"},
    {MCP "\"path\":\"\",\"query\":\"\",\"credential\":{\"env\":\"A\",\"name\":"
	 "\"authorization\",\"prefix\":\"Bearer \"}}",
	NULL},
    {MCP "\"path\":\"\",\"query\":\"\",\"credential\":{\"env\":\"A\",\"name\":"
	 "\"x-figma-token\",\"prefix\":\"\"}}",
	NULL},
    {MCP "\"path\":\"\",\"query\":\"\",\"credential\":{\"env\":\"A\",\"name\":"
	 "\"host\",\"prefix\":\"\"}}",
	"credential.name"},
    {MCP "\"path\":\"\",\"query\":\"\",\"credential\":{\"env\":\"A\",\"name\":"
	 "\"mcp-session-id\",\"prefix\":\"\"}}",
	"credential.name"},
    {MCP "\"path\":\"\",\"query\":\"\",\"credential\":{\"env\":\"A\",\"name\":"
	 "\"x-key\",\"prefix\":\"Bearer\"}}",
	"credential.prefix"},
    {MCP "\"path\":\"\",\"query\":\"\",\"routes\":[]}", "routes"},
};

static void
test_web(void)
{
	struct provider *p = provider_parse(
	    span_str(files[0].text), NULL, 0);
	struct span none = {NULL, 0};
	unsigned route = 9;

	is_int(provider_match(p, 0, SPAN("GET"), SPAN("/a"), none, &route),
	    PROVIDER_OK, "GET");
	is_int(route, 0, "its route");
	is_int(provider_match(p, 0, SPAN("HEAD"), SPAN("/"), SPAN("q=1"),
	    &route), PROVIDER_OK, "HEAD, with a query");
	is_int(route, 1, "its route");
	is_int(provider_match(p, 0, SPAN("POST"), SPAN("/a"), none, &route),
	    PROVIDER_NO_METHOD, "POST");
	is_int(provider_match(p, 0, SPAN("GET"), SPAN("/a/../b"), none,
	    &route), PROVIDER_BAD_PATH, "dots");
	is_int(provider_match(p, 0, SPAN("GET"), SPAN("/a"), SPAN("a b"),
	    &route), PROVIDER_BAD_QUERY, "query");
	is_int(provider_match_route(p, 0, 0, SPAN("/a"), SPAN("")),
	    PROVIDER_OK, "keyd's check agrees");
	is_int(provider_match_route(p, 2, 0, SPAN("/a"), SPAN("")),
	    PROVIDER_NO_ROUTE, "no such route");
	ok(!provider_listed(&p->request, SPAN("cookie")) &&
	    !provider_listed(&p->request, SPAN("authorization")),
	    "no cookie, no key");
	provider_free(p);
}

int
main(void)
{
	test_alphabet();
	test_dest_files(files, nitems(files));
	test_web();
	return tap_done();
}
