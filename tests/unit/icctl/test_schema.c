/* SPDX-License-Identifier: ISC */
/* JSON Schemas: each keyword, errors in schemas, and what never ends. */
#include "icctl/schema/schema.h"

#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "tap.h"

static struct value_pool *pool;
static char got[600];

/* Returns "" if it fits, else "PATH: TEXT"; "schema PATH: TEXT" for a bad one.
 */
static const char *
match(const char *schema, const char *text)
{
	const struct value *s, *v;
	struct schema_fail f;

	value_pool_reset(pool);
	s = json_read(pool, span_str(schema), NULL);
	v = json_read(pool, span_str(text), NULL);
	got[0] = '\0';
	if (s == NULL || v == NULL)
		return "no JSON";
	if (schema_check(s, &f) == -1)
		snprintf(got, sizeof(got), "schema %s: %s", f.path, f.text);
	else if (schema_match(s, v, &f) == -1)
		snprintf(got, sizeof(got), "%s: %s", f.path, f.text);
	return got;
}

static const struct {
	const char *schema, *good, *bad, *why;
} rows[] = {
    {"{\"type\":\"integer\"}", "1.0", "1.5", ": must be of type integer, "},
    {"{\"type\":[\"string\",\"null\"]}", "null", "1",
	": must be of type string or another"},
    {"{\"type\":\"string\",\"format\":\"date\"}", "\"no date\"", "1",
	": must be of type string"},
    {"{\"type\":\"number\"}", "-1e9", "true", ": must be of type number"},
    {"{\"enum\":[1,\"a\"]}", "1.0", "\"b\"", ": is none of"},
    {"{\"const\":[1,{\"a\":2}]}", "[1,{\"a\":2}]", "[1]", ": is not the"},
    {"{\"required\":[\"a\"]}", "{\"a\":null}", "{\"b\":1}", ": lacks \"a\""},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", "{\"a\":1}",
	"/a: must be"},
    {"{\"properties\":{\"a\":true},\"additionalProperties\":false}",
	"{\"a\":1}", "{\"a\":1,\"b/c~d\":2}", "/b~1c~0d: is not allowed"},
    {"{\"additionalProperties\":{\"maximum\":3}}", "{\"x\":3}", "{\"x\":4}",
	"/x: is more than maximum"},
    {"{\"minProperties\":1,\"maxProperties\":1}", "{\"a\":1}", "{}",
	": has 0, minProperties is 1"},
    {"{\"items\":{\"minimum\":0}}", "[0,1]", "[0,1,-1]",
	"/2: is less than minimum"},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\"]",
	"[\"a\",1]", "/1: is not allowed"},
    {"{\"minItems\":2,\"maxItems\":3}", "[1,2]", "[1,2,3,4]",
	": has 4, maxItems is 3"},
    {"{\"uniqueItems\":true}", "[1,\"1\"]", "[1,2,1.0]", ": has the same"},
    {"{\"minLength\":2,\"maxLength\":2}", "\"\xc3\xa4\xc3\xb6\"", "\"abc\"",
	": has 3, maxLength is 2"},
    {"{\"exclusiveMinimum\":0,\"exclusiveMaximum\":1}", "0.5", "1",
	": is not less than"},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "2", "3",
	": is more than"},
    {"{\"anyOf\":[{\"const\":1},{\"const\":2}]}", "2", "3", ": fits none"},
    {"{\"oneOf\":[{\"type\":\"number\"},{\"type\":\"integer\"}]}", "1.5", "1",
	": fits more than one"},
    {"{\"not\":{\"type\":\"null\"}}", "1", "null", ": fits what \"not\""},
    {"{\"$defs\":{\"n\":{\"properties\":{\"next\":{\"$ref\":\"#/$defs/n\"}},"
     "\"additionalProperties\":false}},\"$ref\":\"#/$defs/n\"}",
	"{\"next\":{\"next\":{}}}", "{\"next\":{\"x\":1}}",
	"/next/x: is not allowed"},
    {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
     "\"title\":\"t\",\"description\":\"d\",\"minimum\":1}",
	"\"a string\"", "0", ": is less than"},
    {"false", NULL, "1", ": is not allowed"},
};

static void
keywords(void)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		if (rows[i].good != NULL)
			is_str(match(rows[i].schema, rows[i].good), "", "%s",
			    rows[i].schema);
		ok(strncmp(match(rows[i].schema, rows[i].bad), rows[i].why,
		       strlen(rows[i].why)) == 0,
		    "%s", rows[i].why);
	}
}

static void
schemas(void)
{
	static const char *const bad[][2] = {
	    {"1", "schema : must be an object"},
	    {"{\"patternProperties\":{}}",
		"schema /patternProperties: this keyword"},
	    {"{\"pattern\":1}", "schema /pattern: must be a string"},
	    {"{\"pattern\":\"(a\"}", "schema /pattern: has a ( without"},
	    {"{\"pattern\":\"a)\"}", "schema /pattern: has a ) without"},
	    {"{\"pattern\":\"[a\"}", "schema /pattern: has a [ without"},
	    {"{\"pattern\":\"*\"}", "schema /pattern: repeats nothing"},
	    {"{\"pattern\":\"^*\"}", "schema /pattern: repeats nothing"},
	    {"{\"pattern\":\"a{3,2}\"}", "schema /pattern: has a wrong number"},
	    {"{\"pattern\":\"(a{900}){900}\"}", "schema /pattern: is too long"},
	    {"{\"pattern\":\"(?=a)\"}", "schema /pattern: looks ahead"},
	    {"{\"pattern\":\"(?<!a)b\"}", "schema /pattern: looks ahead"},
	    {"{\"pattern\":\"(a)\\\\1\"}", "schema /pattern: has an escape"},
	    {"{\"pattern\":\"\\\\pL\"}", "schema /pattern: has an escape"},
	    {"{\"pattern\":\"\\\\\"}", "schema /pattern: has an escape"},
	    {"{\"pattern\":\"[z-a]\"}", "schema /pattern: has a wrong range"},
	    {"{\"properties\":{\"a\":{\"typ\":1}}}",
		"schema /properties/a/typ: this"},
	    {"{\"type\":\"any\"}", "schema /type: must be array"},
	    {"{\"type\":[]}", "schema /type: must not be empty"},
	    {"{\"enum\":[]}", "schema /enum: must be a list"},
	    {"{\"required\":[1]}", "schema /required: must be a list"},
	    {"{\"minItems\":-1}", "schema /minItems: must be a whole"},
	    {"{\"maximum\":\"1\"}", "schema /maximum: must be a number"},
	    {"{\"uniqueItems\":1}", "schema /uniqueItems: must be true"},
	    {"{\"anyOf\":[true,2]}", "schema /anyOf/1: must be an object"},
	    {"{\"$ref\":\"#/$defs/none\"}", "schema /$ref: must be #"},
	    {"{\"$ref\":\"http://x/\"}", "schema /$ref: must be #"},
	    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
		"schema /$schema: only 2020-12"}};

	for (size_t i = 0; i < nitems(bad); i++)
		ok(strncmp(match(bad[i][0], "1"), bad[i][1],
		       strlen(bad[i][1])) == 0,
		    "%s", bad[i][1]);
}

/* Patterns, with a text in which each is found and one in which it is not. */
static void
patterns(void)
{
	static const char *const list[][3] = {
	    {"b", "abc", "ac"},
	    {"^b", "bc", "abc"},
	    {"c$", "abc", "abcd"},
	    {"^$", "", "a"},
	    {"^[a-z_][a-z0-9_]*$", "a_9", "9a"},
	    {"^\\\\d{4}-\\\\d{2}$", "2026-11", "2026-1"},
	    {"^a{2,3}$", "aaa", "aaaa"},
	    {"^a{2,}$", "aaaaa", "a"},
	    {"^a{0}b?$", "b", "ab"},
	    {"^(ab|c)+$", "abcab", "abca"},
	    {"^(?:a|bb|)c$", "c", "bc"},
	    {"^(?<year>a)+?$", "aa", "b"},
	    {"^(a*)*$", "aaa", "aab"},
	    {"^[^a-c]$", "d", "b"},
	    {"^[\\\\w.-]+@[\\\\w-]+$", "a.b-c@d", "a b@c"},
	    {"^[\\\\D]$", "x", "1"},
	    {"^\\\\S\\\\s\\\\W$", "a -", "a b"},
	    {"^.$", "\xc3\xa4", "ab"},
	    {"^[\xc3\xa0-\xc3\xbc]$", "\xc3\xa4", "a"},
	    {"^\\\\u00e4\\\\x41$",
		"\xc3\xa4"
		"A",
		"a"},
	    {"\\\\bcat\\\\b", "a cat.", "cats"},
	    {"\\\\Bat", "cat", "at"},
	    {"^\\\\{a}]\\\\/\\\\.$", "{a}]/.", "{a}]/x"},
	    {"^[]a]*$|^[-a]$", "-", "b"},
	    {"^[a\\\\]b-]+$", "]-", "c"},
	    {"a|b|c|d", "xd", "x"},
	};
	char schema[200], text[100];

	for (size_t i = 0; i < nitems(list); i++) {
		snprintf(
		    schema, sizeof(schema), "{\"pattern\":\"%s\"}", list[i][0]);
		snprintf(text, sizeof(text), "\"%s\"", list[i][1]);
		is_str(match(schema, text), "", "%s", list[i][0]);
		snprintf(text, sizeof(text), "\"%s\"", list[i][2]);
		is_str(match(schema, text), ": does not match pattern",
		    "%s, not", list[i][0]);
	}
	is_str(match("{\"pattern\":\"^a$\"}", "1"), "", "a number has none");
}

/* Schemas that refer to themselves, or that would take for ever. */
static void
endless(void)
{
	static char text[100000];

	is_str(match("{\"$ref\":\"#\"}", "1"), ": takes too long to compare",
	    "a schema that is itself");
	is_str(match("{\"not\":{\"$ref\":\"#\"}}", "1"),
	    ": takes too long to compare", "or its own negation");
	is_str(match("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"},"
		     "{\"$ref\":\"#\"}]}",
		   "1"),
	    ": fits none of \"anyOf\"", "or one of many of itself");
	memset(text, 'a', sizeof(text) - 1);
	text[0] = text[sizeof(text) - 2] = '"';
	text[sizeof(text) - 1] = '\0';
	is_str(match("{\"pattern\":\"^(a*)*(a|a)*b$\"}", text),
	    ": does not match pattern", "a pattern of many ways");
	is_str(match("{\"pattern\":\"(a{0,900}){2}b\"}", text),
	    ": takes too long to compare", "and one of too many");
	ok(true, "all of which ends soon");
}

int
main(void)
{
	if ((pool = value_pool_new(8U << 20)) == NULL)
		return 1;
	keywords();
	schemas();
	patterns();
	endless();
	value_pool_free(pool);
	return tap_done();
}
