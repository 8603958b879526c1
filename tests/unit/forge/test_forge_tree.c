/* SPDX-License-Identifier: ISC */
/*
 * Call trees of a broken mitmd: forge_check() takes them off the wire, and
 * accepts none that forge_request_read() could not have made.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "forge_case.h"
#include "tests/lib/tap.h"

/* Trees as JSON, each with what is refused about it. */
static const struct {
	const char *tree, *why;
} trees[] = {
    {"{}", "no call"},
    {"[]", "no call"},
    {"\"query\"", "no call"},
    {"null", "no call"},
    {"{\"call\":\"subscription\",\"select\":[]}", "no call"},
    {"{\"call\":[\"query\"],\"select\":[]}", "no call"},
    {"{\"call\":\"query\"}", "malformed"},
    {"{\"call\":\"query\",\"select\":[]}", "without fields"},
    {"{\"call\":\"query\",\"select\":{}}", "without fields"},
    {"{\"call\":\"query\",\"select\":[1]}", "malformed"},
    {"{\"call\":\"query\",\"select\":[{}]}", "malformed"},
    {"{\"call\":\"query\",\"select\":[{\"name\":\"viewer\",\"select\":[{"
     "\"name\":\"login\"}]}],\"more\":1}",
	"malformed"},
    {"{\"call\":\"query\",\"select\":[{\"name\":\"viewer\",\"select\":[{"
     "\"name\":\"login\",\"text\":\"}mutation{\"}]}]}",
	"malformed"},
    {"{\"call\":\"query\",\"select\":[{\"name\":\"viewer{login}} #\"}]}",
	"not on the list"},
    {"{\"call\":\"query\",\"select\":[{\"alias\":\"a:b{c} x\",\"name\":"
     "\"viewer\",\"select\":[{\"name\":\"login\"}]}]}",
	"alias"},
    {"{\"call\":\"query\",\"select\":[{\"alias\":\"\",\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"alias"},
    {"{\"call\":\"query\",\"select\":[{\"alias\":\"1a\",\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"alias"},
    {"{\"call\":\"query\",\"select\":[{\"alias\":null,\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"alias"},
    {"{\"call\":\"query\",\"select\":[{\"on\":\"Query\",\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"malformed"},
    {"{\"call\":\"query\",\"select\":[{\"on\":\"Mutation\",\"select\":[{"
     "\"name\":\"addComment\"}]}]}",
	"fragment on Mutation"},
    {"{\"call\":\"query\",\"select\":[{\"on\":7,\"select\":[]}]}", "malformed"},
    {"{\"call\":\"query\",\"select\":[{\"args\":[],\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"an object"},
    {"{\"call\":\"query\",\"select\":[{\"args\":{\"x\":1},\"name\":\"viewer\","
     "\"select\":[{\"name\":\"login\"}]}]}",
	"not permitted"},
    {"{\"call\":\"mutation\",\"select\":[{\"name\":\"viewer\",\"select\":[{"
     "\"name\":\"login\"}]}]}",
	"malformed"},
    {"{\"call\":\"query\",\"select\":[{\"args\":{\"input\":{\"body\":\"x\","
     "\"subjectId\":\"I_1\"}},\"name\":\"addComment\",\"select\":[{\"name\":"
     "\"clientMutationId\"}]}]}",
	"addComment"},
    {"{\"call\":\"rest\"}", "no route"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{},\"query\":{},"
     "\"route\":\"nothing\"}",
	"no route"},
    {"{\"call\":\"rest\",\"method\":\"DELETE\",\"path\":{\"repository\":"
     "\"me/shop\"},\"query\":{},\"route\":\"repository\"}",
	"no route"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{},\"query\":{},"
     "\"route\":\"repository\"}",
	"does not fit"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "\"me/other\"},\"query\":{},\"route\":\"repository\"}",
	"repository in the path"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "[\"me/shop\"]},\"query\":{},\"route\":\"repository\"}",
	"repository in the path"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "\"me/shop\",\"x\":\"y\"},\"query\":{},\"route\":\"repository\"}",
	"does not fit"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"number\":"
     "\"1/../../keys\",\"repository\":\"me/shop\"},\"query\":{},\"route\":"
     "\"issue\"}",
	"number in the path"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"path\":[\"..\"],"
     "\"repository\":\"me/shop\"},\"query\":{\"ref\":\"x\"},\"route\":"
     "\"contents\"}",
	"path in the path"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"path\":[],"
     "\"repository\":\"me/shop\"},\"query\":{},\"route\":\"contents\"}",
	"path in the path"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "\"me/shop\"},\"query\":{\"x\":\"y\"},\"route\":\"repository\"}",
	"not permitted"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "\"me/shop\"},\"query\":{\"page\":7},\"route\":\"issues\"}",
	"no route"},
    {"{\"call\":\"rest\",\"method\":\"GET\",\"path\":{\"repository\":"
     "\"me/shop\"},\"query\":{\"page\":null},\"route\":\"issues\"}",
	"no route"},
    {"{\"body\":{},\"call\":\"rest\",\"method\":\"GET\",\"path\":{"
     "\"repository\":\"me/shop\"},\"query\":{},\"route\":\"repository\"}",
	"no route"},
    {"{\"body\":[],\"call\":\"rest\",\"method\":\"POST\",\"path\":{"
     "\"repository\":\"me/shop\"},\"query\":{},\"route\":\"issue-create\"}",
	"no route"},
    {"{\"call\":\"rest\",\"method\":\"POST\",\"path\":{\"repository\":"
     "\"me/shop\"},\"query\":{},\"route\":\"issue-create\"}",
	"lacks"},
};

static void
test_trees(void)
{
	const struct value *v;
	struct forge_case c;

	for (size_t i = 0; i < nitems(trees); i++) {
		case_init(&c, FORGE_GITHUB);
		v = json_read(c.pool, span_str(trees[i].tree), NULL);
		ok(v != NULL, "tree %zu is JSON", i);
		ok(v != NULL &&
			forge_check(&c.grant, v, &c.call, &c.fail) == -1 &&
			strstr(c.fail.why, trees[i].why) != NULL,
		    "tree %zu, \"%s\": %s", i, trees[i].why, c.fail.why);
		case_free(&c);
	}
}

/* A tree of `depth` levels of fragments, or of `width` fields. */
static void
big(struct forge_case *c, unsigned depth, unsigned width, const char *why)
{
	const struct value *v;
	struct buf b;

	buf_init(&b, 1U << 22);
	buf_adds(&b, "{\"call\":\"query\",\"select\":[");
	for (unsigned i = 0; i < depth; i++)
		buf_adds(&b, "{\"on\":\"Query\",\"select\":[");
	for (unsigned i = 0; i < width; i++)
		buf_printf(&b, "%s{\"name\":\"__typename\"}", i ? "," : "");
	for (unsigned i = 0; i < depth; i++)
		buf_adds(&b, "]}");
	buf_adds(&b, "]}");
	v = json_read(c->pool, buf_span(&b), NULL);
	ok(v != NULL, "%u levels of %u fields", depth, width);
	if (why == NULL)
		is_int(forge_check(&c->grant, v, &c->call, &c->fail), 0,
		    "are within the limits");
	else
		ok(v != NULL &&
			forge_check(&c->grant, v, &c->call, &c->fail) == -1 &&
			strstr(c->fail.why, why) != NULL,
		    "are refused: %s", c->fail.why);
	buf_free(&b);
}

int
main(void)
{
	struct forge_case c;

	test_trees();
	case_init(&c, FORGE_GITHUB);
	big(&c, 19, 1, NULL);
	big(&c, 20, 1, "nested too deeply");
	big(&c, 0, 2000, NULL);
	big(&c, 0, 2001, "too many");
	case_free(&c);
	return tap_done();
}
