/* SPDX-License-Identifier: ISC */
/*
 * The JSON-RPC envelope: a table of lines, each with its kind, or with the
 * exact answer to a line that is refused.
 */
#include "mcp-proxyd/mcp/jsonrpc.h"
#include "mcp-proxyd/mcp/lines.h"
#include "tap.h"

#include <stdio.h>

#define E(code, id, text)                                                      \
	"{\"error\":{\"code\":" #code ",\"message\":\"" text "\"}" id              \
	",\"jsonrpc\":\"2.0\"}\n"
#define PARSE(text) E(-32700, "", "Parse error: " text)
#define INVALID(id, text) E(-32600, id, "Invalid Request: " text)
#define ID(id) ",\"id\":" id
#define NOTJSON(n) PARSE("not JSON at byte " #n)
#define SHORT(n) PARSE("ends too early at byte " #n)
#define V "\"jsonrpc\":\"2.0\","
#define A254                                                                   \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"     \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"     \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"     \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* clang-format off */
static const struct {
	const char *line;
	const char *want;	/* the answer, or "kind id" */
} rows[] = {
	/* accepted */
	{"{" V "\"id\":1,\"method\":\"ping\"}", "request 1"},
	{"{\"method\":\"ping\",\"id\":1,\"jsonrpc\":\"2.0\"}", "request 1"},
	{" {" V "\"id\":1,\"method\":\"ping\"}\r", "request 1"},
	{"{" V "\"id\":0,\"method\":\"ping\"}", "request 0"},
	{"{" V "\"id\":-7,\"method\":\"ping\"}", "request -7"},
	{"{" V "\"id\":9223372036854775807,\"method\":\"x\"}",
	    "request 9223372036854775807"},
	{"{" V "\"id\":\"a-1\",\"method\":\"ping\"}", "request \"a-1\""},
	{"{" V "\"id\":\"\",\"method\":\"ping\"}", "request \"\""},
	{"{" V "\"id\":\"1\",\"method\":\"ping\"}", "request \"1\""},
	{"{" V "\"id\":\"q\\\"\\u0041\\n\",\"method\":\"ping\"}",
	    "request \"q\\\"A\\n\""},
	{"{" V "\"id\":\"" A254 "\",\"method\":\"x\"}", "request \"" A254 "\""},
	{"{" V "\"\\u0069d\":5,\"method\":\"x\"}", "request 5"},
	{"{" V "\"id\":1,\"method\":\"x\",\"params\":{}}", "request 1"},
	{"{" V "\"id\":1,\"method\":\"\"}", "request 1"},
	{"{" V "\"method\":\"notifications/initialized\"}", "notification "},
	{"{" V "\"method\":\"x\",\"params\":{\"a\":[1,2]}}", "notification "},
	{"{" V "\"id\":3,\"result\":{}}", "result 3"},
	{"{" V "\"id\":3,\"result\":null}", "result 3"},
	{"{" V "\"id\":\"i\",\"result\":{\"a\":1}}", "result \"i\""},
	{"{" V "\"id\":3,\"error\":{\"code\":-1,\"message\":\"m\"}}",
	    "error 3"},
	{"{" V "\"id\":3,\"error\":{\"code\":-1,\"message\":\"\",\"data\":4}}",
	    "error 3"},
	{"{" V "\"id\":null,\"error\":{\"code\":0,\"message\":\"m\"}}",
	    "error "},
	{"{" V "\"error\":{\"code\":0,\"message\":\"m\"}}", "error "},
	/* not JSON */
	{"x", NOTJSON(0)},
	{" ", SHORT(1)},
	{"{", SHORT(1)},
	{"}", NOTJSON(0)},
	{"{]", NOTJSON(1)},
	{"{" V "\"id\":1,\"method\":\"ping\"", SHORT(39)},
	{"{" V "\"id\":1,\"method\":\"ping\"}}",
	    PARSE("something after the value at byte 40")},
	{"{" V "\"id\":1,\"method\":\"ping\"}{}",
	    PARSE("something after the value at byte 40")},
	{"{" V "\"id\":1,\"method\":\"ping\",}", NOTJSON(40)},
	{"{" V "\"id\":1 \"method\":\"ping\"}", NOTJSON(24)},
	{"{'id':1}", NOTJSON(1)},
	{"{id:1}", NOTJSON(1)},
	{"{" V "\"id\":1,\"id\":2,\"method\":\"ping\"}",
	    PARSE("duplicate member name at byte 24")},
	{"{" V "\"id\":1,\"\\u0069d\":2,\"method\":\"ping\"}",
	    PARSE("duplicate member name at byte 24")},
	{"{" V "\"id\":1,\"method\":\"x\",\"params\":{\"a\":1,\"a\":1}}",
	    PARSE("duplicate member name at byte 53")},
	{"{" V "\"id\":01,\"method\":\"x\"}", PARSE("bad number at byte 23")},
	{"{" V "\"id\":1.,\"method\":\"x\"}", PARSE("bad number at byte 24")},
	{"{" V "\"id\":+1,\"method\":\"x\"}", NOTJSON(22)},
	{"{" V "\"id\":NaN,\"method\":\"x\"}", NOTJSON(22)},
	{"{" V "\"id\":Infinity,\"method\":\"x\"}", NOTJSON(22)},
	{"{" V "\"id\":1e,\"method\":\"x\"}", PARSE("bad number at byte 24")},
	{"{" V "\"id\":11111111111111111111111111111111111111111,\"method\":"
	    "\"x\"}", PARSE("bad number at byte 22")},
	{"{" V "\"id\":tru,\"method\":\"x\"}", NOTJSON(25)},
	{"{" V "\"id\":True,\"method\":\"x\"}", NOTJSON(22)},
	{"{" V "\"id\":\"a\tb\",\"method\":\"x\"}", NOTJSON(24)},
	{"{" V "\"id\":\"\\x\",\"method\":\"x\"}", NOTJSON(23)},
	{"{" V "\"id\":\"\\u00g0\",\"method\":\"x\"}", NOTJSON(23)},
	{"{" V "\"id\":\"\\ud800\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"{" V "\"id\":\"\\udc00\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"{" V "\"id\":\"\xff\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"{" V "\"id\":\"\xc0\xaf\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"{" V "\"id\":\"\xed\xa0\x80\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"{" V "\"id\":\"\xf4\x90\x80\x80\",\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 23")},
	{"\xef\xbb\xbf{" V "\"id\":1,\"method\":\"x\"}",
	    PARSE("not well-formed Unicode at byte 0")},
	{"{" V "/* c */\"id\":1,\"method\":\"x\"}", NOTJSON(17)},
	{"{" V "\"id\":1,\"method\":\"x\"} // c",
	    PARSE("something after the value at byte 38")},
	{"// c", NOTJSON(0)},
	{"Content-Length: 40", NOTJSON(0)},
	{"GET / HTTP/1.1", NOTJSON(0)},
	/* not a message */
	{"null", INVALID("", "a message is an object, not null")},
	{"1", INVALID("", "a message is an object, not a number")},
	{"\"ping\"", INVALID("", "a message is an object, not a string")},
	{"true", INVALID("", "a message is an object, not a boolean")},
	{"[]", INVALID("",
	    "batches are not supported: send one message a line")},
	{"[{" V "\"id\":1,\"method\":\"ping\"}]", INVALID("",
	    "batches are not supported: send one message a line")},
	{"{}", INVALID("", "member jsonrpc is missing")},
	{"{\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "member jsonrpc is missing")},
	{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "jsonrpc must be \\\"2.0\\\"")},
	{"{\"jsonrpc\":\"2.0 \",\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "jsonrpc must be \\\"2.0\\\"")},
	{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "jsonrpc must be the string \\\"2.0\\\", not a "
	    "number")},
	{"{\"jsonrpc\":null,\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "jsonrpc must be the string \\\"2.0\\\", not null")},
	{"{\"JSONRPC\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
	    INVALID(ID("1"), "unknown member \\\"JSONRPC\\\"")},
	{"{" V "\"id\":1,\"method\":\"ping\",\"Method\":\"x\"}",
	    INVALID(ID("1"), "unknown member \\\"Method\\\"")},
	{"{" V "\"id\":1,\"method\":\"ping\",\"_meta\":{}}",
	    INVALID(ID("1"), "unknown member \\\"_meta\\\"")},
	{"{" V "\"id\":1,\"method\":\"ping\",\"p\xc4\xb1\\u0007\":{}}",
	    INVALID(ID("1"), "unknown member \\\"p\\\\xc4\\\\xb1\\\\x07\\\"")},
	{"{" V "\"id\":null,\"method\":\"ping\"}", INVALID("",
	    "id must be a string or an integer, not null")},
	{"{" V "\"id\":true,\"method\":\"ping\"}", INVALID("",
	    "id must be a string or an integer, not a boolean")},
	{"{" V "\"id\":[1],\"method\":\"ping\"}", INVALID("",
	    "id must be a string or an integer, not an array")},
	{"{" V "\"id\":{},\"method\":\"ping\"}", INVALID("",
	    "id must be a string or an integer, not an object")},
	{"{" V "\"id\":1.0,\"method\":\"ping\"}", INVALID("",
	    "id must be an integer of 64 bits")},
	{"{" V "\"id\":1e3,\"method\":\"ping\"}", INVALID("",
	    "id must be an integer of 64 bits")},
	{"{" V "\"id\":-0,\"method\":\"ping\"}", INVALID("",
	    "id must be an integer of 64 bits")},
	{"{" V "\"id\":9223372036854775808,\"method\":\"ping\"}",
	    INVALID("", "id must be an integer of 64 bits")},
	{"{" V "\"id\":\"a" A254 "\",\"method\":\"ping\"}", INVALID("",
	    "id is longer than 254 bytes")},
	{"{" V "\"id\":1}", INVALID(ID("1"),
	    "neither method, result nor error")},
	{"{" V "\"id\":1,\"params\":{}}", INVALID(ID("1"),
	    "neither method, result nor error")},
	{"{" V "\"id\":1,\"method\":null}", INVALID(ID("1"),
	    "method must be a string, not null")},
	{"{" V "\"id\":1,\"method\":7}", INVALID(ID("1"),
	    "method must be a string, not a number")},
	{"{" V "\"id\":1,\"method\":[\"ping\"]}", INVALID(ID("1"),
	    "method must be a string, not an array")},
	{"{" V "\"id\":1,\"method\":\"x\",\"params\":[]}", INVALID(ID("1"),
	    "params must be an object, not an array")},
	{"{" V "\"id\":1,\"method\":\"x\",\"params\":null}", INVALID(ID("1"),
	    "params must be an object, not null")},
	{"{" V "\"id\":1,\"method\":\"x\",\"params\":\"p\"}", INVALID(ID("1"),
	    "params must be an object, not a string")},
	{"{" V "\"method\":\"x\",\"params\":1}", INVALID("",
	    "params must be an object, not a number")},
	{"{" V "\"id\":1,\"method\":\"x\",\"result\":{}}", INVALID(ID("1"),
	    "method and result in one message")},
	{"{" V "\"id\":1,\"method\":\"x\",\"error\":{}}", INVALID(ID("1"),
	    "method and error in one message")},
	{"{" V "\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":"
	    "\"\"}}", INVALID(ID("1"), "both result and error")},
	{"{" V "\"id\":1,\"result\":{},\"params\":{}}", INVALID(ID("1"),
	    "params in an answer")},
	{"{" V "\"result\":{}}", INVALID("", "result without id")},
	{"{" V "\"id\":1,\"error\":\"x\"}", INVALID(ID("1"),
	    "error must be an object, not a string")},
	{"{" V "\"id\":1,\"error\":null}", INVALID(ID("1"),
	    "error must be an object, not null")},
	{"{" V "\"id\":1,\"error\":{\"message\":\"\"}}", INVALID(ID("1"),
	    "error.code must be an integer")},
	{"{" V "\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}",
	    INVALID(ID("1"), "error.code must be an integer")},
	{"{" V "\"id\":1,\"error\":{\"code\":1.5,\"message\":\"\"}}",
	    INVALID(ID("1"), "error.code must be an integer")},
	{"{" V "\"id\":1,\"error\":{\"code\":1}}", INVALID(ID("1"),
	    "error.message must be a string")},
	{"{" V "\"id\":1,\"error\":{\"code\":1,\"message\":1}}",
	    INVALID(ID("1"), "error.message must be a string")},
};

static const struct {
	const char *line;
	uint64_t id;		/* 0 if none is found */
} ids[] = {
	{"{" V "\"id\":17,\"result\":{}}", 17},
	{"{\"result\":{\"id\":4},\"id\": 17 }", 17},
	{"{\"id\":17,\"result\":\"\\\"id\\\":3,{\"}", 17},
	{"{\"id\":17,\"result\":[{\"id\":1},{\"id\":2}]}", 17},
	{"{\"result\":\"\\ud800\",\"id\":5}", 5},
	{"{\"id\":17,\"id\":18}", 0},
	{"{\"id\":17,\"result\":{}", 0},
	{"{\"id\":17}}", 0},
	{"{\"id\":\"17\"}", 0},
	{"{\"id\":1.5}", 0},
	{"{\"id\":-1}", 0},
	{"{\"id\":1e3}", 0},
	{"{\"id\":99999999999999999999}", 0},
	{"{\"id\":17,\"x\":\"}", 0},
	{"{\"id\":17,\"x\":\"\\", 0},
	{"{\"a\":\"id\",\"b\":17}", 0},
	{"{\"id\"", 0},
	{"{\"id\":", 0},
	{"", 0},
};
/* clang-format on */

static void
check_row(struct value_pool *pool, const char *line, const char *want)
{
	static const char *const kinds[] = {
	    "bad", "request", "notification", "result", "error"};
	struct jsonrpc m;
	struct buf b;

	buf_init(&b, 8192);
	value_pool_reset(pool);
	jsonrpc_read(pool, span_str(line), &m);
	if (m.kind == JSONRPC_BAD)
		(void)jsonrpc_add_error(&b, &m.id, m.code, span_str(m.why));
	else
		buf_printf(&b, "%s %.*s", kinds[m.kind], (int)m.id.len,
		    (const char *)m.id.text);
	is_mem(buf_span(&b).p, b.len, want, strlen(want), "%.100s", line);
	buf_free(&b);
}

static void
check_parts(struct value_pool *pool)
{
	static const char line[] =
	    "{" V "\"id\":3,\"error\":{\"code\":-5,\"message\":\"m\"}}";
	struct jsonrpc m;
	struct buf b;

	value_pool_reset(pool);
	jsonrpc_read(pool, span_str(line), &m);
	is_int(m.error, -5, "an error's code is taken");
	ok(span_is(m.message, "m"), "and its message");
	jsonrpc_read(pool,
	    SPAN("{" V "\"id\":3,\"method\":\"a/b\",\"params\":{\"c\":1}}"),
	    &m);
	ok(span_is(m.method, "a/b"), "a request's method is taken");
	ok(value_get(m.params, "c") != NULL, "and its params");
	buf_init(&b, 8192);
	(void)jsonrpc_add_text(&b, &m.id, SPAN("a\"\n\x01"), true);
	is_mem(buf_span(&b).p, b.len,
	    "{\"id\":3,\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"text\":"
	    "\"a\\\"\\n\\u0001\",\"type\":\"text\"}],\"isError\":true}}\n",
	    100, "a text result is one canonical line");
	buf_free(&b);
}

/* Pieces of every size give the same lines. */
static void
check_lines(void)
{
	static const char text[] = "one\n\ntwo\nthree\nrest";
	struct lines l;
	struct span line;
	char got[64];
	bool same = true;
	size_t n;

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		lines_init(&l, 5);
		got[0] = '\0';
		for (size_t at = 0; at < sizeof(text) - 1; at += n) {
			n = sizeof(text) - 1 - at;
			n = n < piece ? n : piece;
			memcpy(lines_room(&l), text + at, n);
			lines_filled(&l, n);
			while (lines_next(&l, &line) == LINES_ONE)
				snprintf(got + strlen(got),
				    sizeof(got) - strlen(got), "%.*s|",
				    (int)line.len, (const char *)line.p);
			lines_done(&l);
		}
		same = same && strcmp(got, "one||two|three|") == 0 &&
		       lines_rest(&l) == 4;
		lines_free(&l);
	}
	ok(same, "lines come out the same from pieces of any size");

	lines_init(&l, 5);
	memcpy(lines_room(&l), "12345", 5);
	lines_filled(&l, 5);
	is_int(lines_next(&l, &line), LINES_MORE, "as long as allowed");
	memcpy(lines_room(&l), "6", 1);
	lines_filled(&l, 1);
	is_int(lines_next(&l, &line), LINES_LONG, "a byte too long, no end");
	is_int(line.len, 6, "is given away");
	lines_done(&l);
	memcpy(lines_room(&l), "78\nabc\n", 7);
	lines_filled(&l, 7);
	is_int(lines_next(&l, &line), LINES_LONG_END, "then its end");
	is_int(line.len, 2, "with the rest");
	is_int(lines_next(&l, &line), LINES_ONE, "and the next line");
	lines_free(&l);
	lines_init(&l, 5);
	memcpy(lines_room(&l), "12345\n123456\n", 13);
	lines_filled(&l, 13);
	is_int(lines_next(&l, &line), LINES_ONE, "the longest line");
	lines_again(&l, line);
	is_int(lines_next(&l, &line), LINES_ONE, "once more");
	is_int(line.len, 5, "is the same one");
	is_int(lines_next(&l, &line), LINES_LONG, "a byte too long, whole");
	lines_free(&l);
}

int
main(void)
{
	struct value_pool *pool;
	uint64_t id;

	if ((pool = value_pool_new(1 << 20)) == NULL)
		return 1;
	for (size_t i = 0; i < nitems(rows); i++)
		check_row(pool, rows[i].line, rows[i].want);
	for (size_t i = 0; i < nitems(ids); i++) {
		id = 0;
		is_int(jsonrpc_find_id(span_str(ids[i].line), &id),
		    ids[i].id == 0 ? -1 : 0, "id in %s", ids[i].line);
		if (ids[i].id != 0)
			is_int(id, ids[i].id, "which one");
	}
	check_parts(pool);
	check_lines();
	value_pool_free(pool);
	return tap_done();
}
