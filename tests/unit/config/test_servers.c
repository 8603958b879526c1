/* SPDX-License-Identifier: ISC */
/* Tests mcp-servers.json: the TypeScript IronCurtain's form, and refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/base/jsonfile.h"
#include "supervisor/files/servers.h"
#include "tap.h"

#define F "/h/mcp-servers.json: "

static const struct {
	const char *text;
	const char *message;
} refused[] = {
    {"{\"a__b\":{\"command\":\"x\"}}",
	F "a__b: is not a valid name for a server: at most 64 letters, digits, "
	  "- and single _, which do not begin or end it"},
    {"{\"_a\":{\"command\":\"x\"}}",
	F "_a: is not a valid name for a server: at most 64 letters, digits, - "
	  "and single _, which do not begin or end it"},
    {"{\"a b\":{\"command\":\"x\"}}",
	F "a b: is not a valid name for a server: at most 64 letters, digits, "
	  "- and single _, which do not begin or end it"},
    {"{\"proxy\":{\"command\":\"x\"}}", F "proxy: this name is reserved; "
					  "choose another"},
    {"{\"a\":[]}", F "a: must be an object, is an array"},
    {"{\"a\":{\"serverUrl\":\"https://x.example/mcp\"}}",
	F "a.serverUrl: the address of a remote server is called \"url\" "
	  "here"},
    {"{\"a\":{}}", F "a.command: missing: name the program that speaks MCP on "
		     "its stdin and stdout"},
    {"{\"a\":{\"command\":\"\"}}", F "a.command: must not be empty"},
    {"{\"a\":{\"command\":1}}", F "a.command: must be a string, is a number"},
    {"{\"a\":{\"cmd\":\"x\"}}",
	F "a.cmd: unknown key. Known here: args, "
	  "command, copy, description, elicitation, env, git, sandbox, "
	  "sandboxPolicy, shell, tools, workspace"},
    {"{\"a\":{\"command\":\"x\",\"args\":\"y\"}}",
	F "a.args: must be an array of strings, is a string"},
    {"{\"a\":{\"command\":\"x\",\"args\":[\"y\",null]}}",
	F "a.args[1]: must be a string, is null"},
    {"{\"a\":{\"command\":\"x\",\"env\":[\"A=1\"]}}",
	F "a.env: must be an object, is an array"},
    {"{\"a\":{\"command\":\"x\",\"env\":{\"A\":1}}}",
	F "a.env.A: must be a string, is a number"},
    {"{\"a\":{\"command\":\"x\",\"env\":{\"A=B\":\"1\"}}}",
	F "a.env.A=B: is not a valid name for a variable: letters, digits and "
	  "_ only"},
    {"{\"a\":{\"command\":\"x\",\"workspace\":\"no\"}}",
	F "a.workspace: must be true or false, is a string"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":false}}",
	F "a.sandbox: false would give this server everything that you can "
	  "reach. Remove it to run the server in its sandbox, or confirm it on "
	  "the command line: --allow-unsandboxed a"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":true}}",
	F "a.sandbox: must be false or an object, is a boolean"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"files\":{}}}}",
	F "a.sandbox.files: unknown key (did you mean filesystem?). "
	  "Known here: filesystem, network"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":\"yes\"}}}",
	F "a.sandbox.network: must be false or an object with "
	  "allowedDomains, is a string: no server shares the host's network"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":true}}}",
	F "a.sandbox.network: must be false or an object with "
	  "allowedDomains, is true: no server shares the host's network"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"allowedDomains\":"
     "[{\"opaque\":true}]}}}}",
	F "a.sandbox.network.allowedDomains[0].host: is missing"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"allowedDomains\":"
     "[{\"host\":\"a\",\"port\":22}]}}}}",
	F "a.sandbox.network.allowedDomains[0].port: unknown key. Known here: "
	  "host, opaque"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"deniedDomains\":"
     "[{\"host\":\"a\"}],\"allowedDomains\":[\"a\"]}}}}",
	F "a.sandbox.network.deniedDomains[0]: must be a string, is an object"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"hosts\":[]}}}}",
	F "a.sandbox.network.hosts: unknown key. Known here: "
	  "allowedDomains, allowPrivate, deniedDomains"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"allowedDomains\":"
     "[\"a.*\"]}}}}",
	F "a.sandbox.network.allowedDomains: \"a.*\": must be a name, "
	  "*.name, * or an address, with :PORT where it is not 443"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"allowedDomains\":"
     "[\"*:0\"]}}}}",
	F "a.sandbox.network.allowedDomains: \"*:0\": must be a name, "
	  "*.name, * or an address, with :PORT where it is not 443"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"network\":{\"allowedDomains\":"
     "[\"a\"],\"deniedDomains\":[\"a:b\"]}}}}",
	F "a.sandbox.network.deniedDomains: \"a:b\": must be a name, "
	  "*.name, * or an address, with :PORT where it is not 443"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"filesystem\":{\"allow\":[]}}}}",
	F "a.sandbox.filesystem.allow: unknown key (did you mean "
	  "allowRead?). Known here: allowRead, "
	  "allowWrite, denyRead, denyWrite"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"filesystem\":{\"allowRead\":"
     "\"/x\"}}}}",
	F "a.sandbox.filesystem.allowRead: must be an array of "
	  "strings, is a string"},
    {"{\"a\":{\"command\":\"x\",\"sandbox\":{\"filesystem\":{\"allowRead\":"
     "[\"/x/*\"]}}}}",
	F "a.sandbox.filesystem.allowRead: \"/x/*\": patterns are not allowed; "
	  "name a directory or a file"},
    {"{\"a\":{\"command\":\"x\",\"sandboxPolicy\":\"warn\"}}", F
	"a.sandboxPolicy: \"warn\" is refused: a server without a sandbox is "
	"named with \"sandbox\": false and --allow-unsandboxed a. Remove this "
	"key"},
};

static struct json_object *
tree(const char *text)
{
	struct fault fault;

	return jsonfile_parse("t", span_str(text), &fault);
}

static void
test_refused(void)
{
	const struct servers_how how = {
	    .file = "/h/mcp-servers.json", .user_home = "/home/u"};
	struct json_object *o;
	struct servers s;
	struct fault fault;

	for (size_t i = 0; i < nitems(refused); i++) {
		fault.text[0] = '\0';
		o = tree(refused[i].text);
		ok(servers_parse(&s, &how, o, &fault) == -1, "refused: %s",
		    refused[i].text);
		is_str(fault.text, refused[i].message, "and says why");
		json_object_put(o);
	}
}

static void
test_taken(void)
{
	static const char text[] =
	    "{\"fs\":{\"description\":\"d\",\"command\":\"npx\",\"args\":[\"-"
	    "y\","
	    "\"p\"],\"env\":{\"A\":\"1\"},\"sandbox\":{\"filesystem\":"
	    "{\"allowRead\":[\"~/docs\",\"/srv\"],\"denyRead\":[\"~/.ssh\"]},"
	    "\"network\":false},\"workspace\":false,"
	    "\"sandboxPolicy\":\"enforce\"},"
	    "\"open\":{\"command\":\"x\",\"sandbox\":false}}";
	const char *const open_servers[] = {"open"};
	struct servers_how how = {.file = "/h/mcp-servers.json",
	    .user_home = "/home/u",
	    .unsandboxed = open_servers,
	    .nunsandboxed = 1};
	struct json_object *o = tree(text);
	struct servers s;
	struct fault fault;

	how.env = tree("{\"fs\":{\"TOKEN\":\"t\"}}");
	if (ok(servers_parse(&s, &how, o, &fault) == 0, "taken")) {
		is_int(s.n, 2, "two servers");
		is_str(s.defs[0].args[1], "p", "arguments");
		is_str(s.defs[0].env[0], "A=1", "environment");
		is_str(s.defs[0].env[1], "TOKEN=t", "serverCredentials");
		is_str(s.defs[0].allow_read[0], "/home/u/docs", "home");
		is_str(s.defs[0].deny_read[0], "/home/u/.ssh", "denied");
		ok(!s.defs[0].workspace && s.defs[0].sandboxed, "no workspace");
		ok(!s.defs[1].sandboxed && s.defs[1].workspace,
		    "unsandboxed, said twice");
		servers_free(&s);
	}
	json_object_put(o);
	json_object_put(how.env);
	memset(&s, 0, sizeof(s));
	ok(servers_builtin(&s, &fault) == 0 && s.n == 1 &&
		strcmp(s.defs[0].command, "icfs") == 0,
	    "built in: icfs");
	servers_free(&s);
}

/* The built-in server beside others, and files that leave it out. */
static void
test_builtin(void)
{
	static const struct {
		const char *text, *what;
		unsigned n;
	} rows[] = {
	    {"{\"a\":{\"command\":\"x\"}}", "stays beside another", 2},
	    {"{\"filesystem\":{\"command\":\"x\"}}", "gives way to its name",
		1},
	    {"{\"a\":{\"command\":\"x\"},\"filesystem\":false}",
		"is left out by false", 1},
	    {"{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}",
		"stays beside a wrapped one", 2},
	    {"{}", "stays beside none", 1},
	};
	const struct servers_how how = {.file = "f", .user_home = "/h"};
	struct json_object *o;
	struct servers s;
	struct fault fault;

	for (size_t i = 0; i < nitems(rows); i++) {
		o = tree(rows[i].text);
		ok(servers_parse(&s, &how, o, &fault) == 0 &&
			servers_builtin(&s, &fault) == 0 && s.n == rows[i].n,
		    "the built-in server %s: %u", rows[i].what, s.n);
		servers_free(&s);
		json_object_put(o);
	}
}

/* A server with a secret in plain text counts as one with a credential. */
static void
test_secret(void)
{
	static const struct {
		const char *text;
		bool secret;
	} rows[] = {
	    {"{\"a\":{\"command\":\"x\"}}", false},
	    {"{\"a\":{\"command\":\"x\",\"env\":{\"LEVEL\":\"debugging\"}}}",
		false},
	    {"{\"a\":{\"command\":\"x\",\"env\":{\"API_TOKEN\":"
	     "\"0123456789\"}}}",
		true},
	    {"{\"a\":{\"command\":\"x\",\"args\":[\"--key=0123456789\"]}}",
		true},
	    {"{\"a\":{\"command\":\"x\",\"args\":[\"--key\","
	     "\"0123456789\"]}}",
		true},
	    {"{\"a\":{\"command\":\"x\",\"args\":[\"--level\","
	     "\"0123456789\"]}}",
		false},
	};
	const struct servers_how how = {.file = "f", .user_home = "/h"};
	struct json_object *o;
	struct servers s;
	struct fault fault;

	for (size_t i = 0; i < nitems(rows); i++) {
		o = tree(rows[i].text);
		ok(servers_parse(&s, &how, o, &fault) == 0 && s.n == 1 &&
			s.defs[0].secret == rows[i].secret,
		    "%s secret: %s", rows[i].secret ? "a" : "no",
		    rows[i].text);
		servers_free(&s);
		json_object_put(o);
	}
}

/* `text` is an argument; `value` is its expansion, or a part of the refusal. */
static void
test_variables(void)
{
	static const struct {
		const char *text, *value;
		bool good;
	} rows[] = {
	    {"${IC_TEST_A}", "one", true},
	    {"-${IC_TEST_A}-${IC_TEST_A}-", "-one-one-", true},
	    {"${IC_TEST_NONE:-two}", "two", true},
	    {"${IC_TEST_NONE:-}", "", true},
	    {"${IC_TEST_A:-two}", "one", true},
	    {"${OWN}", "three", true},
	    {"${not a name}", "${not a name}", true},
	    {"${", "${", true},
	    {"${}", "${}", true},
	    {"$IC_TEST_A", "$IC_TEST_A", true},
	    {"${IC_TEST_NONE}", "export IC_TEST_NONE=...", false},
	};
	const struct servers_how how = {.file = "f", .user_home = "/h"};
	struct json_object *o, *list, *entry;
	struct servers s;
	struct fault fault;

	setenv("IC_TEST_A", "one", 1);
	unsetenv("IC_TEST_NONE");
	for (size_t i = 0; i < nitems(rows); i++) {
		o = tree("{\"a\":{\"command\":\"x\",\"args\":[],"
			 "\"env\":{\"OWN\":\"three\","
			 "\"FROM\":\"<${IC_TEST_A}>\"}}}");
		json_object_object_get_ex(o, "a", &entry);
		json_object_object_get_ex(entry, "args", &list);
		json_object_array_add(
		    list, json_object_new_string(rows[i].text));
		if (!rows[i].good) {
			ok(servers_parse(&s, &how, o, &fault) == -1 &&
				strstr(fault.text, rows[i].value) != NULL,
			    "%s: %s", rows[i].text, fault.text);
		} else if (ok(servers_parse(&s, &how, o, &fault) == 0,
			       "%s is taken", rows[i].text)) {
			is_str(s.defs[0].args[0], rows[i].value, "its value");
			is_str(s.defs[0].env[1], "FROM=<one>",
			    "and that of a variable");
			servers_free(&s);
		}
		json_object_put(o);
	}
}

static void
test_many(void)
{
	const struct servers_how how = {.file = "f", .user_home = "/h"};
	struct json_object *o = json_object_new_object(), *e;
	struct servers s;
	struct fault fault;
	char name[16];

	for (unsigned i = 0; i <= PROTO_FIRST_INSTANCE; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		e = json_object_new_object();
		json_object_object_add(
		    e, "command", json_object_new_string("x"));
		json_object_object_add(o, name, e);
	}
	ok(servers_parse(&s, &how, o, &fault) == -1, "33 are too many");
	is_str(fault.text, "f: at most 32 servers are allowed", "and says so");
	json_object_put(o);
}

int
main(void)
{
	test_refused();
	test_taken();
	test_builtin();
	test_secret();
	test_variables();
	test_many();
	return tap_done();
}
