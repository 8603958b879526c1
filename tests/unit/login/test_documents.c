/* SPDX-License-Identifier: ISC */
/*
 * Texts of servers on the way to a login, as a table: documents, challenges,
 * addresses and callbacks, most of them hostile, each with the words that a
 * person reads of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/challenge.h"
#include "common/http/https_url.h"
#include "icctl/mcp/login/plan.h"
#include "logind/documents.h"
#include "tap.h"
#include "workers/callbackd/callback.h"

#define PKCE "\"code_challenge_methods_supported\":[\"S256\"]"
#define HEAD401 "HTTP/1.1 401 No\r\nwww-authenticate: "

/* clang-format off */
static const struct row {
	enum proto_meta kind;
	const char *name, *text;
	const char *why;	/* NULL: it is good */
} rows[] = {
	/* the metadata of a resource */
	{PROTO_META_RESOURCE, "good", "{\"resource\":\"https://a.com/mcp\",\"authorization_servers\":[\"https://b.com\"]}", NULL},
	{PROTO_META_RESOURCE, "with escapes", "{\"resource\":\"https:\\/\\/a.com\",\"authorization_servers\":[\"https:\\/\\/b.com\"]}", NULL},
	{PROTO_META_RESOURCE, "scopes", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":[\"a\",\"b:c\"]}", NULL},
	{PROTO_META_RESOURCE, "null scopes", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":null}", NULL},
	{PROTO_META_RESOURCE, "no resource", "{\"authorization_servers\":[\"https://b.com\"]}", "resource: must be an address"},
	{PROTO_META_RESOURCE, "resource a number", "{\"resource\":1,\"authorization_servers\":[\"https://b.com\"]}", "resource: must be an address"},
	{PROTO_META_RESOURCE, "resource empty", "{\"resource\":\"\",\"authorization_servers\":[\"https://b.com\"]}", "resource: must be an address"},
	{PROTO_META_RESOURCE, "resource with a space", "{\"resource\":\"https://a.com/ x\",\"authorization_servers\":[\"https://b.com\"]}", "resource: is no address"},
	{PROTO_META_RESOURCE, "resource with NUL", "{\"resource\":\"https://a.com/\\u0000x\",\"authorization_servers\":[\"https://b.com\"]}", "resource: is no address"},
	{PROTO_META_RESOURCE, "no servers", "{\"resource\":\"https://a.com\"}", "names no server to log in at"},
	{PROTO_META_RESOURCE, "servers empty", "{\"resource\":\"https://a.com\",\"authorization_servers\":[]}", "names no server to log in at"},
	{PROTO_META_RESOURCE, "servers a text", "{\"resource\":\"https://a.com\",\"authorization_servers\":\"https://b.com\"}", "must be an array"},
	{PROTO_META_RESOURCE, "servers not texts", "{\"resource\":\"https://a.com\",\"authorization_servers\":[1]}", "must be an array of texts"},
	{PROTO_META_RESOURCE, "servers twice", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\",\"https://b.com\"]}", "names one twice"},
	{PROTO_META_RESOURCE, "server http", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"http://b.com\"]}", "must begin with https://"},
	{PROTO_META_RESOURCE, "server metadata service", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://169.254.169.254\"]}", "has no name of a host"},
	{PROTO_META_RESOURCE, "server ::1", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://[::1]\"]}", "an address"},
	{PROTO_META_RESOURCE, "server 10.0.0.1", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://10.0.0.1\"]}", "has no name of a host"},
	{PROTO_META_RESOURCE, "server in hex", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://0x7f000001\"]}", "has no name of a host"},
	{PROTO_META_RESOURCE, "server 127.1", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://127.1\"]}", "has no name of a host"},
	{PROTO_META_RESOURCE, "server localhost", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://localhost\"]}", "has no name of a host"},
	{PROTO_META_RESOURCE, "server .internal", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://metadata.google.internal\"]}", "this machine or its network"},
	{PROTO_META_RESOURCE, "scopes a text", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":\"a b\"}", "scopes_supported: must be an array"},
	{PROTO_META_RESOURCE, "scope with a space", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":[\"a b\"]}", "what is no scope"},
	{PROTO_META_RESOURCE, "scope with a quote", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":[\"a\\\"b\"]}", "what is no scope"},
	{PROTO_META_RESOURCE, "scope with ESC", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":[\"a\\u001b\"]}", "what is no scope"},
	{PROTO_META_RESOURCE, "scope empty", "{\"resource\":\"https://a.com\",\"authorization_servers\":[\"https://b.com\"],\"scopes_supported\":[\"\"]}", "what is no scope"},
	{PROTO_META_RESOURCE, "member twice", "{\"resource\":\"https://a.com\",\"resource\":\"https://c.com\",\"authorization_servers\":[\"https://b.com\"]}", "duplicate"},
	{PROTO_META_RESOURCE, "not JSON", "<html>", "it is not JSON"},
	{PROTO_META_RESOURCE, "empty", "", "it is not JSON"},
	{PROTO_META_RESOURCE, "an array", "[]", "not a JSON object"},
	{PROTO_META_RESOURCE, "a BOM", "\xef\xbb\xbf{}", "it is not JSON"},
	{PROTO_META_RESOURCE, "cut", "{\"resource\":\"https://a", "it is not JSON"},
	{PROTO_META_RESOURCE, "two values", "{} {}", "it is not JSON"},
	/* the metadata of an authorization server */
	{PROTO_META_SERVER, "good", "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"https://b.com/t\"," PKCE "}", NULL},
	{PROTO_META_SERVER, "unknown members", "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"https://b.com/t\",\"jwks_uri\":7," PKCE "}", NULL},
	{PROTO_META_SERVER, "no issuer", "{\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"https://b.com/t\"}", "issuer: is missing"},
	{PROTO_META_SERVER, "issuer twice", "{\"issuer\":\"https://b.com\",\"issuer\":\"https://c.com\"}", "duplicate"},
	{PROTO_META_SERVER, "issuer in two lines", "{\"issuer\":\"https://b.com\\nx\"}", "issuer: is no address"},
	{PROTO_META_SERVER, "no authorization", "{\"issuer\":\"https://b.com\",\"token_endpoint\":\"https://b.com/t\"}", "authorization_endpoint: is missing"},
	{PROTO_META_SERVER, "no token", "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\"}", "token_endpoint: is missing"},
#define A(url) "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"" url "\",\"token_endpoint\":\"https://b.com/t\"}"
	{PROTO_META_SERVER, "javascript:", A("javascript:alert(1)"), "must begin with https://"},
	{PROTO_META_SERVER, "data:", A("data:text/html,x"), "must begin with https://"},
	{PROTO_META_SERVER, "file:", A("file:///etc/passwd"), "must begin with https://"},
	{PROTO_META_SERVER, "vbscript:", A("vbscript:x"), "must begin with https://"},
	{PROTO_META_SERVER, "user name", A("https://u:p@evil.com"), "holds a user name"},
	{PROTO_META_SERVER, "backslash", A("https://good.com\\\\@evil.com"), "must be escaped"},
	{PROTO_META_SERVER, "an option", A("-x"), "must begin with https://"},
	{PROTO_META_SERVER, "a command", A("$(id)"), "must begin with https://"},
	{PROTO_META_SERVER, "CR LF", A("https://b.com/\\r\\nx"), "must be escaped"},
	{PROTO_META_SERVER, "a space", A("https://b.com/ x"), "must be escaped"},
	{PROTO_META_SERVER, "a quote", A("https://b.com/\\\"x"), "must be escaped"},
	{PROTO_META_SERVER, "a backtick", A("https://b.com/`id`"), "must be escaped"},
	{PROTO_META_SERVER, "a pipe", A("https://b.com/|id"), "must be escaped"},
	{PROTO_META_SERVER, "not ASCII", A("https://b\xc3\xa9.com/"), "must be escaped"},
	{PROTO_META_SERVER, "NUL", A("https://b.com/\\u0000"), "must be escaped"},
	{PROTO_META_SERVER, "bad escape", A("https://b.com/%zz"), "begins no escape"},
	{PROTO_META_SERVER, "fragment", A("https://b.com/#x"), "has a fragment"},
	{PROTO_META_SERVER, "port 0", A("https://b.com:0/"), "has no port"},
	{PROTO_META_SERVER, "port 65536", A("https://b.com:65536/"), "has no port"},
	{PROTO_META_SERVER, "port text", A("https://b.com:x/"), "has no port"},
	{PROTO_META_SERVER, "no host", A("https:///x"), "has no host"},
	{PROTO_META_SERVER, "dots", A("https://b..com/"), "has no name of a host"},
	{PROTO_META_SERVER, "loopback", A("https://127.0.0.1/"), "has no name of a host"},
	{PROTO_META_SERVER, "one label", A("https://intranet/"), "has no name of a host"},
	{PROTO_META_SERVER, ".local", A("https://a.local/"), "this machine or its network"},
	{PROTO_META_SERVER, "upper case host", A("https://B.COM/a"), NULL},
	{PROTO_META_SERVER, "http", A("http://b.com/a"), "must begin with https://"},
#undef A
#define T(m) "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"https://b.com/t\"," m "}"
	{PROTO_META_SERVER, "PKCE a text", T("\"code_challenge_methods_supported\":\"S256\""), "must be an array"},
	{PROTO_META_SERVER, "methods a number", T("\"token_endpoint_auth_methods_supported\":1"), "must be an array"},
	{PROTO_META_SERVER, "iss a text", T("\"authorization_response_iss_parameter_supported\":\"true\""), "must be true or false"},
	{PROTO_META_SERVER, "registration private", T("\"registration_endpoint\":\"https://192.168.1.1/r\""), "registration_endpoint"},
	{PROTO_META_SERVER, "registration a number", T("\"registration_endpoint\":1"), "registration_endpoint: must be a text"},
	{PROTO_META_SERVER, "revocation http", T("\"revocation_endpoint\":\"http://b.com/r\""), "revocation_endpoint"},
	{PROTO_META_SERVER, "token http", "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"http://b.com/t\"}", "token_endpoint"},
	{PROTO_META_SERVER, "token loopback", "{\"issuer\":\"https://b.com\",\"authorization_endpoint\":\"https://b.com/a\",\"token_endpoint\":\"https://localhost/t\"}", "token_endpoint"},
	/* answers without a token */
	{PROTO_META_CHALLENGE, "good", HEAD401 "Bearer resource_metadata=\"https://a.com/x\", scope=\"a b\"\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "bare", HEAD401 "Bearer\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "lower case", HEAD401 "bearer realm=x, scope=a\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "after Basic", HEAD401 "Basic realm=\"a, b\", Bearer scope=\"a\"\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "after a token68", HEAD401 "Negotiate YWJj==, Bearer scope=\"a\"\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "two headers", HEAD401 "Basic realm=x\r\nwww-authenticate: Bearer scope=\"a\"\r\n\r\n", NULL},
	{PROTO_META_CHALLENGE, "none", "HTTP/1.1 401 No\r\nx: y\r\n\r\n", "names no way to log in"},
	{PROTO_META_CHALLENGE, "Basic alone", HEAD401 "Basic realm=x\r\n\r\n", "names no way to log in"},
	{PROTO_META_CHALLENGE, "no end of a text", HEAD401 "Bearer scope=\"a\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "a parameter alone", HEAD401 "scope=\"a\"\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "a parameter twice", HEAD401 "Bearer scope=\"a\", scope=\"b\"\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "no comma", HEAD401 "Bearer scope=\"a\" error=x\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "no value", HEAD401 "Bearer scope=\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "scopes with two spaces", HEAD401 "Bearer scope=\"a  b\"\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "17 challenges", HEAD401 "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, Bearer\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "an escape at the end", HEAD401 "Bearer scope=\"a\\\r\n\r\n", "malformed"},
	{PROTO_META_CHALLENGE, "not HTTP", "hello\r\n\r\n", "malformed"},
};

static const struct callback_row {
	const char *name, *target;
	enum proto_seen how;
	const char *says;
} callbacks[] = {
	{"good", "/callback?code=c&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_CODE, ""},
	{"another order", "/callback?iss=https%3A%2F%2Fb.com&state=s1&x=y&code=c", PROTO_SEEN_CODE, ""},
	{"pasted whole", "http://127.0.0.1:1/callback?code=c&state=s1&iss=https://b.com", PROTO_SEEN_CODE, ""},
	{"pasted with a fragment", "http://127.0.0.1:1/callback?code=c&iss=https://b.com&state=s1#_=_", PROTO_SEEN_CODE, ""},
	{"a query in a fragment", "http://127.0.0.1:1/callback#?code=c&iss=https://b.com&state=s1", PROTO_SEEN_OTHER, "not the address"},
	{"no query", "/callback", PROTO_SEEN_OTHER, "not the address"},
	{"empty", "", PROTO_SEEN_OTHER, "not the address"},
	{"wrong state", "/callback?code=c&state=s2&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "state"},
	{"no state", "/callback?code=c&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "state"},
	{"empty state", "/callback?code=c&state=&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "state"},
	{"state twice", "/callback?code=c&state=s1&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "twice"},
	{"code twice", "/callback?code=c&code=d&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "twice"},
	{"no issuer", "/callback?code=c&state=s1", PROTO_SEEN_OTHER, "does not say from which issuer"},
	{"another issuer", "/callback?code=c&state=s1&iss=https%3A%2F%2Fc.com", PROTO_SEEN_OTHER, "another issuer"},
	{"issuer with a slash", "/callback?code=c&state=s1&iss=https%3A%2F%2Fb.com%2F", PROTO_SEEN_OTHER, "another issuer"},
	{"issuer in capitals", "/callback?code=c&state=s1&iss=https%3A%2F%2FB.com", PROTO_SEEN_OTHER, "another issuer"},
	{"no code", "/callback?state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "no code"},
	{"code and error", "/callback?code=c&error=e&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "no code"},
	{"code with CR LF", "/callback?code=c%0d%0a&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "plain text"},
	{"code with NUL", "/callback?code=c%00&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "malformed"},
	{"bad escape", "/callback?code=%z&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "malformed"},
	{"an error", "/callback?error=access_denied&error_description=no+way&state=s1&iss=https%3A%2F%2Fb.com", PROTO_SEEN_ERROR, "no way"},
	{"an error of another issuer", "/callback?error=x&error_description=phish&state=s1&iss=https%3A%2F%2Fc.com", PROTO_SEEN_OTHER, "another issuer"},
	{"an error with another state", "/callback?error=x&error_description=phish&state=s2&iss=https%3A%2F%2Fb.com", PROTO_SEEN_OTHER, "state"},
};

#define GET "GET /callback?code=c HTTP/1.1\r\nhost: 127.0.0.1:7\r\n"
static const struct head_row {
	const char *name, *text;
	bool good;
} heads[] = {
	{"a browser", GET "sec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\nsec-fetch-site: cross-site\r\n\r\n", true},
	{"an old browser", GET "\r\n", true},
	{"POST", "POST /callback?code=c HTTP/1.1\r\nhost: 127.0.0.1:7\r\n\r\n", false},
	{"another host", "GET /callback?code=c HTTP/1.1\r\nhost: evil.com\r\n\r\n", false},
	{"another port", "GET /callback?code=c HTTP/1.1\r\nhost: 127.0.0.1:8\r\n\r\n", false},
	{"no host", "GET /callback?code=c HTTP/1.1\r\n\r\n", false},
	{"two hosts", GET "host: 127.0.0.1:7\r\n\r\n", false},
	{"a page's origin", GET "origin: https://evil.com\r\n\r\n", false},
	{"a script", GET "sec-fetch-mode: cors\r\n\r\n", false},
	{"an image", GET "sec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n\r\n", false},
	{"a frame", GET "sec-fetch-mode: navigate\r\nsec-fetch-dest: iframe\r\n\r\n", false},
	{"another path", "GET /?code=c HTTP/1.1\r\nhost: 127.0.0.1:7\r\n\r\n", false},
	{"a longer path", "GET /callback/x?code=c HTTP/1.1\r\nhost: 127.0.0.1:7\r\n\r\n", false},
};

static const struct same_row {
	const char *resource, *url;
	bool same;
} sames[] = {
	{"https://a.com/mcp", "https://a.com/mcp", true},
	{"https://A.com/mcp", "https://a.com/mcp", true},
	{"https://a.com/mcp/", "https://a.com/mcp", true},
	{"https://a.com:443/mcp", "https://a.com/mcp", true},
	{"https://a.com", "https://a.com/", true},
	{"https://a.com/", "https://a.com/mcp", false},
	{"https://a.com", "https://a.com/mcp", false},
	{"https://a.com/MCP", "https://a.com/mcp", false},
	{"https://a.com/mcp#x", "https://a.com/mcp", false},
	{"https://a.com/mcp?x", "https://a.com/mcp", false},
	{"https://b.com/mcp", "https://a.com/mcp", false},
	{"https://a.com.evil.com/mcp", "https://a.com/mcp", false},
	{"https://a.com:444/mcp", "https://a.com/mcp", false},
	{"http://a.com/mcp", "https://a.com/mcp", false},
	{"urn:x", "https://a.com/mcp", false},
};

static const struct belong_row {
	const char *a, *b;
	bool belong;
} belongs[] = {
	{"mcp.linear.app", "linear.app", true},
	{"mcp.linear.app", "mcp.linear.app", true},
	{"mcp.example.co.uk", "auth.example.co.uk", true},
	{"a.co.uk", "b.co.uk", false},
	{"mcp.linear.app", "linear.app.evil.com", false},
	{"mcp.example.com", "example.auth0.com", false},
	{"a.github.io", "b.github.io", false},
	{"a.auth0.com", "b.auth0.com", false},
	{"api.github.com", "github.com", true},
};
/* clang-format on */

static void
test_rows(void)
{
	static struct document d;
	struct span text, none = SPAN("");
	char why[300];

	for (size_t i = 0; i < nitems(rows); i++) {
		const struct row *r = &rows[i];
		bool head = r->kind == PROTO_META_CHALLENGE;

		text = span_str(r->text);
		document_read(&d, r->kind, head ? 401 : 200, head ? text : none,
		    head ? none : text);
		(void)span_copy(d.m.why, why, sizeof(why));
		if (r->why == NULL)
			ok(d.m.good == 1, "good: %s (%s)", r->name, why);
		else
			ok(d.m.good == 0 && strstr(why, r->why) != NULL,
			    "refused: %s (%s)", r->name, why);
		document_free(&d);
	}
	document_read(&d, PROTO_META_SERVER, 404, none, none);
	ok(d.m.good == 0 && d.m.status == 404, "a status is passed on");
	document_free(&d);
	document_lost(&d, PROTO_META_SERVER, "the token endpoint closed it");
	ok(span_is(d.m.why, "the server closed it"), "a failure, in its words");
	document_free(&d);
}

/* Documents that are too many, too deep or too long. */
static void
test_large(void)
{
	static struct document d;
	struct buf b;

	buf_init(&b, 1U << 20);
	buf_adds(&b, "{\"resource\":\"https://a.com\","
		     "\"authorization_servers\":[");
	for (unsigned i = 0; i < 65; i++)
		buf_printf(&b, "%s\"https://b%u.com\"", i != 0 ? "," : "", i);
	buf_adds(&b, "]}");
	document_read(&d, PROTO_META_RESOURCE, 200, SPAN(""), buf_span(&b));
	ok(d.m.good == 0, "65 servers to log in at");
	document_free(&d);
	buf_reset(&b, 0);
	for (unsigned i = 0; i < 100000; i++)
		buf_addc(&b, '[');
	document_read(&d, PROTO_META_SERVER, 200, SPAN(""), buf_span(&b));
	ok(d.m.good == 0, "a document of depth 100,000");
	document_free(&d);
	buf_reset(&b, 0);
	buf_adds(&b, "{\"resource\":\"https://a.com\","
		     "\"authorization_servers\":[\"https://b.com\"],"
		     "\"scopes_supported\":[");
	for (unsigned i = 0; i < 500; i++)
		buf_printf(&b, "%s\"scope-with-a-long-name-%u\"",
		    i != 0 ? "," : "", i);
	buf_adds(&b, "]}");
	document_read(&d, PROTO_META_RESOURCE, 200, SPAN(""), buf_span(&b));
	ok(d.m.good == 0, "500 long scopes");
	document_free(&d);
	buf_free(&b);
}

static void
test_callbacks(void)
{
	static const struct callback_want want = {.state = "s1",
	    .host = "127.0.0.1:7",
	    .issuer = "https://b.com",
	    .iss = true};
	static struct callback c;
	static struct http1_head h;
	const char *says;

	for (size_t i = 0; i < nitems(callbacks); i++) {
		const struct callback_row *r = &callbacks[i];
		enum proto_seen how =
		    callback_target(span_str(r->target), &want, &c);

		says = how == PROTO_SEEN_OTHER ? c.why : c.text;
		ok(how == r->how && strstr(says, r->says) != NULL,
		    "callback: %s (%s)", r->name, says);
		if (how == PROTO_SEEN_OTHER)
			ok(c.code[0] == '\0' && c.text[0] == '\0',
			    "nothing of it is kept: %s", r->name);
	}
	for (size_t i = 0; i < nitems(heads); i++)
		ok(http1_request(span_str(heads[i].text), &h) == HTTP1_OK &&
			(callback_head(&h, &want) == NULL) == heads[i].good,
		    "request: %s", heads[i].name);
}

static void
test_plan(void)
{
	char list[PROTO_MAX_SCOPES + 1] = "a b";
	char paths[PLAN_PLACES][PROTO_MAX_PLACE + 64];
	struct plan_request r = {.endpoint = "https://b.com/a?x=1",
	    .client = "c",
	    .redirect = "http://127.0.0.1:1/callback",
	    .state = "s",
	    .challenge = "h",
	    .resource = "https://a.com/mcp",
	    .scopes = "a b"};
	static const char *const ours[] = {"https://b.com/a?redirect_uri=x",
	    "https://b.com/a?y=1&state=x", "https://b.com/a?client_id",
	    "https://b.com/a?Scope=x", "https://b.com/a?st%61te=x",
	    "https://b.com/a?request_uri=x"};
	const char *why;
	struct buf b;

	for (size_t i = 0; i < nitems(sames); i++)
		ok(plan_same_resource(
		       sames[i].resource, sames[i].url, false) ==
			sames[i].same,
		    "%s and %s", sames[i].resource, sames[i].url);
	ok(plan_same_resource("https://a.com", "https://a.com/mcp", true) &&
		plan_same_resource(
		    "https://A.com:443/", "https://a.com/mcp", true) &&
		!plan_same_resource(
		    "https://a.com/m", "https://a.com/m/cp", true) &&
		!plan_same_resource("https://b.com", "https://a.com/mcp", true),
	    "the document of a host is that of its servers");
	for (size_t i = 0; i < nitems(belongs); i++)
		ok(plan_belong(belongs[i].a, belongs[i].b) ==
			belongs[i].belong,
		    "%s and %s", belongs[i].a, belongs[i].b);
	ok(plan_scopes(list, "b c a") == 0 && strcmp(list, "a b c") == 0,
	    "scopes are joined");
	is_int(plan_resource_paths("/mcp/?x", paths), 2, "two places");
	is_str(paths[0], "/.well-known/oauth-protected-resource/mcp", "first");
	is_int(plan_server_paths("/t1", paths), 3, "three places");
	is_str(paths[2], "/t1/.well-known/openid-configuration", "third");
	is_int(plan_server_paths("/", paths), 2, "two without a path");
	buf_init(&b, PLAN_AUTHORIZE);
	ok(plan_authorize(&r, &b, &why) == 0, "an address");
	buf_addc(&b, '\0');
	is_str((const char *)buf_span(&b).p,
	    "https://b.com/a?x=1&response_type=code&client_id=c&redirect_uri="
	    "http%3A%2F%2F127.0.0.1%3A1%2Fcallback&state=s&code_challenge=h&"
	    "code_challenge_method=S256&resource=https%3A%2F%2Fa.com%2Fmcp&"
	    "scope=a%20b",
	    "whole");
	buf_reset(&b, 0);
	r.endpoint = "https://b.com/$(id)'[*]!?x=1;state=x";
	ok(plan_authorize(&r, &b, &why) == 0 &&
		span_starts(buf_span(&b),
		    SPAN("https://b.com/%24%28id%29%27%5B%2A%5D%21?x=1%3Bstate"
			 "=x&response_type=code&")),
	    "nothing in it is a shell's");
	for (size_t i = 0; i < nitems(ours); i++) {
		buf_reset(&b, 0);
		r.endpoint = ours[i];
		ok(plan_authorize(&r, &b, &why) == -1,
		    "no parameter of ours: %s", ours[i]);
	}
	buf_free(&b);
}

int
main(void)
{
	test_rows();
	test_large();
	test_callbacks();
	test_plan();
	return tap_done();
}
