/* SPDX-License-Identifier: ISC */
/* The front of lines for a remote MCP server, and the header made from it. */
#include "keyd/post_line.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define CALL(name)                                                             \
	"{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{" \
	"\"name\":\"" name "\",\"_meta\":{}}}"

static const struct {
	const char *line, *id, *method, *name;
} rows[] = {
    {CALL("act"), "7", "tools/call", "act"},
    {CALL("a.b/c d"), "7", "tools/call", "a.b/c d"},
    {CALL(" a"), "7", "tools/call", "=?base64?IGE=?="},
    {CALL("a "), "7", "tools/call", "=?base64?YSA=?="},
    {CALL("q\\\"\\\\"), "7", "tools/call", "q\"\\"},
    {CALL("bl\xc3\xa4"), "7", "tools/call", "=?base64?YmzDpA==?="},
    {CALL("bl\\u00e4"), "7", "tools/call", "=?base64?YmzDpA==?="},
    {CALL("\\u20ac"), "7", "tools/call", "=?base64?4oKs?="},
    {CALL("a\\nb"), "7", "tools/call", "=?base64?YQpi?="},
    {CALL("=?base64?YQ==?="), "7", "tools/call",
	"=?base64?PT9iYXNlNjQ/WVE9PT89?="},
    {CALL("=?base64?"), "7", "tools/call", "=?base64?"},
    {CALL("\\ud83d\\ude00"), "7", "tools/call", ""},
    {CALL("\\x"), "7", "tools/call", ""},
    {CALL(""), "7", "tools/call", ""},
    {"{\"id\":\"d\",\"jsonrpc\":\"2.0\",\"method\":\"server/discover\","
     "\"params\":{\"_meta\":{}}}",
	"\"d\"", "server/discover", ""},
    {"{\"id\":8,\"jsonrpc\":\"2.0\",\"method\":\"resources/read\","
     "\"params\":{\"uri\":\"note://one\",\"_meta\":{}}}",
	"8", "resources/read", "note://one"},
    {"{\"id\":8,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
     "\"params\":{\"name\":\"cut",
	"8", "tools/call", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", "", "",
	""},
    {"{\"id\":", "", "", ""},
    {"", "", "", ""},
};

/* Parameters in headers: the line, and "name: value" of each, or "bad". */
static const struct {
	const char *line, *want;
} params[] = {
    {"", ""},
    {" Region \"us\" N 42 B true", "mcp-param-region: us|mcp-param-n: "
				   "42|mcp-param-b: true|"},
    {" A \"\" C \"x y\"", "mcp-param-a: |mcp-param-c: x y|"},
    {" A \" a\"", "mcp-param-a: =?base64?IGE=?=|"},
    {" A \"a\\r\\nHost: b\"", "mcp-param-a: =?base64?YQ0KSG9zdDogYg==?=|"},
    {" A \"q\\\" B 5\"", "mcp-param-a: q\" B 5|"},
    {" A:b \"x\"", "bad"},
    {" A\x01 \"x\"", "bad"},
    {" A", "bad"},
    {" A ", "bad"},
    {" A \"x", "bad"},
    {" A \"x\"B 5", "mcp-param-a: x|bad"},
    {"A 5", "bad"},
    {"  5", "bad"},
};

static void
test_params(void)
{
	static char name[POST_PARAM], value[POST_NAME], out[512];
	struct span s;
	size_t n;
	int r;

	for (size_t i = 0; i < nitems(params); i++) {
		s = span_str(params[i].line);
		out[0] = '\0';
		n = 0;
		while ((r = post_line_param(&s, name, value)) == 1)
			n += (size_t)snprintf(
			    out + n, sizeof(out) - n, "%s: %s|", name, value);
		if (r == -1)
			(void)snprintf(out + n, sizeof(out) - n, "bad");
		is_str(out, params[i].want, "the parameters%s", params[i].line);
	}
}

/* The line that asks for events, and "id|event", or "bad". */
static const struct {
	const char *line, *want;
} events[] = {
    {"- ", "|"},
    {"- e1", "|e1"},
    {"7 !~", "7|!~"},
    {"", "bad"},
    {"7", "bad"},
    {"7 e 1", "bad"},
    {"7 e\r", "bad"},
    {"7 e\rHost: b", "bad"},
    {"7 e\x7f", "bad"},
    {"7 \xc3\xa4", "bad"},
};

static void
test_events(void)
{
	static char text[PROTO_MAX_EVENT + 4], out[PROTO_MAX_EVENT + 80];
	char event[PROTO_MAX_EVENT + 1];
	struct span id;

	for (size_t i = 0; i < nitems(events); i++) {
		if (post_line_events(span_str(events[i].line), &id, event) == 0)
			(void)snprintf(out, sizeof(out), "%.*s|%s", (int)id.len,
			    (const char *)id.p, event);
		else
			(void)snprintf(out, sizeof(out), "bad");
		is_str(out, events[i].want, "events: %s", events[i].line);
	}
	memset(text, 'e', sizeof(text) - 1);
	text[1] = ' ';
	is_int(post_line_events(span_str(text), &id, event), -1,
	    "an event's id that is too long");
	text[PROTO_MAX_EVENT + 2] = '\0';
	is_int(
	    post_line_events(span_str(text), &id, event), 0, "and the longest");
}

int
main(void)
{
	static const char front[] = "{\"id\":7,\"jsonrpc\":\"2.0\","
				    "\"method\":\"resources/read\","
				    "\"params\":{\"uri\":\"";
	static char long_name[5000], uri[2049], line[2200];
	struct post_line l;
	char small[16];

	test_params();
	test_events();
	for (size_t i = 0; i < nitems(rows); i++) {
		post_line_read(span_str(rows[i].line), &l);
		ok(span_is(l.id, rows[i].id) &&
			span_is(l.method, rows[i].method),
		    "%s", rows[i].line);
		is_str(l.name, rows[i].name, "its name");
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	memcpy(long_name,
	    "{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":\"x\","
	    "\"params\":{\"name\":\"",
	    55);
	post_line_read(span_str(long_name), &l);
	is_str(l.name, "", "a name that is too long has no header");
	memset(uri, 'u', sizeof(uri) - 1);
	memcpy(uri, "n://", 4);
	(void)snprintf(line, sizeof(line), "%s%s\"}}", front, uri);
	post_line_read(span_str(line), &l);
	is_str(l.name, uri, "the longest address that policyd lets through");
	is_int(post_line_header(SPAN("\x01\x02\x03\x04"), small, sizeof(small)),
	    -1, "a header that does not fit");
	return tap_done();
}
