/* SPDX-License-Identifier: ISC */
/*
 * Definitions of tools, odd and honest: what the agent gets of each, and why it
 * gets nothing.  The rows are compared as objects.
 */
#include "common/json/json.h"
#include "define/define.h"
#include "define/mirror.h"
#include "define/pattern.h"
#include "tap.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/policyd/define_rows.h"

static struct value_pool *from, *to;

static const struct value *
read_def(const char *members)
{
	struct json_fail fail;
	const struct value *v;
	struct buf b;
	uint8_t *p;

	buf_init(&b, 1 << 20);
	buf_printf(
	    &b, "{\"name\":\"t\"%s%s}", *members != '\0' ? "," : "", members);
	if ((p = value_pool_alloc(from, b.len)) == NULL)
		errx(1, "value_pool_alloc");
	memcpy(p, buf_span(&b).p, b.len);
	v = json_read_marked(from, span_of(p, b.len), &fail);
	if (v == NULL)
		errx(1, "%s: %s", members, json_strerror(fail.error));
	buf_free(&b);
	return v;
}

static void
put(struct buf *b, const char *name, const struct value *v)
{
	if (v == NULL)
		return;
	buf_printf(b, ",\"%s\":", name);
	(void)json_write(b, v);
}

static void
put_text(struct buf *b, const char *name, struct span text)
{
	if (text.p == NULL)
		return;
	buf_printf(b, ",\"%s\":", name);
	(void)json_write_string(b, text);
}

static void
write_def(struct buf *b, const struct definition *d)
{
	buf_adds(b, "{\"name\":\"t\"");
	put(b, "annotations", d->annotations);
	put_text(b, "description", d->description);
	put_text(b, "title", d->title);
	put(b, "inputSchema", d->schema);
	put(b, "outputSchema", d->output);
	buf_addc(b, '}');
}

/* Returns what the agent gets, or the reason why it gets nothing. */
static const char *
defined(const char *members, struct definition *d)
{
	static char text[1 << 20], why[DEFINE_WHY];
	struct buf b;

	value_pool_reset(from);
	value_pool_reset(to);
	if (define_tool(to, read_def(members), d, why) == -1)
		return why;
	buf_init(&b, sizeof(text) - 1);
	write_def(&b, d);
	(void)span_copy(buf_span(&b), text, sizeof(text));
	buf_free(&b);
	return text;
}

static void
test_rows(void)
{
	struct definition d;

	for (size_t i = 0; i < nitems(rows); i++)
		is_str(
		    defined(rows[i].def, &d), rows[i].want, "%s", rows[i].what);
}

static void
test_marked(void)
{
	static const char unread[] = "it is nested too deeply, has a member "
				     "twice, or a number beyond all limits";
	struct definition d;
	char deep[1024] = "\"description\":", *p = deep + strlen(deep);

	is_str(defined("\"title\":\"a\",\"title\":\"b\"", &d), unread,
	    "a member twice");
	is_str(defined("\"inputSchema\":{\"type\":\"object\",\"maxProperties\":"
		       "1e400}",
		   &d),
	    unread, "a number that is none");
	for (unsigned i = 0; i < 100; i++)
		*p++ = '[';
	for (unsigned i = 0; i < 100; i++)
		*p++ = ']';
	is_str(defined(deep, &d), unread, "100 deep");
	is_str(defined("\"description\":\"ok\"", &d),
	    "{\"name\":\"t\",\"description\":\"ok\",\"inputSchema\":{\"type\":"
	    "\"object\"}}",
	    "and one that is not");
}

static void
test_mended(void)
{
	struct definition d;

	(void)defined("\"annotations\":{\"readOnlyHint\":1},\"title\":7", &d);
	is_int(d.mended, 2, "what was mended is counted");
	is_str(d.first, "annotations/readOnlyHint: left out: is a number",
	    "and the first is named");
	(void)defined("\"description\":\"a\"", &d);
	is_int(d.mended, 0, "an honest definition needs nothing");
}

static void
test_names(void)
{
	static const struct {
		const char *json;
		bool good;
	} names[] = {{"\"a\"", true}, {"\"a.b-C_9\"", true}, {"\"\"", false},
	    {"7", false}, {"null", false}, {"\"a b\"", false},
	    {"\"a/b\"", false}, {"\"\\u00e9\"", false}, {"\"a\\u0000\"", false},
	    {"\"a\\u200b\"", false}};
	char text[200];

	for (size_t i = 0; i < nitems(names); i++) {
		value_pool_reset(from);
		ok((define_name(json_read(from, span_str(names[i].json),
			NULL)) == NULL) == names[i].good,
		    "the name %s", names[i].json);
	}
	ok(define_name(NULL) != NULL, "no name");
	for (int n = 128; n < 130; n++) {
		value_pool_reset(from);
		snprintf(text, sizeof(text), "\"%0*d\"", n, 0);
		ok((define_name(json_read(from, span_str(text), NULL)) ==
		       NULL) == (n == 128),
		    "a name of %d", n);
	}
}

/* Which of the two grammars take a pattern: 0, 1 (Annex B), 2 (u), 3 (both). */
static const struct {
	const char *pattern;
	int want;
} patterns[] = {{"", 3}, {"^[a-z0-9_-]+$", 3}, {"^\\w+([.-]\\w+)*$", 3},
    {"(?:a|b)*?c{2,}", 3}, {"(?<y>\\d{4})-\\k<y>", 3}, {"(?<=a)b(?!c)", 3},
    {"\\p{L}+", 3}, {"\\u{1F600}", 3}, {"[\\u00e0-\\u00ff]", 3}, {"[\\w-.]", 1},
    {"\\-", 1}, {"a{", 1}, {"]", 1}, {"\\1", 1}, {"\\p{Nope}", 1}, {"\\x4", 1},
    {"(?=a)*", 1}, {"\\8", 1}, {"\\c", 1}, {"[\\c_]", 1}, {"\\01", 1}, {"(", 0},
    {")", 0}, {"[", 0}, {"*", 0}, {"a**", 0}, {"^*", 0}, {"a{2,1}", 0},
    {"[z-a]", 0}, {"\\", 0}, {"(?i)a", 0}, {"(?P<n>a)", 0}, {"(?>a)", 0},
    {"a++", 0}, {"(?<n>a)(?<n>b)", 0}, {"(?<1>a)", 0}, {"(?<n>a)\\k<m>", 0},
    {"(?<=a)*", 0}, {"x{1}{2}", 0}};

static void
test_patterns(void)
{
	struct span s;
	int got;

	for (size_t i = 0; i < nitems(patterns); i++) {
		s = span_str(patterns[i].pattern);
		got = (pattern_check(s, false) == NULL) |
		      (pattern_check(s, true) == NULL) << 1;
		is_int(got, patterns[i].want, "the pattern %s",
		    patterns[i].pattern);
	}
}

#define MARKED(type, mark)                                                     \
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"   \
	"\"" type "\",\"x-mcp-header\":" mark "}}}"

/* Parameters that a remote server wants in headers. */
static const struct {
	const char *def, *why; /* "": it may be used */
} mirrors[] = {
    {MARKED("string", "\"Region\""), ""},
    {MARKED("integer", "\"X-1_a\""), ""},
    {MARKED("boolean", "\"Flag\""), ""},
    {MARKED("number", "\"N\""), "no string, integer or boolean"},
    {MARKED("object", "\"O\""), "no string, integer or boolean"},
    {MARKED("array", "\"A\""), "no string, integer or boolean"},
    {MARKED("null", "\"N\""), "no string, integer or boolean"},
    {MARKED("string", "\"\""), "is no name"},
    {MARKED("string", "5"), "is no name"},
    {MARKED("string", "null"), "is no name"},
    {MARKED("string", "\"My Region\""), "no name of a header"},
    {MARKED("string", "\"a:b\""), "no name of a header"},
    {MARKED("string", "\"a\\r\\nHost\""), "no name of a header"},
    {MARKED("string", "\"R\xc3\xa9gion\""), "no name of a header"},
    {MARKED("string", "\"a\\u0000\""), "no name of a header"},
    {MARKED("string", "\"0123456789012345678901234567890123456789"
		      "0123456789012345678901234\""),
	"more than 64 bytes"},
    {"\"inputSchema\":{\"x-mcp-header\":\"A\",\"type\":\"string\"}",
	"not at a parameter"},
    {"\"inputSchema\":{\"properties\":{\"a\":{\"type\":\"string\","
     "\"x-mcp-header\":\"A\"},\"b\":{\"type\":\"string\","
     "\"x-mcp-header\":\"a\"}}}",
	"names one header twice"},
    {"\"inputSchema\":{\"properties\":{\"a\":{\"properties\":{\"b\":"
     "{\"type\":\"string\",\"x-mcp-header\":\"B\"}}}}}",
	""},
    {"\"inputSchema\":{\"properties\":{\"a\":{\"items\":"
     "{\"type\":\"string\",\"x-mcp-header\":\"B\"}}}}",
	"not at a parameter"},
    {"\"inputSchema\":{\"anyOf\":[{\"properties\":{\"a\":"
     "{\"type\":\"string\",\"x-mcp-header\":\"B\"}}}]}",
	"not at a parameter"},
    {"\"inputSchema\":{\"$defs\":{\"a\":"
     "{\"type\":\"string\",\"x-mcp-header\":\"B\"}}}",
	"not at a parameter"},
    {"\"inputSchema\":{\"properties\":{\"x-mcp-header\":"
     "{\"type\":\"string\"}},\"default\":{\"x-mcp-header\":5}}",
	""},
    {"\"description\":\"no schema\"", ""},
};

static void
test_mirrors(void)
{
	static const char args[] =
	    "{\"s\":\"a \\\"b\",\"i\":42,\"t\":true,\"z\":null,"
	    "\"o\":{\"n\":\"\"},\"u\":\"x\"}";
	static const char schema[] =
	    "{\"properties\":{\"s\":{\"x-mcp-header\":\"S\"},"
	    "\"i\":{\"x-mcp-header\":\"I\"},\"t\":{\"x-mcp-header\":\"T\"},"
	    "\"z\":{\"x-mcp-header\":\"Z\"},\"y\":{\"x-mcp-header\":\"Y\"},"
	    "\"o\":{\"properties\":{\"n\":{\"x-mcp-header\":\"N\"}}},"
	    "\"u\":{}}}";
	/* A text that is too long, one with U+0000, and too many. */
	static const struct {
		size_t n;
		const char *with, *bad;
	} limits[] = {{2045, "", ""}, {2046, "", "s"}, {5, "\\u0000", "s"},
	    {1200, "\",\"w\":\"", ""}, {2045, "\",\"w\":\"", "w"}};
	static char text[8192];
	struct span bad;
	char why[DEFINE_WHY];
	struct buf b;

	for (size_t i = 0; i < nitems(mirrors); i++) {
		value_pool_reset(from);
		why[0] = '\0';
		ok((mirror_check(value_get(read_def(mirrors[i].def),
				     "inputSchema"),
			why) == 0) == (mirrors[i].why[0] == '\0') &&
			strstr(why, mirrors[i].why) != NULL,
		    "%s: %s", mirrors[i].def, why);
	}
	value_pool_reset(from);
	buf_init(&b, 4096);
	is_int(mirror_put(&b, json_read(from, span_str(schema), NULL),
		   json_read(from, span_str(args), NULL), &bad),
	    0, "parameters that can be in headers");
	buf_addc(&b, '\0');
	is_str((const char *)buf_span(&b).p,
	    " I 42 N \"\" S \"a \\\"b\" T true", "what goes into headers");
	buf_free(&b);
	for (size_t i = 0; i < nitems(limits); i++) {
		char x[2100];

		memset(x, 'x', sizeof(x));
		(void)snprintf(text, sizeof(text), "{\"s\":\"%.*s%s%.*s\"}",
		    (int)limits[i].n, x, limits[i].with,
		    limits[i].with[0] == '"' ? 2000 : 0, x);
		value_pool_reset(from);
		buf_init(&b, 4000);
		bad = SPAN("");
		ok((mirror_put(&b,
			json_read(from,
			    SPAN("{\"properties\":{"
				 "\"s\":{\"x-mcp-header\":\"S\"},"
				 "\"w\":{\"x-mcp-header\":\"W\"}}}"),
			    NULL),
			json_read(from, span_str(text), NULL), &bad) == -1) ==
			    (limits[i].bad[0] != '\0') &&
			span_is(bad, limits[i].bad),
		    "%zu bytes, and %s: \"%s\" is refused", limits[i].n,
		    limits[i].with, limits[i].bad);
		buf_free(&b);
	}
}

int
main(void)
{
	if ((from = value_pool_new(8U << 20)) == NULL ||
	    (to = value_pool_new(16U << 20)) == NULL)
		err(1, "value_pool_new");
	test_rows();
	test_marked();
	test_mended();
	test_names();
	test_patterns();
	test_mirrors();
	value_pool_free(from);
	value_pool_free(to);
	return tap_done();
}
