/* SPDX-License-Identifier: ISC */
/*
 * Tests faulty policy files, each with its exact message, faults that only
 * cause warnings, and that a refused file changes nothing.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#define KNOWN                                                                  \
	"; known are read-path, write-path, delete-path, write-history, "      \
	"delete-history, fetch-url, git-remote-url, github-owner, "            \
	"github-repo, proxy-domain, branch-name, commit-message, "             \
	"email-address, email-body, share-permission, none"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define P PROTO_RULES_POLICY
#define N PROTO_RULES_ANNOTATIONS
#define L PROTO_RULES_LISTS
#define RULES(inside) "{\"rules\":[" inside "]}"
#define IF(inside)							\
	RULES("{\"name\":\"n\",\"then\":\"allow\",\"reason\":\"r\","	\
	    "\"if\":{" inside "}}")
#define TOOL(inside)							\
	"{\"servers\":{\"s\":{\"tools\":[{\"toolName\":\"t\"," inside "}]}}}"
#define ARG(spec) TOOL("\"args\":{\"a\":" spec "}")
#define WHEN(cond)							\
	ARG("{\"default\":[\"read-path\"],\"when\":[{\"condition\":" cond	\
	    ",\"roles\":[\"read-path\"]}]}")

static const struct {
	enum proto_rules kind;
	const char *text, *want;
} bad[] = {
    {P, "", "compiled-policy.json: is empty"},
    {P, "{", "compiled-policy.json: line 1, column 2: ends too early"},
    {P, "{\n  \"rules\": [],\n  \"rules\": []\n}",
	"compiled-policy.json: line 3, column 3: duplicate member name"},
    {P, "{\"rules\":[]} x",
	"compiled-policy.json: line 1, column 14: something after the value"},
    {P, "{\"rules\":[NaN]}",
	"compiled-policy.json: line 1, column 11: not JSON"},
    {P, "\xef\xbb\xbf{}",
	"compiled-policy.json: line 1, column 1: not well-formed Unicode (a byte "
	"order mark: save the file as UTF-8 without one)"},
    {P, "[]", "compiled-policy.json: must be a JSON object"},
    {P, "{}",
	"compiled-policy.json: rules: is missing; must be an array"},
    {P, "{\"rules\":{}}",
	"compiled-policy.json: rules: must be an array, not an object"},
    {P, "{\"rules\":[],\"workspace\":\"rw\"}",
	"compiled-policy.json: workspace: must be read-only, if it is there"},
    {P, "{\"rules\":[],\"workspace\":true}",
	"compiled-policy.json: workspace: must be a string, not a boolean"},
    {P, RULES("5"), "compiled-policy.json: rules[0]: must be an object"},
    {P, RULES("{}"),
	"compiled-policy.json: rules[0].name: is missing; must be a string"},
    {P, RULES("{\"name\":\"\"}"),
	"compiled-policy.json: rules[0].name: must not be empty"},
    {P, RULES("{\"name\":7}"),
	"compiled-policy.json: rules[0].name: must be a string, not a number"},
    {P, RULES("{\"name\":\"a\\u0000\"}"),
	"compiled-policy.json: rules[0].name: must not hold a NUL"},
    {P, RULES("{\"name\":\"n\"}"),
	"compiled-policy.json: rules[0].reason: is missing; must be a "
	"string"},
    {P, RULES("{\"name\":\"n\",\"reason\":\"r\",\"then\":\"maybe\"}"),
	"compiled-policy.json: rules[0].then: must be allow, deny or "
	"escalate"},
    {P, RULES("{\"name\":\"n\",\"reason\":\"r\",\"then\":\"allow\"}"),
	"compiled-policy.json: rules[0].if: is missing; must be an object"},
    {P, IF("\"sideEffects\":true"),
	"compiled-policy.json: rules[0].if.sideEffects: unknown condition; "
	"known are roles, server, tool, paths, domains, lists, "
	"resources, prompts, completion"},
    {P, IF("\"roles\":\"read-path\""),
	"compiled-policy.json: rules[0].if.roles: must be an array, not a "
	"string"},
    {P, IF("\"roles\":[\"read-path\",\"fly\"]"),
	"compiled-policy.json: rules[0].if.roles[1]: unknown role \"fly\"" KNOWN},
    {P, IF("\"roles\":[3]"),
	"compiled-policy.json: rules[0].if.roles[0]: must be a role, not a "
	"number"},
    {P, IF("\"server\":\"git\""),
	"compiled-policy.json: rules[0].if.server: must be an array, not a "
	"string"},
    {P, IF("\"tool\":[\"a\",null]"),
	"compiled-policy.json: rules[0].if.tool[1]: must be a string, not "
	"null"},
    {P, IF("\"paths\":[]"),
	"compiled-policy.json: rules[0].if.paths: must be an object, not an "
	"array"},
    {P, IF("\"paths\":{\"roles\":[\"read-path\"]}"),
	"compiled-policy.json: rules[0].if.paths.within: is missing; must be "
	"a string"},
    {P, IF("\"paths\":{\"within\":\"/x\"}"),
	"compiled-policy.json: rules[0].if.paths.roles: is missing; must be "
	"an array"},
    {P, IF("\"paths\":{\"roles\":[],\"within\":\"/x\"}"),
	"compiled-policy.json: rules[0].if.paths.roles: must name a role"},
    {P, IF("\"paths\":{\"roles\":[\"read-path\"],\"within\":\"x\"}"),
	"compiled-policy.json: rules[0].if.paths.within: must be an absolute "
	"path or ~/..."},
    {P, IF("\"paths\":{\"roles\":[\"read-path\"],\"within\":\"~u/x\"}"),
	"compiled-policy.json: rules[0].if.paths.within: must be an absolute "
	"path or ~/..."},
    {P, IF("\"paths\":{\"roles\":[\"read-path\"],\"within\":\"/x\","
	   "\"not\":\"/y\"}"),
	"compiled-policy.json: rules[0].if.paths.not: unknown condition; "
	"known are roles, within, links"},
    {P, IF("\"domains\":{\"roles\":[\"fetch-url\"]}"),
	"compiled-policy.json: rules[0].if.domains.allowed: is missing; must "
	"be an array"},
    {P, IF("\"domains\":{\"roles\":[\"fetch-url\"],\"allowed\":[1]}"),
	"compiled-policy.json: rules[0].if.domains.allowed[0]: must be a "
	"string, not a number"},
    {P, IF("\"domains\":{\"roles\":[\"fetch-url\"],\"allowed\":[],"
	   "\"ports\":[]}"),
	"compiled-policy.json: rules[0].if.domains.ports: unknown condition; "
	"known are roles, allowed"},
    {P, IF("\"lists\":{}"),
	"compiled-policy.json: rules[0].if.lists: must be an array, not an "
	"object"},
    {P, IF("\"lists\":[7]"),
	"compiled-policy.json: rules[0].if.lists[0]: must be an object"},
    {P, IF("\"lists\":[{\"roles\":[\"github-owner\"],\"allowed\":[],"
	   "\"matchType\":\"regex\"}]"),
	"compiled-policy.json: rules[0].if.lists[0].matchType: must be "
	"domains, emails or identifiers"},
    {P, IF("\"lists\":[{\"roles\":[\"github-owner\"],\"allowed\":[]}]"),
	"compiled-policy.json: rules[0].if.lists[0].matchType: is missing; "
	"must be a string"},
    {P, RULES("{\"name\":\"n\",\"then\":\"allow\",\"reason\":\"r\",\"if\":{}"
	      "},{\"name\":\"m\",\"then\":\"allow\",\"reason\":\"r\","
	      "\"if\":null}"),
	"compiled-policy.json: rules[1].if: must be an object, not null"},
    {P, "{\"rules\":[],\"listDefinitions\":[{\"name\":\"a\"}]}",
	"compiled-policy.json: listDefinitions[0].type: is missing; must be "
	"a string"},
    {P, "{\"rules\":[],\"listDefinitions\":[{\"name\":\"a\","
	"\"type\":\"x\"}]}",
	"compiled-policy.json: listDefinitions[0].type: must be domains, "
	"emails or identifiers"},
    {P, "{\"rules\":[],\"listDefinitions\":7}",
	"compiled-policy.json: listDefinitions: must be an array, not a "
	"number"},
    {P, IF("\"paths\":{\"roles\":[\"read-path\"],\"within\":\"@D/l1\"}"),
	"compiled-policy.json: rules[0].if.paths.within: leads through too "
	"many links"},

    {N, "{}",
	"tool-annotations.json: servers: is missing; must be an object"},
    {N, "{\"servers\":{\"s\":[]}}",
	"tool-annotations.json: servers.s: must be an object"},
    {N, "{\"servers\":{\"s\":{}}}",
	"tool-annotations.json: servers.s.tools: is missing; must be an "
	"array"},
    {N, "{\"servers\":{\"s\":{\"tools\":[1]}}}",
	"tool-annotations.json: servers.s.tools[0]: must be an object"},
    {N, "{\"servers\":{\"s\":{\"tools\":[{\"args\":{}}]}}}",
	"tool-annotations.json: servers.s.tools[0].toolName: is missing; "
	"must be a string"},
    {N, TOOL("\"x\":1"),
	"tool-annotations.json: servers.s.tools[0].args: is missing; must be "
	"an object"},
    {N, TOOL("\"serverName\":\"other\",\"args\":{}"),
	"tool-annotations.json: servers.s.tools[0].serverName: is not the "
	"server it stands under"},
    {N, ARG("\"read-path\""),
	"tool-annotations.json: servers.s.tools[0].args.a: must be an array "
	"of roles or {\"default\", \"when\"}"},
    {N, ARG("[\"exec-path\"]"),
	"tool-annotations.json: servers.s.tools[0].args.a[0]: unknown role "
	"\"exec-path\"" KNOWN},
    {N, ARG("{\"when\":[]}"),
	"tool-annotations.json: servers.s.tools[0].args.a.default: is "
	"missing; must be an array"},
    {N, ARG("{\"default\":[]}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when: is missing; "
	"must be an array"},
    {N, ARG("{\"default\":[],\"when\":[5]}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0]: must be "
	"an object"},
    {N, WHEN("{}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition"
	".arg: is missing; must be a string"},
    {N, WHEN("{\"arg\":\"b\"}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition: "
	"must have arg and exactly one of equals, in, is"},
    {N, WHEN("{\"arg\":\"b\",\"is\":\"present\",\"equals\":1}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition: "
	"must have arg and exactly one of equals, in, is"},
    {N, WHEN("{\"arg\":\"b\",\"matches\":\"x\"}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition: "
	"must have arg and exactly one of equals, in, is"},
    {N, WHEN("{\"arg\":\"b\",\"is\":\"empty\"}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition"
	".is: must be present, absent, truthy or falsy"},
    {N, WHEN("{\"arg\":\"b\",\"equals\":[]}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition"
	".equals: must be a string, number or boolean"},
    {N, WHEN("{\"arg\":\"b\",\"in\":[1,{}]}"),
	"tool-annotations.json: servers.s.tools[0].args.a.when[0].condition"
	".in: must hold strings, numbers and booleans"},
    {N, "{\"servers\":{\"s\":{\"tools\":[{\"toolName\":\"t\",\"args\":{}},"
	"{\"toolName\":\"t\",\"args\":{}}]}}}",
	"tool-annotations.json: servers.s: tool t is annotated twice"},

    {L, "{}",
	"dynamic-lists.json: lists: is missing; must be an object"},
    {L, "{\"lists\":{\"a\":[]}}",
	"dynamic-lists.json: lists.a: must be an object"},
    {L, "{\"lists\":{\"a\":{}}}",
	"dynamic-lists.json: lists.a.values: is missing; must be an array"},
    {L, "{\"lists\":{\"a\":{\"values\":[1]}}}",
	"dynamic-lists.json: lists.a.values[0]: must be a string, not a "
	"number"},
    {L, "{\"lists\":{\"a\":{\"values\":[],\"manualRemovals\":\"x\"}}}",
	"dynamic-lists.json: lists.a.manualRemovals: must be an array, not a "
	"string"},
    {L, "{\"lists\":{\"a\":{\"values\":[],\"manualAdditions\":[{}]}}}",
	"dynamic-lists.json: lists.a.manualAdditions[0]: must be a string, "
	"not an object"},
};

static const struct {
	enum proto_rules kind;
	const char *text, *want;	/* all warnings */
} odd[] = {
    {P, "{\"rules\":[],\"version\":2}",
	"compiled-policy.json: version: unknown field, ignored"},
    {P, RULES("{\"name\":\"n\",\"then\":\"deny\",\"reason\":\"r\","
	      "\"if\":{},\"note\":1,\"zz\":2}"),
	"compiled-policy.json: rules[0].note: unknown field, ignored\n"
	"compiled-policy.json: rules[0].zz: unknown field, ignored"},
    {P, IF("\"domains\":{\"roles\":[\"fetch-url\"],\"allowed\":"
	   "[\"a b\",\"*.1.2.3.4\",\"ok.com\",\"@gone\"]}"),
	"compiled-policy.json: rules[0].if: \"a b\" can match nothing: the "
	"host has a character that no host has\n"
	"compiled-policy.json: rules[0].if: \"*.1.2.3.4\" can match nothing: "
	"addresses have no sub-domains\n"
	"compiled-policy.json: rules[0].if: list @gone is not in "
	"dynamic-lists.json: it is empty"},
    {P, IF("\"paths\":{\"roles\":[\"fetch-url\"],\"within\":\"/x\"}"),
	"compiled-policy.json: rules[0].if.paths: names a role that no path "
	"has"},
    {N, TOOL("\"args\":{},\"danger\":1"),
	"tool-annotations.json: servers.s.tools[0].danger: unknown field, "
	"ignored"},
    {N, TOOL("\"args\":{},\"sideEffects\":true"), ""},
    {L, "{\"lists\":{\"a\":{\"values\":[],\"x\":1}}}",
	"dynamic-lists.json: lists.a.x: unknown field, ignored"},
    {P, "{\"generatedAt\":\"x\",\"constitutionHash\":\"x\","
	"\"inputHash\":\"x\",\"rules\":[],\"listDefinitions\":[{\"name\":"
	"\"a\",\"type\":\"emails\",\"principle\":\"x\",\"generationPrompt\":"
	"\"x\",\"requiresMcp\":false}],\"skippedServers\":[{\"serverName\":"
	"\"x\",\"reason\":\"y\"}]}",
	""},
};

static struct rig rig;

static void
test_bad(void)
{
	struct decision d;

	for (size_t i = 0; i < nitems(bad); i++) {
		int r = rig_load(&rig, bad[i].kind, bad[i].text);

		ok(r == -1 && strcmp(rig.load.error, bad[i].want) == 0, "%s",
		    bad[i].want);
		if (r == 0 || strcmp(rig.load.error, bad[i].want) != 0)
			printf("# got %d %s\n", r, rig.load.error);
	}
	rig_eval(&rig, "fetch", "search", "{\"query\":\"x\"}", &d);
	ok(span_is(d.rule, "stays"), "what was in force stays in force");
}

static void
test_odd(void)
{
	char got[LOAD_MAX_WARNINGS + 1];

	for (size_t i = 0; i < nitems(odd); i++) {
		if (rig_load(&rig, odd[i].kind, odd[i].text) == -1) {
			ok(false, "loads: %s", rig.load.error);
			continue;
		}
		(void)span_copy(buf_span(&rig.load.warnings), got, sizeof(got));
		is_str(got, odd[i].want, "warnings of file %zu", i);
	}
}

/* The number of warnings is limited; the rest is counted. */
static void
test_many(void)
{
	struct buf b;
	char *text;

	buf_init(&b, 4 << 20);
	buf_adds(&b, "{\"rules\":[]");
	for (unsigned i = 0; i < 2000; i++)
		buf_printf(&b, ",\"unknown%u\":1", i);
	buf_addc(&b, '}');
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	ok(rig_load(&rig, P, text) == 0 && rig.load.nwarnings == 2000 &&
		rig.load.warnings.len <= LOAD_MAX_WARNINGS,
	    "2,000 warnings are bounded");
	free(text);
	buf_free(&b);
}

/* Ten thousand rules, one of which is for this tool. */
static void
test_large(void)
{
	struct decision d;
	struct buf b;
	char *text;

	buf_init(&b, 8 << 20);
	buf_adds(&b, "{\"rules\":[");
	for (unsigned i = 0; i < 10000; i++)
		buf_printf(&b, "%s{\"name\":\"r%u\",\"description\":"
				     "\"d\",\"principle\":\"p\",\"if\":"
				     "{\"server\":[\"%s\"],\"roles\":"
				     "[\"read-path\"],\"paths\":{\"roles\":"
				     "[\"read-path\"],\"within\":\"@D/%u\"}},"
				     "\"then\":\"allow\",\"reason\":\"r\"}",
		    i == 0 ? "" : ",", i, i % 100 == 99 ? "other" : "x", i);
	buf_adds(&b, "]}");
	if ((text = span_dup(buf_span(&b))) == NULL)
		err(1, "span_dup");
	ok(rig_load(&rig, P, text) == 0, "10,000 rules: %s", rig.load.error);
	rig_eval(&rig, "other", "read", "{\"path\":\"@D/9999/x\"}", &d);
	ok(span_is(d.rule, "r9999"), "the last of them");
	rig_eval(&rig, "other", "read", "{\"path\":\"@D/9998/x\"}", &d);
	ok(span_is(d.rule, "default-deny"), "one of another server");
	free(text);
	buf_free(&b);
}

static void
test_home(void)
{
	ok(engine_settings(rig.engine, 1, true, true, SPAN("")) == 0 &&
		rig_load(&rig, P,
		    IF("\"paths\":{\"roles\":[\"read-path\"],"
		       "\"within\":\"~/x\"}")) == -1,
	    "~ without a home is refused");
	is_str(rig.load.error,
	    "compiled-policy.json: rules[0].if.paths.within: uses ~, and no "
	    "home directory is known",
	    "and says so");
	ok(engine_settings(rig.engine, 1, true, true, SPAN("x")) == -1,
	    "a home that is no absolute path is refused");
}

/* The shipped files load without warnings. */
static void
test_shipped(const char *dir)
{
	static const char *const names[] = {"compiled-policy.json",
	    "tool-annotations.json", "dynamic-lists.json"};
	char path[1024];
	uint8_t *text;
	size_t n;
	FILE *f;

	if (engine_settings(rig.engine, 1, true, true, SPAN("/home")) == -1 ||
	    (text = malloc(1 << 20)) == NULL)
		err(1, "malloc");
	for (int i = PROTO_RULES_LAST; i >= 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if ((f = fopen(path, "re")) == NULL)
			err(1, "%s", path);
		n = fread(text, 1, 1 << 20, f);
		fclose(f);
		load_free(&rig.load);
		load_init(&rig.load, names[i]);
		ok(engine_rules(rig.engine, (enum proto_rules)i,
		       span_of(text, n), &rig.load) == 0 &&
			rig.load.nwarnings == 0,
		    "shipped %s: %s", names[i], rig.load.error);
	}
	free(text);
}

int
main(int argc, char **argv)
{
	rig_init(&rig, NULL);
	rig_link(&rig, "l2", "l1");
	rig_link(&rig, "l1", "l2");
	rig_must_load(&rig, N, rig_annotations);
	rig_must_load(&rig, L, "{\"lists\":{}}");
	rig_must_load(&rig, P,
	    RULES("{\"name\":\"stays\",\"then\":\"allow\",\"reason\":\"r\","
		  "\"if\":{\"server\":[\"fetch\"]}}"));
	test_bad();
	test_odd();
	test_many();
	rig_must_load(&rig, N, rig_annotations);
	test_large();
	test_home();
	if (argc > 1)
		test_shipped(argv[1]);
	rig_free(&rig);
	return tap_done();
}
