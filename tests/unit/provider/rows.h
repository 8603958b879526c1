/* SPDX-License-Identifier: ISC */
#ifndef PROVIDER_ROWS_H
#define PROVIDER_ROWS_H

#include "mitmd/provider/provider.h"

#define CRED                                                                   \
	"\"credential\":{\"env\":\"K\",\"sentinel\":\"s-\",\"headers\":"       \
	"[{\"name\":\"x-api-key\"}]}"
#define LISTS "\"requestHeaders\":[],\"responseHeaders\":[]"
#define ROUTES "\"routes\":[{\"method\":\"GET\",\"path\":\"/a\"}]"
#define TOP "{\"name\":\"n\",\"host\":\"a.example\"," CRED "," LISTS
#define GOOD(method, path, more)                                               \
	TOP ",\"routes\":[{\"method\":" method ",\"path\":" path more "}]}"

struct bad_row {
	const char *before, *what, *after;
	const char *err;
};

#define NAME(n, e)                                                             \
	{                                                                      \
		"{\"name\":", n,                                               \
		    ",\"host\":\"a.example\"," CRED "," LISTS "," ROUTES "}",  \
		    e                                                          \
	}
#define HOST(h, e)                                                             \
	{                                                                      \
		"{\"name\":\"n\",\"host\":", h,                                \
		    "," CRED "," LISTS "," ROUTES "}", e                       \
	}
#define CREDENTIAL(c, e)                                                       \
	{                                                                      \
		"{\"name\":\"n\",\"host\":\"a.example\","                      \
		"\"credential\":",                                             \
		    c, "," LISTS "," ROUTES "}", e                             \
	}
#define KINDS(k, e)                                                            \
	CREDENTIAL("{\"env\":\"K\",\"sentinel\":\"s-\","                       \
		   "\"headers\":" k "}",                                       \
	    e)
#define REQUEST(l, e)                                                          \
	{                                                                      \
		"{\"name\":\"n\",\"host\":\"a.example\"," CRED                 \
		",\"responseHeaders\":[]," ROUTES ",\"requestHeaders\":",      \
		    l, "}", e                                                  \
	}
#define RESPONSE(l, e)                                                         \
	{                                                                      \
		"{\"name\":\"n\",\"host\":\"a.example\"," CRED                 \
		",\"requestHeaders\":[]," ROUTES ",\"responseHeaders\":",      \
		    l, "}", e                                                  \
	}
#define ROUTE(r, e)                                                            \
	{                                                                      \
		TOP ",\"routes\":[", r, "]}", e                                \
	}
#define PATH(p, e) ROUTE("{\"method\":\"GET\",\"path\":" p "}", e)
#define QUERY(q, e)                                                            \
	ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"query\":" q "}", e)
#define BODY(b, e)                                                             \
	ROUTE("{\"method\":\"POST\",\"path\":\"/a\",\"body\":" b "}", e)
#define LOGIN(m, method, more, e)                                              \
	{                                                                      \
		TOP ",\"logins\":[{\"name\":\"l\","                            \
		    "\"file\":\"~/"                                            \
		    "f\",\"sentinel\":\"s-\",\"header\":\"x-api-key\","        \
		    "\"members\":{\"access\":\"a\",\"refresh\":\"r\"},"        \
		    "\"expires\":\"jwt\",\"token\":{\"url\":\"https://t/t\","  \
		    "\"type\":\"form\",\"client\":\"c\"},",                    \
		    m,                                                         \
		    "}],\"routes\":["                                          \
		    "{\"method\":" method                                      \
		    ",\"path\":\"/a\",\"capture\":\"l\"" more "}]}",           \
		    e                                                          \
	}
#define CAPTURE_MUST                                                           \
	"must be a bare POST whose body is of at most 16384 "                  \
	"bytes, without \"ask\" and \"digest\""
#define FITS(w) w " does not fit here"

static const struct bad_row bad_rows[] = {
    {"", "", "", "file: at byte 0: ends too early"},
    {"", "[]", "", "file: must be an object"},
    {"", "{}", "", "file: \"name\" is missing"},
    {TOP, "", "}", "file: \"routes\" is missing"},
    {TOP "," ROUTES ",", "\"extra\":1", "}", "file: unknown member \"extra\""},
    {TOP "," ROUTES ",\"filter\":", "[]", "}", "filter: must be an object"},
    {TOP "," ROUTES ",\"sendHeaders\":", "[]", "}",
	"sendHeaders: must be an object with at most 8 members"},
    {TOP "," ROUTES ",\"sendHeaders\":", "{\"cookie\":\"a\"}", "}",
	"sendHeaders: cookie: must be a header in lower case, or a family "
	"such as x-app-*; none that carries a credential or a cookie, "
	"frames a message or leads elsewhere"},
    {TOP "," ROUTES ",\"sendHeaders\":", "{\"x-a*\":\"a\"}", "}",
	"sendHeaders: x-a*: must be a header in lower case, or a family "
	"such as x-app-*; none that carries a credential or a cookie, "
	"frames a message or leads elsewhere"},
    {TOP "," ROUTES ",\"sendHeaders\":", "{\"x-a\":\" a\"}", "}",
	"sendHeaders: x-a: \" a\" does not fit here: must be 1 to 256 "
	"printable characters of ASCII, without blanks around them"},
    {TOP "," ROUTES ",\"filter\":", "{\"tool\":\"strip\"}", "}",
	"filter: members are \"tools\", \"mcp\", \"urls\", \"store\", "
	"\"background\" and \"usage\""},
    {TOP "," ROUTES ",\"filter\":", "{\"usage\":\"strip\"}", "}",
	"filter: \"usage\" is \"ask\" or \"leave\""},
    {TOP "," ROUTES ",\"filter\":", "{\"tools\":\"drop\"}", "}",
	"filter: values are \"strip\", \"deny\" or \"allow\""},
    BODY("{\"types\":[\"application/json\"],\"dialect\":\"soap\"}",
	"routes[0].body.dialect: must be \"anthropic\", "
	"\"bedrock\", \"chat\", \"converse\", \"gemini\" or "
	"\"responses\""),
    BODY("{\"types\":[\"application/json\"],\"dialect\":\"none\"}",
	"routes[0].body.dialect: must be \"anthropic\", "
	"\"bedrock\", \"chat\", \"converse\", \"gemini\" or "
	"\"responses\""),
    BODY("{\"types\":[\"application/json\"],\"turn\":1}",
	"routes[0].body.turn: must be true or false"),
    NAME("1", "name: must be a string"),
    NAME("\"\"", FITS("name: \"\"")),
    NAME("\"A\"", FITS("name: \"A\"")),
    NAME("\"a/b\"", FITS("name: \"a/b\"")),
    NAME("\"-a\"", FITS("name: \"-a\"")),
    HOST("\"localhost\"", FITS("host: \"localhost\"")),
    HOST("\"A.example\"", FITS("host: \"A.example\"")),
    HOST("\"a.example.\"", FITS("host: \"a.example.\"")),
    HOST("\".a.example\"", FITS("host: \".a.example\"")),
    HOST("\"a..example\"", FITS("host: \"a..example\"")),
    HOST("\"a-.example\"", FITS("host: \"a-.example\"")),
    HOST("\"127.0.0.1\"", FITS("host: \"127.0.0.1\"")),
    HOST("\"a.example:443\"", FITS("host: \"a.example:443\"")),
    HOST("\"*.example\"", FITS("host: \"*.example\"")),
    HOST("\"a.ex\\nmple\"", FITS("host: \"a.ex?mple\"")),
    CREDENTIAL("[]", "credential: must be an object"),
    CREDENTIAL("{\"env\":\"K\",\"headers\":[]}",
	"credential: \"sentinel\" is missing"),
    CREDENTIAL("{\"env\":\"k\",\"sentinel\":\"s\",\"headers\":[]}",
	FITS("credential.env: \"k\"")),
    CREDENTIAL("{\"env\":\"K\",\"sentinel\":\"s s\",\"headers\":[]}",
	FITS("credential.sentinel: \"s s\"")),
    KINDS("[]", "credential.headers: must be an array of 1 to 8 objects"),
    KINDS("[1]", "credential.headers[0]: must be an object"),
    KINDS("[{\"name\":\"accept\"}]",
	FITS("credential.headers[0].name: \"accept\"")),
    KINDS("[{\"name\":\"X-Api-Key\"}]",
	FITS("credential.headers[0].name: \"X-Api-Key\"")),
    KINDS("[{\"name\":\"proxy-authorization\"}]",
	FITS("credential.headers[0].name: \"proxy-authorization\"")),
    KINDS("[{\"name\":\"x-api-key\",\"prefix\":\"Bearer\"}]",
	FITS("credential.headers[0].prefix: \"Bearer\"")),
    KINDS("[{\"name\":\"x-api-key\",\"prefix\":\"a\\r\\nb: \"}]",
	FITS("credential.headers[0].prefix: \"a??b: \"")),
    KINDS("[{\"name\":\"x-api-key\"},{\"name\":\"x-api-key\"}]",
	"credential.headers[1]: repeated"),
    REQUEST("{}", "requestHeaders: must be an array"),
    REQUEST("[\"Accept\"]", FITS("requestHeaders[0]: \"Accept\"")),
    REQUEST("[\"a\",\"a\"]", "requestHeaders[1]: repeated"),
    REQUEST("[\"*\"]", FITS("requestHeaders[0]: \"*\"")),
    REQUEST("[\"x-*\"]", FITS("requestHeaders[0]: \"x-*\"")),
    REQUEST("[\"xy*\"]", FITS("requestHeaders[0]: \"xy*\"")),
    REQUEST("[\"x-*-y\"]", FITS("requestHeaders[0]: \"x-*-y\"")),
    REQUEST(
	"[\"authorization\"]", FITS("requestHeaders[0]: \"authorization\"")),
    REQUEST("[\"cookie\"]", FITS("requestHeaders[0]: \"cookie\"")),
    REQUEST("[\"host\"]", FITS("requestHeaders[0]: \"host\"")),
    REQUEST(
	"[\"content-length\"]", FITS("requestHeaders[0]: \"content-length\"")),
    REQUEST("[\"transfer-encoding\"]",
	FITS("requestHeaders[0]: \"transfer-encoding\"")),
    REQUEST("[\"accept-encoding\"]",
	FITS("requestHeaders[0]: \"accept-encoding\"")),
    REQUEST("[\"connection\"]", FITS("requestHeaders[0]: \"connection\"")),
    REQUEST("[\"x-forwarded-for\"]",
	FITS("requestHeaders[0]: \"x-forwarded-for\"")),
    REQUEST("[\"x-http-method-override\"]",
	FITS("requestHeaders[0]: \"x-http-method-override\"")),
    REQUEST("[\"proxy-*\"]", FITS("requestHeaders[0]: \"proxy-*\"")),
    RESPONSE("[\"set-cookie\"]", FITS("responseHeaders[0]: \"set-cookie\"")),
    RESPONSE("[\"location\"]", FITS("responseHeaders[0]: \"location\"")),
    RESPONSE("[\"alt-svc\"]", FITS("responseHeaders[0]: \"alt-svc\"")),
    RESPONSE("[\"www-*\"]", FITS("responseHeaders[0]: \"www-*\"")),
    {TOP ",\"routes\":", "[]", "}",
	"routes: must be an array of 1 to 1024 objects"},
    ROUTE("{\"method\":\"GET\"}", "routes[0]: \"path\" is missing"),
    ROUTE("{\"method\":\"get\",\"path\":\"/a\"}",
	FITS("routes[0].method: \"get\"")),
    ROUTE("{\"method\":\"CONNECT\",\"path\":\"/a\"}",
	FITS("routes[0].method: \"CONNECT\"")),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\"},"
	  "{\"method\":\"GET\",\"path\":\"/a\"}",
	"routes[1]: repeated"),
    PATH("\"a\"", FITS("routes[0].path: \"a\"")),
    PATH("\"/\"", FITS("routes[0].path: \"/\"")),
    PATH("\"/a/\"", FITS("routes[0].path: \"/a/\"")),
    PATH("\"/a//b\"", FITS("routes[0].path: \"/a//b\"")),
    PATH("\"/a/../b\"", FITS("routes[0].path: \"/a/../b\"")),
    PATH("\"/a%20b\"", FITS("routes[0].path: \"/a%20b\"")),
    PATH("\"/a*\"", FITS("routes[0].path: \"/a*\"")),
    PATH("\"/**\"", FITS("routes[0].path: \"/**\"")),
    PATH("\"/a?b=c\"", FITS("routes[0].path: \"/a?b=c\"")),
    QUERY("[]", "routes[0].query: must be an object of at most 32 parameters"),
    QUERY("{\"a b\":\"token\"}", "routes[0].query: bad parameter name"),
    QUERY("{\"a\":\"any\"}", "routes[0].query.a: must be \"number\", "
			     "\"token\" or an array of values"),
    QUERY("{\"a\":[]}", "routes[0].query.a: must have 1 to 16 entries"),
    QUERY("{\"a\":[\"b&c\"]}", FITS("routes[0].query.a[0]: \"b&c\"")),
    BODY("{}", "routes[0].body: \"types\" is missing"),
    BODY("{\"types\":[]}", "routes[0].body.types: must have 1 to 8 entries"),
    BODY("{\"types\":[\"json\"]}", FITS("routes[0].body.types[0]: \"json\"")),
    BODY("{\"types\":[\"a/b\"],\"max\":0}",
	"routes[0].body.max: must be 1 to 67108864"),
    BODY("{\"types\":[\"a/b\"],\"max\":1e3}",
	"routes[0].body.max: must be 1 to 67108864"),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"body\":"
	  "{\"types\":[\"a/b\"]}}",
	"routes[0].body: a GET has no body"),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"bare\":1}",
	"routes[0].bare: must be true or false"),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"bare\":true,"
	  "\"websocket\":{}}",
	"routes[0].bare: not for a WebSocket"),
    ROUTE("{\"method\":\"POST\",\"path\":\"/a\",\"capture\":\"l\"}",
	"routes[0].capture: must be one of the file's logins that has "
	"\"capture\""),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[{}]}", "\"GET\"", "",
	"routes[0].capture: " CAPTURE_MUST),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[{}]}", "\"POST\"", "",
	"routes[0].capture: " CAPTURE_MUST),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[{}]}", "\"POST\"",
	",\"body\":{\"types\":[\"a/b\"],\"max\":16385}",
	"routes[0].capture: " CAPTURE_MUST),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[{}]}", "\"POST\"",
	",\"bare\":false,\"body\":{\"types\":[\"a/b\"],\"max\":9}",
	"routes[0].capture: " CAPTURE_MUST),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[]}", "\"POST\"", "",
	"logins[0].capture: hosts must be an array of at most 3, routes "
	"an array of some"),
    LOGIN("\"capture\":{\"routes\":[{}]}", "\"POST\"", "",
	"logins[0].capture: \"hosts\" is missing"),
    LOGIN("\"capture\":{\"hosts\":[],\"routes\":[{}],\"id\":\"a b\"}",
	"\"POST\"", "", "logins[0]: \"id\" does not fit here"),
    LOGIN("\"add\":[{\"name\":\"x-a\",\"value\":\"v\",\"claim\":"
	  "[\"c\"]}]",
	"\"POST\"", "",
	"logins[0].add: a whole name and either value or member"),
    LOGIN("\"add\":[{\"name\":\"x-a\",\"member\":\"m\",\"claim\":[]}]",
	"\"POST\"", "", "logins[0].add.claim: must be one or two names"),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"answer\":401}",
	"routes[0].answer: must be 400 to 499, not 401"),
    ROUTE("{\"method\":\"GET\",\"path\":\"/a\",\"answer\":200}",
	"routes[0].answer: must be 400 to 499, not 401"),
    {"{\"name\":\"n\",", "\"name\":\"n\"", "}",
	"file: at byte 12: duplicate member name"},
};

struct match_row {
	const char *text;
	enum provider_result result;
};

static const struct match_row anthropic_rows[] = {
    {"POST /v1/messages", PROVIDER_OK},
    {"POST /v1/messages?beta=true", PROVIDER_OK},
    {"POST /v1/messages/count_tokens?beta=true", PROVIDER_OK},
    {"POST /api/event_logging/batch", PROVIDER_OK},
    {"POST /api/event_logging/v2/batch", PROVIDER_OK},
    {"POST /api/eval/sdk-zAZezfDKGoZuXXKe", PROVIDER_OK},
    {"GET /api/hello", PROVIDER_OK},
    {"GET /api/claude_code/settings", PROVIDER_OK},
    {"GET /api/claude_code/policy_limits", PROVIDER_OK},
    {"GET /api/claude_code/organizations/metrics_enabled", PROVIDER_OK},
    {"GET /api/claude_code_penguin_mode", PROVIDER_OK},
    {"GET /mcp-registry/v0/servers?version=latest&limit=100", PROVIDER_OK},
    {"GET /mcp-registry/v0/servers?limit=abc", PROVIDER_NO_PARAM},
    {"GET /mcp-registry/v0/servers?limit=12345678901", PROVIDER_NO_PARAM},
    {"GET /v1/messages", PROVIDER_NO_METHOD},
    {"post /v1/messages", PROVIDER_NO_METHOD},
    {"GET /v1/models", PROVIDER_NO_ROUTE},
    {"GET /", PROVIDER_BAD_PATH},
    {"GET v1", PROVIDER_BAD_PATH},
    {"POST /v1/Messages", PROVIDER_NO_ROUTE},
    {"POST /v1/messages/", PROVIDER_BAD_PATH},
    {"POST //v1/messages", PROVIDER_BAD_PATH},
    {"POST /v1/./messages", PROVIDER_BAD_PATH},
    {"POST /v1/x/../messages", PROVIDER_BAD_PATH},
    {"POST /v1/%6dessages", PROVIDER_BAD_PATH},
    {"POST /v1/messages%00", PROVIDER_BAD_PATH},
    {"POST /v1/messages;a=b", PROVIDER_BAD_PATH},
    {"POST /v1\\messages", PROVIDER_BAD_PATH},
    {"POST /v1/messages#a", PROVIDER_BAD_PATH},
    {"POST /v1/messages,", PROVIDER_BAD_PATH},
    {"POST /v1/mess\xc3\xa4ges", PROVIDER_BAD_PATH},
    {"POST /v1/messages.", PROVIDER_NO_ROUTE},
    {"POST /api/eval", PROVIDER_NO_ROUTE},
    {"POST /api/eval/a/b", PROVIDER_NO_ROUTE},
    {"POST /api/eval/..", PROVIDER_BAD_PATH},
    {"POST /a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", PROVIDER_BAD_PATH},
    {"POST /v1/messages?", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?=true", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true&", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?&beta=true", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true&beta=true", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=tru%65", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true=true", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true;x=y", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true+", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true#x", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=true?x=y", PROVIDER_BAD_QUERY},
    {"POST /v1/messages?beta=false", PROVIDER_NO_PARAM},
    {"POST /v1/messages?key=abc", PROVIDER_NO_PARAM},
    {"POST /v1/messages?Beta=true", PROVIDER_NO_PARAM},
    {"POST /v1/messages?key=abc&beta=tru%65", PROVIDER_BAD_QUERY},
    {"GET /api/hello?a=b", PROVIDER_NO_PARAM},
};

static const struct match_row openai_rows[] = {
    {"POST /v1/responses", PROVIDER_OK},
    {"POST /v1/chat/completions", PROVIDER_OK},
    {"GET /v1/models", PROVIDER_OK},
    {"GET /v1/models?client_version=0.169.0", PROVIDER_OK},
    {"GET /v1/responses", PROVIDER_OK},
    {"POST /v1/embeddings", PROVIDER_OK},
    {"POST /v1/embeddings/x", PROVIDER_NO_ROUTE},
    {"POST /v1/files", PROVIDER_NO_ROUTE},
};

static const struct match_row star_rows[] = {
    {"GET /v1/a:run", PROVIDER_OK},
    {"GET /v1/a:b:run", PROVIDER_OK},
    {"GET /v1/:run", PROVIDER_NO_ROUTE},
    {"GET /v1/run", PROVIDER_NO_ROUTE},
    {"GET /v1/a:runs", PROVIDER_NO_ROUTE},
    {"GET /v1/a:run/b", PROVIDER_NO_ROUTE},
};

struct name_row {
	const char *name;
	bool request, response, secretive;
};

static const struct name_row name_rows[] = {
    {"accept", true, false, false},
    {"content-type", true, true, false},
    {"user-agent", true, false, false},
    {"anthropic-version", true, true, false},
    {"anthropic-beta", true, true, false},
    {"anthropic-", false, false, false},
    {"anthropic-api-key", false, false, true},
    {"x-stainless-retry-count", true, false, false},
    {"x-stainless", false, false, false},
    {"x-app", true, false, false},
    {"x-app2", false, false, false},
    {"request-id", false, true, false},
    {"retry-after", false, true, false},
    {"set-cookie", false, false, false},
    {"cookie", false, false, false},
    {"host", false, false, false},
    {"accept-encoding", false, false, false},
    {"content-length", false, false, false},
    {"authorization", false, false, true},
    {"Proxy-Authorization", false, false, true},
    {"X_API_KEY", false, false, true},
    {"x-goog-api-key", false, false, true},
    {"PRIVATE-TOKEN", false, false, true},
    {"openai-organization", false, false, false},
};

struct packed_row {
	const char *name;
	const char *pairs[9];
	bool good;
};

static const struct packed_row packed_rows[] = {
    {"good", {":credential", "1", "accept", "*/*", "x-app", "cli", NULL}, true},
    {"no other header", {":credential", "0", NULL}, true},
    {"empty", {NULL}, false},
    {"no kind", {"accept", "*/*", NULL}, false},
    {"the kind later", {"accept", "*/*", ":credential", "0", NULL}, false},
    {"the kind twice", {":credential", "0", ":credential", "0", NULL}, false},
    {"no such kind", {":credential", "2", NULL}, false},
    {"a kind that is no number", {":credential", "x", NULL}, false},
    {"a kind with a zero before it", {":credential", "00", NULL}, false},
    {"a header twice", {":credential", "0", "accept", "a", "accept", "b", NULL},
	false},
    {"off the list", {":credential", "0", "x-other", "a", NULL}, false},
    {"a key", {":credential", "0", "x-api-key", "a", NULL}, false},
    {"upper case", {":credential", "0", "Accept", "a", NULL}, false},
    {"CR LF", {":credential", "0", "accept", "a\r\nx: y", NULL}, false},
    {"not ASCII", {":credential", "0", "accept", "\xff", NULL}, false},
    {"an empty name", {":credential", "0", "", "a", NULL}, false},
};

#endif
