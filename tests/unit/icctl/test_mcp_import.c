/* SPDX-License-Identifier: ISC */
/*
 * Tests `icctl mcp import` row by row: other programs' text to canonical JSON,
 * and their entries to IronCurtain's, with notes.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "icctl/mcp/entry.h"
#include "icctl/mcp/foreign.h"
#include "icctl/mcp/forms.h"
#include "tap.h"
#include "base/secret.h"

/* `json` NULL: refused, with `why`. */
static const struct {
	const char *name, *text, *json, *why;
} toml_rows[] = {
    {"empty", "", "{}", NULL},
    {"comments", "# a\n\na = 1 # b\n", "{\"a\":1}", NULL},
    {"a table", "[a]\nb = \"c\"\n[d]\n", "{\"a\":{\"b\":\"c\"},\"d\":{}}",
	NULL},
    {"dotted", "a.b.c = true\na.d = false\n",
	"{\"a\":{\"b\":{\"c\":true},\"d\":false}}", NULL},
    {"quoted keys", "\"a b\".'c\"' = 1\n", "{\"a b\":{\"c\\\"\":1}}", NULL},
    {"a table below another", "[m.x]\nk = 1\n[m.x.env]\nA = \"b\"\n",
	"{\"m\":{\"x\":{\"env\":{\"A\":\"b\"},\"k\":1}}}", NULL},
    {"array of tables", "[[a]]\nb=1\n[[a]]\nb=2\n[a.c]\nd=3\n",
	"{\"a\":[{\"b\":1},{\"b\":2,\"c\":{\"d\":3}}]}", NULL},
    {"an array over lines", "a = [ 1, # one\n 2,\n]\n", "{\"a\":[1,2]}", NULL},
    {"an inline table", "a = { b = 1, c.d = 'x' }\n",
	"{\"a\":{\"b\":1,\"c\":{\"d\":\"x\"}}}", NULL},
    {"escapes", "a = \"\\t\\u00e9\\U0001F600\\\\\"\n",
	"{\"a\":\"\\t\xc3\xa9\xf0\x9f\x98\x80\\\\\"}", NULL},
    {"a literal string", "a = 'c:\\n'\n", "{\"a\":\"c:\\\\n\"}", NULL},
    {"a long string", "a = \"\"\"\none \\\n   two\"\"\"\n",
	"{\"a\":\"one two\"}", NULL},
    {"quotes before the end", "a = \"\"\"x\"\"\"\"\"\n",
	"{\"a\":\"x\\\"\\\"\"}", NULL},
    {"a date is text", "a = 1979-05-27T07:32:00Z\n",
	"{\"a\":\"1979-05-27T07:32:00Z\"}", NULL},
    {"CRLF", "a = 1\r\nb = 'x'\r\n", "{\"a\":1,\"b\":\"x\"}", NULL},
    {"twice", "a = 1\na = 2\n", NULL, "line 2: a key is given twice"},
    {"a byte order mark",
	("\xef\xbb\xbf"
	 "a = 1\n"),
	"{\"a\":1}", NULL},
    {"a value as a table", "a = 1\n[a]\n", NULL, "a key is given twice"},
    {"no value", "a =\n", NULL, "line 1: a value is missing"},
    {"no equals sign", "a\n", NULL, "= is missing"},
    {"an open string", "a = \"b\n", NULL, "a string does not end"},
    {"an open long string", "a = '''b\n", NULL, "a string does not end"},
    {"an open array", "a = [1,\n", NULL, "a value is missing"},
    {"an open table name", "[a\n", NULL, "] is missing"},
    {"something behind", "a = 1 b = 2\n", NULL, "follows the value"},
    {"a bad escape", "a = \"\\q\"\n", NULL, "bad escape"},
    {"a surrogate", "a = \"\\ud800\"\n", NULL, "bad escape"},
    {"a control character", "a = \"\x01\"\n", NULL, "control character"},
    {"bad UTF-8", "a = \"\xff\"\n", NULL, "not UTF-8"},
};

static const struct {
	const char *name, *text, *json, *why;
} json_rows[] = {
    {"plain", "{\"a\":[1,2]}", "{\"a\":[1,2]}", NULL},
    {"comments", "// x\n{/* y\n */\"a\": 1}// z", "{\"a\":1}", NULL},
    {"trailing commas", "{\"a\":[1,2,],}", "{\"a\":[1,2]}", NULL},
    {"a comma and a comment", "{\"a\":1, // x\n}", "{\"a\":1}", NULL},
    {"signs within a string", "{\"a\":\"//,]/*\\\",}\"}",
	"{\"a\":\"//,]/*\\\",}\"}", NULL},
    {"a byte order mark", "\xef\xbb\xbf{\"a\":1}", "{\"a\":1}", NULL},
    {"a mark and a comment", "\xef\xbb\xbf// x\r\n{\"a\":1,}", "{\"a\":1}",
	NULL},
    {"UTF-16", "\xff\xfe{", NULL, "save it as UTF-8"},
    {"UTF-16, the other way", "\xfe\xff{", NULL, "save it as UTF-8"},
    {"nothing", "", NULL, "it is empty"},
    {"blanks", "\xef\xbb\xbf \r\n", NULL, "it is empty"},
    {"twice", "{\"a\":1,\n\"a\":2}", NULL, "line 2: duplicate"},
    {"no object", "[1]", NULL, "must hold an object"},
    {"cut off", "{\"a\":", NULL, "line 1"},
    {"an open comment", "{} /* x", NULL, "line 1"},
    {"two commas", "{\"a\":[1,,]}", NULL, "line 1"},
};

static const struct {
	const char *name, *text, *json, *why;
} yaml_rows[] = {
    {"a mapping", "a: 1\nb: two words\nc:\n",
	"{\"a\":1,\"b\":\"two words\",\"c\":null}", NULL},
    {"nested", "---\na:\n  b:\n    c: x # y\n  d: \"e: #\"\n",
	"{\"a\":{\"b\":{\"c\":\"x\"},\"d\":\"e: #\"}}", NULL},
    {"sequences", "a:\n- x\n- y: 1\n  z: 2\n-\n  - 3\nb:\n  - 'it''s'\n",
	"{\"a\":[\"x\",{\"y\":1,\"z\":2},[3]],\"b\":[\"it's\"]}", NULL},
    {"flows", "a: [1, \"b\", {c: d}, [],\n  x y]\nf: {\"g\": 'h'}\n",
	"{\"a\":[1,\"b\",{\"c\":\"d\"},[],\"x y\"],\"f\":{\"g\":\"h\"}}", NULL},
    {"scalars", "a: true\nb: 007\nc: 1.5\nd: ~\ne: -12\nf: 5432:5432\ng: a#b\n",
	"{\"a\":true,\"b\":\"007\",\"c\":\"1.5\",\"d\":null,\"e\":-12,\"f\":"
	"\"5432:5432\",\"g\":\"a#b\"}",
	NULL},
    {"escapes", "a: \"x\\ty\\\\\\\"\"\n", "{\"a\":\"x\\ty\\\\\\\"\"}", NULL},
    {"block texts are not taken for something else",
	"a: |\n  x: 1\n\n  - y\nb: >-\n  z\nc: 1\n",
	"{\"a\":[],\"b\":[],\"c\":1}", NULL},
    {"line ends of Windows", "a:\r\n  b: 1\r\n", "{\"a\":{\"b\":1}}", NULL},
    {"no line end", "a: b", "{\"a\":\"b\"}", NULL},
    {"nothing", "# x\n\n", NULL, "it is empty"},
    {"twice", "a: 1\na: 2\n", NULL, "line 2: a key is repeated"},
    {"aliases", "a: &x\n  b: &y 1\nc: *x\nd: [*y, &z e, *z] # f\ng:\n- *z\n",
	"{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[1,\"e\",\"e\"],\"g\":[\"e\"]}",
	NULL},
    {"anchors of lists and flows",
	"a: &x\n- b\n- &y\n  c: d\ne: &z {f: *y}\n"
	"g: *x\nh: *z\n",
	"{\"a\":[\"b\",{\"c\":\"d\"}],\"e\":{\"f\":{\"c\":\"d\"}},"
	"\"g\":[\"b\",{\"c\":\"d\"}],\"h\":{\"f\":{\"c\":\"d\"}}}",
	NULL},
    {"the newest of two anchors", "a: &x 1\nb: &x 2\nc: *x\n",
	"{\"a\":1,\"b\":2,\"c\":2}", NULL},
    {"an anchor of nothing", "a: &x\nb: *x\n", "{\"a\":null,\"b\":null}", NULL},
    {"an anchor of a block text", "a: &x |\n  y\nb: *x\n",
	"{\"a\":[],\"b\":[]}", NULL},
    {"a merge key", "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n",
	"{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":3}}", NULL},
    {"a merge key of several",
	"a: &x {b: 1, c: 2}\nd: &y {b: 3, e: 4}\n"
	"f: {c: 5, <<: [*x, *y]}\n",
	"{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":3,\"e\":4},"
	"\"f\":{\"b\":1,\"c\":5,\"e\":4}}",
	NULL},
    {"a merged mapping with an anchor",
	"a: &x {b: 1}\nc: &y\n  <<: *x\n"
	"  d: 2\ne:\n  <<: *y\n",
	"{\"a\":{\"b\":1},\"c\":{\"b\":1,\"d\":2},"
	"\"e\":{\"b\":1,\"d\":2}}",
	NULL},
    {"an anchor of what is merged",
	"a:\n  <<: &x {b: 1, c: 2}\n  d: 3\ne: *x\n",
	"{\"a\":{\"b\":1,\"c\":2,\"d\":3},\"e\":{\"b\":1,\"c\":2}}", NULL},
    {"an unknown alias", "a: *x\n", NULL, "line 1: no anchor of this name"},
    {"an alias of what contains it", "a: &x [*x]\n", NULL,
	"line 1: no anchor of this name"},
    {"an alias of a mapping that is open", "a: &x\n  b: *x\n", NULL,
	"line 2: no anchor of this name"},
    {"an alias with an anchor", "a: &x 1\nb: &y *x\n", NULL,
	"line 2: an anchor or alias is not read here"},
    {"two anchors", "a: &x &y 1\n", NULL,
	"line 1: an anchor or alias is not read here"},
    {"an alias as a key", "a: &x b\n*x : 1\n", NULL,
	"line 2: an anchor or alias is not read here"},
    {"an anchor of a key", "&x a: 1\n", NULL,
	"line 1: an anchor or alias is not read here"},
    {"an anchor without a name", "a: & 1\n", NULL,
	"line 1: an anchor or alias has no name"},
    {"an alias and more", "a: &x 1\nb: *x y\n", NULL,
	"line 2: something follows"},
    {"a merge key of a text", "a:\n  <<: x\n", NULL, "a merge key (<<) needs"},
    {"two merge keys", "a: &x {}\nb:\n  <<: *x\n  <<: *x\n", NULL,
	"line 4: a key is repeated"},
    {"a tag", "a: !!python/object x\n", NULL, "line 1: tags"},
    {"a tag behind an anchor", "a: &x !!str 1\n", NULL, "line 1: tags"},
    {"a directive", "%YAML 1.2\n", NULL, "line 1: directives"},
    {"a second document", "a: 1\n---\nb: 2\n", NULL, "line 2"},
    {"a tab", "a:\n\tb: 1\n", NULL, "line 2: a tab"},
    {"a list at the top", "- a\n", NULL, "must hold an object"},
    {"indented further", "a: 1\n  b: 2\n", NULL, "line 2: is indented"},
    {"indented less", "  a: 1\nb: 2\n", NULL, "line 2: is indented less"},
    {"an open quotation", "a: \"b\n", NULL, "line 1: a quotation"},
    {"an open list", "a: [1, 2\n", NULL, "a list"},
    {"an open mapping", "a: {b: 1\n", NULL, "a mapping"},
    {"an escape", "a: \"\\x41\"\n", NULL, "line 1: an escape"},
    {"a text of two lines", "a: b\n   c\n", NULL, "line 2: is"},
    {"bytes", "a: \xff\n", NULL, "it is not UTF-8"},
};

static void
convert(const char *kind, const char *name, const char *text, const char *json,
    const char *why, enum foreign_kind as)
{
	char said[256] = "", label[128];
	struct buf out;
	int rv;

	buf_init(&out, 65536);
	rv = foreign_convert(span_str(text), as, &out, said, sizeof(said));
	snprintf(label, sizeof(label), "%s: %s", kind, name);
	if (json == NULL)
		ok(rv == -1 && strstr(said, why) != NULL, "%s is refused: %s",
		    label, said);
	else
		ok(rv == 0 && out.len == strlen(json) &&
			memcmp(out.p + out.off, json, out.len) == 0,
		    "%s%s", label, rv == 0 ? "" : said);
	buf_free(&out);
}

/* A value 40 levels deep and a key repeated many times are errors. */
static void
limits(void)
{
	char deep[256] = "a = ", *many;
	struct buf out;
	char said[256];

	for (unsigned i = 0; i < 100; i++)
		strcat(deep, "[");
	buf_init(&out, 65536);
	ok(foreign_convert(span_str(deep), true, &out, said, sizeof(said)) ==
		    -1 &&
		strstr(said, "nested too deeply") != NULL,
	    "TOML: depth is limited: %s", said);
	many = malloc(200000);
	if (many == NULL)
		abort();
	memset(many, '[', 199999);
	many[199999] = '\0';
	ok(foreign_convert(span_str(many), false, &out, said, sizeof(said)) ==
		-1,
	    "JSON: depth is limited: %s", said);
	free(many);
	buf_free(&out);
}

static const struct {
	const char *name, *value;
	bool secret;
} secret_rows[] = {
    {"GITHUB_TOKEN", "abcdefgh", true},
    {"API_KEY", "12345678", true},
    {"", "ghp_0123456789abcdef", true},
    {"", "sk-ant-0123456789", true},
    {"", "postgres://me:pw@localhost/db", true},
    {"DATABASE_PASSWORD", "correct horse", true},
    {"HOST", "example.org", false},
    {"KEYBOARD", "qwertzuiop", false},
    {"MAX_TOKENS", "100000000", false},
    {"TOKEN_FILE", "/home/me/token", false},
    {"AUTH_URL", "https://example.org", false},
    {"SECRET", "", false},
    {"", "https://example.org/a@b", false},
};

static const char recipes[] =
    "{\"servers\":[{\"for\":[\"pkg-paths\"],\"paths\":\"read\"},"
    "{\"for\":[\"pkg-data\"],\"env\":{\"DATA_FILE\":\"{data}/x.json\"},"
    "\"hosts\":[\"api.example\"]},"
    "{\"for\":[\"pkg-root\"],\"root\":[\"BASE_DIR\"]},"
    "{\"for\":[\"pkg-no\"],\"refuse\":\"not this one\"}]}";

/*
 * `entry` is the result as canonical JSON, or NULL; `say` is part of a note or
 * refusal.
 */
static const struct {
	const char *what, *name, *theirs, *entry, *secrets, *say;
} entry_rows[] = {
    {"a plain one", "a", "{\"command\":\"x\",\"args\":[\"y\"]}",
	"{\"command\":\"x\",\"args\":[\"y\"]}", "{}", "not known here"},
    {"npx", "a", "{\"command\":\"npx\",\"args\":[\"-y\",\"pkg@latest\"]}",
	"{\"command\":\"npx\",\"args\":[\"-y\",\"pkg\"]}", "{}", "@latest"},
    {"a name", "My Server!", "{\"command\":\"x\"}",
	"{\"command\":\"x\",\"args\":[]}", "{}", "is called my-server here"},
    {"the reserved name", "filesystem", "{\"command\":\"x\"}",
	"{\"command\":\"x\",\"args\":[]}", "{}", "is called files here"},
    {"a secret", "a",
	"{\"command\":\"x\",\"env\":{\"API_KEY\":\"12345678\",\"A\":\"b\"}}",
	"{\"command\":\"x\",\"args\":[],\"env\":{\"A\":\"b\"}}",
	"{\"API_KEY\":\"12345678\"}", "kept in serverCredentials"},
    {"a secret argument", "a",
	"{\"command\":\"x\",\"args\":[\"--token\",\"abcdefghij\","
	"\"--key=0123456789\"]}",
	"{\"command\":\"x\",\"args\":[\"--token\",\"${IC_ARG_2}\","
	"\"--key=${IC_ARG_3}\"]}",
	"{\"IC_ARG_2\":\"abcdefghij\",\"IC_ARG_3\":\"0123456789\"}",
	"argument 2"},
    {"variables", "a",
	"{\"command\":\"x\",\"args\":[\"${env:A_TOKEN}\","
	"\"${workspaceFolder}/b\",\"${C:-d}\",\"${input:my-key}\"],"
	"\"env\":{\"T\":\"$B_TOKEN\"}}",
	"{\"command\":\"x\",\"args\":[\"${A_TOKEN}\",\"/workspace/b\","
	"\"${C:-d}\",\"${MY_KEY}\"],\"env\":{\"T\":\"${B_TOKEN}\"}}",
	"{}", "export it as MY_KEY"},
    {"OpenCode's form", "a",
	"{\"type\":\"local\",\"command\":[\"x\",\"y\"],\"enabled\":true,"
	"\"environment\":{\"A\":\"b\"}}",
	"{\"command\":\"x\",\"args\":[\"y\"],\"env\":{\"A\":\"b\"}}", "{}",
	"not known here"},
    {"Zed's form", "a",
	"{\"source\":\"custom\",\"command\":{\"path\":\"x\",\"args\":"
	"[\"y\"],\"env\":{\"A\":\"b\"}}}",
	"{\"command\":\"x\",\"args\":[\"y\"],\"env\":{\"A\":\"b\"}}", "{}",
	"not known here"},
    {"Continue's older form", "a",
	"{\"transport\":{\"type\":\"stdio\",\"command\":\"x\",\"args\":"
	"[\"y\"]}}",
	"{\"command\":\"x\",\"args\":[\"y\"]}", "{}", ""},
    {"a whole line", "a", "{\"command\":\"npx -y pkg@1.2 z\"}",
	"{\"command\":\"npx\",\"args\":[\"-y\",\"pkg@1.2\",\"z\"]}", "{}", ""},
    {"a path with a blank", "a", "{\"command\":\"/opt/my app/x\"}",
	"{\"command\":\"/opt/my app/x\",\"args\":[]}", "{}", ""},
    {"one argument as text", "a", "{\"command\":\"x\",\"args\":\"y z\"}",
	"{\"command\":\"x\",\"args\":[\"y z\"]}", "{}", ""},
    {"numbers and truth values", "a",
	"{\"command\":\"x\",\"env\":{\"PORT\":8080,\"DEBUG\":true}}",
	"{\"command\":\"x\",\"args\":[],\"env\":{\"PORT\":\"8080\","
	"\"DEBUG\":\"true\"}}",
	"{}", ""},
    {"variables in a list", "a",
	"{\"command\":\"x\",\"env\":[\"A=b=c\",{\"name\":\"D\","
	"\"value\":\"e\"}]}",
	"{\"command\":\"x\",\"args\":[],\"env\":{\"A\":\"b=c\","
	"\"D\":\"e\"}}",
	"{}", ""},
    {"Goose's", "a",
	"{\"type\":\"stdio\",\"enabled\":true,\"cmd\":\"x\",\"args\":[\"-y\"],"
	"\"envs\":{\"A\":\"b\"}}",
	"{\"command\":\"x\",\"args\":[\"-y\"],\"env\":{\"A\":\"b\"}}",
	"{}", ""},
    {"a start of Windows", "a",
	"{\"command\":\"cmd\",\"args\":[\"/c\",\"npx\",\"pkg\"]}",
	"{\"command\":\"npx\",\"args\":[\"pkg\"]}", "{}", ""},
    {"a provider's key by reference", "a",
	"{\"command\":\"x\",\"env\":{\"ANTHROPIC_API_KEY\":"
	"\"${ANTHROPIC_API_KEY}\",\"A\":\"b\"}}",
	"{\"command\":\"x\",\"args\":[],\"env\":{\"A\":\"b\"}}", "{}",
	"export A_ANTHROPIC_API_KEY=..."},
    {"one under another name", "a",
	"{\"command\":\"x\",\"env\":{\"KEY\":\"k=${env:OPENAI_API_KEY}\"}}",
	"{\"command\":\"x\",\"args\":[]}", "{}",
	"env.KEY is refused: it is a key of openai"},
    {"one as $NAME", "a",
	"{\"command\":\"x\",\"env\":{\"KEY\":\"$OPENAI_API_KEY\"}}",
	"{\"command\":\"x\",\"args\":[]}", "{}", "env.KEY is refused"},
    {"one as text", "a",
	"{\"command\":\"x\",\"env\":{\"OPENAI_API_KEY\":\"12345678\"}}",
	"{\"command\":\"x\",\"args\":[]}", "{}",
	"env.OPENAI_API_KEY is refused"},
    {"one by its form", "a",
	"{\"command\":\"x\",\"env\":{\"MY_TOKEN\":\"sk-ant-0123456789\"}}",
	"{\"command\":\"x\",\"args\":[]}", "{}", "env.MY_TOKEN is refused"},
    {"one in an argument", "a",
	"{\"command\":\"x\",\"args\":[\"--key=${OPENAI_API_KEY}\"]}", NULL,
	NULL, "its argument 1 is OPENAI_API_KEY, the key of openai"},
    {"one as an argument", "a",
	"{\"command\":\"x\",\"args\":[\"--key\",\"sk-ant-0123456789\"]}", NULL,
	NULL, "its argument 2 is a key of anthropic"},
    {"a key of the server's own", "a",
	"{\"command\":\"x\",\"env\":{\"OPENAI_API_KEY\":\"${IMAGES_KEY}\"}}",
	"{\"command\":\"x\",\"args\":[],\"env\":{\"OPENAI_API_KEY\":"
	"\"${IMAGES_KEY}\"}}",
	"{}", ""},
    {"other members", "a", "{\"command\":\"x\",\"cwd\":\"/\",\"timeout\":1}",
	"{\"command\":\"x\",\"args\":[]}", "{}", "timeout is left out"},
    {"a recipe for data", "a",
	"{\"command\":\"npx\",\"args\":[\"pkg-data@1.2\"]}",
	"{\"command\":\"npx\",\"args\":[\"pkg-data@1.2\"],\"env\":"
	"{\"DATA_FILE\":\"/d/ironcurtain/data/a/x.json\"},\"sandbox\":"
	"{\"filesystem\":{\"allowWrite\":[\"/d/ironcurtain/data/a\"]},"
	"\"network\":{\"allowedDomains\":[\"api.example\"]}}}",
	"{}", ""},
    {"a recipe for paths", "a",
	"{\"command\":\"npx\",\"args\":[\"pkg-paths\",\"/etc\",\"/nowhere/"
	"x\"]}",
	"{\"command\":\"npx\",\"args\":[\"pkg-paths\",\"/etc\",\"/nowhere/x\"],"
	"\"sandbox\":{\"filesystem\":{\"allowRead\":[\"/etc\"]}}}",
	"{}", "/nowhere/x does not exist"},
    {"a recipe for the directory it keeps to", "a",
	"{\"command\":\"npx\",\"args\":[\"pkg-root\"],"
	"\"env\":{\"BASE_DIR\":\"/etc\"}}",
	"{\"command\":\"npx\",\"args\":[\"pkg-root\"],"
	"\"env\":{\"BASE_DIR\":\"/workspace\"}}",
	"{}", "BASE_DIR is /workspace here, and was /etc"},
    {"a path that it does not see", "a",
	"{\"command\":\"x\",\"env\":{\"CONF\":\"/etc/passwd\"}}",
	"{\"command\":\"x\",\"args\":[],"
	"\"env\":{\"CONF\":\"/etc/passwd\"}}",
	"{}", "CONF is a path that the server does not see"},
    {"a recipe that refuses", "a",
	"{\"command\":\"npx\",\"args\":[\"pkg-no\"]}", NULL, NULL,
	"not this one"},
    {"a shell", "a", "{\"command\":\"/bin/bash\",\"args\":[\"-c\",\"x\"]}",
	NULL, NULL, "through a shell"},
    {"an engine", "a", "{\"command\":\"docker\",\"args\":[\"run\"]}", NULL,
	NULL, "container engine"},
    {"sudo", "a", "{\"command\":\"sudo\"}", NULL, NULL, "another user"},
    {"a remote one", "a", "{\"url\":\"https://x\"}", "{\"url\":\"https://x\"}",
	"{}", ""},
    {"a remote one with a token", "a",
	"{\"serverUrl\":\"https://x/mcp\",\"headers\":{\"X-Team\":\"a\","
	"\"Authorization\":\"Bearer 0123456789abcdef\"}}",
	"{\"url\":\"https://x/mcp\",\"headers\":{\"X-Team\":\"a\"}}",
	"{\"bearer\":{\"file\":\"/ic/mcp-secrets/a\"}}", "kept in a file"},
    {"a remote one of Codex", "a",
	"{\"url\":\"https://x\",\"bearer_token_env_var\":\"T\","
	"\"http_headers\":{\"x-a\":\"b\"}}",
	"{\"url\":\"https://x\",\"headers\":{\"x-a\":\"b\"}}",
	"{\"bearer\":{\"env\":\"T\"}}", "a variable of your environment"},
    {"a key by reference", "a",
	"{\"httpUrl\":\"https://x\",\"headers\":{\"x-api-key\":\"${K}\"}}",
	"{\"url\":\"https://x\"}",
	"{\"headers\":{\"x-api-key\":{\"env\":\"K\"}}}", ""},
    {"a line of mcp-remote", "a",
	"{\"command\":\"npx\",\"args\":[\"-y\",\"mcp-remote@latest\","
	"\"https://x/mcp\",\"3334\",\"--header\","
	"\"Authorization: Bearer ${T}\"]}",
	"{\"url\":\"https://x/mcp\"}", "{\"bearer\":{\"env\":\"T\"}}", ""},
    {"a login", "a", "{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\"}}",
	"{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\"}}", "{}",
	"icctl mcp login"},
    {"a login of Codex", "a",
	"{\"url\":\"https://x\",\"oauth_client_id\":\"a\",\"scopes\":[\"r\","
	"\"w\"]}",
	"{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\",\"scopes\":["
	"\"r\",\"w\"]}}",
	"{}", "icctl mcp login"},
    {"a login of OpenCode", "a",
	"{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\","
	"\"clientSecret\":\"0123456789abcdef\",\"scope\":\"r w\"}}",
	"{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\",\"scopes\":["
	"\"r\",\"w\"]}}",
	"{\"clientSecret\":{\"file\":\"/ic/mcp-secrets/a\"}}",
	"icctl mcp login"},
    {"a login of Claude Code", "a",
	"{\"type\":\"http\",\"url\":\"https://x\",\"oauth\":{\"clientId\":"
	"\"a\",\"clientSecret\":\"${S}\",\"callbackPort\":8080}}",
	"{\"url\":\"https://x\",\"oauth\":{\"clientId\":\"a\","
	"\"callbackPort\":8080}}",
	"{\"clientSecret\":{\"env\":\"S\"}}", "icctl mcp login"},
    {"no login", "a", "{\"url\":\"https://x\",\"oauth\":false}",
	"{\"url\":\"https://x\"}", "{}", ""},
    {"a login that is off", "a",
	"{\"url\":\"https://x\",\"oauth\":{\"enabled\":false,\"clientId\":"
	"\"a\"}}",
	"{\"url\":\"https://x\"}", "{}", ""},
    {"two secrets", "a",
	"{\"url\":\"https://x\",\"headers\":{\"x-api-key\":\"${K}\","
	"\"Authorization\":\"Bearer ${T}\"}}",
	NULL, NULL, "several secrets"},
    {"a secret within a text", "a",
	"{\"url\":\"https://x\",\"headers\":{\"Authorization\":"
	"\"Token ${T}\"}}",
	NULL, NULL, "mixes a secret"},
    {"an address with a variable", "a", "{\"url\":\"https://x/${K}\"}", NULL,
	NULL, "write it in full"},
    {"the old transport", "a", "{\"type\":\"sse\",\"url\":\"https://x/sse\"}",
	NULL, NULL, "HTTP+SSE of 2024-11-05"},
    {"a remote type", "a", "{\"type\":\"sse\",\"command\":\"x\"}", NULL, NULL,
	"without an address"},
    {"a disabled one", "a", "{\"command\":\"x\",\"disabled\":true}", NULL, NULL,
	"disabled"},
    {"no command", "a", "{}", NULL, NULL, "names no command"},
    {"no object", "a", "[]", NULL, NULL, "not an object"},
    {"npx -p", "a", "{\"command\":\"npx\",\"args\":[\"-p\",\"a\",\"b\"]}", NULL,
	NULL, "npx -p"},
    {"an argument that is a number", "a", "{\"command\":\"x\",\"args\":[1]}",
	NULL, NULL, "argument 1"},
    {"a name of signs", "!!", "{\"command\":\"x\"}", NULL, NULL,
	"no letter or digit"},
};

/* Files, and the servers that are found in them; NULL: none. */
static const struct {
	const char *what, *file, *servers;
} file_rows[] = {
    {"Claude's", "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}",
	"{\"a\":{\"command\":\"x\"}}"},
    {"Claude Code's projects",
	"{\"mcpServers\":{},\"projects\":{\"/p\":{\"mcpServers\":{\"a\":"
	"{\"command\":\"x\"}}},\"/q\":{\"mcpServers\":{\"a\":"
	"{\"command\":\"y\"}}},\"/r\":{\"mcpServers\":{\"a\":"
	"{\"command\":\"x\"}}}}}",
	"{\"a\":{\"command\":\"x\"},\"a-2\":{\"command\":\"y\"}}"},
    {"Continue's list",
	"{\"mcpServers\":[{\"name\":\"a\",\"command\":\"x\"},"
	"{\"command\":\"y\"}]}",
	"{\"a\":{\"name\":\"a\",\"command\":\"x\"},"
	"\"server-2\":{\"command\":\"y\"}}"},
    {"Continue's older one",
	"{\"experimental\":{\"modelContextProtocolServers\":[{\"transport\":"
	"{\"type\":\"stdio\",\"command\":\"x\"}}]}}",
	"{\"server-1\":{\"transport\":{\"type\":\"stdio\","
	"\"command\":\"x\"}}}"},
    {"VS Code's settings",
	"{\"mcp\":{\"inputs\":[],\"servers\":{\"a\":{\"command\":\"x\"}}}}",
	"{\"a\":{\"command\":\"x\"}}"},
    {"a key with a dot", "{\"amp.mcpServers\":{\"a\":{\"command\":\"x\"}}}",
	"{\"a\":{\"command\":\"x\"}}"},
    {"a development container's",
	"{\"customizations\":{\"vscode\":{\"mcp\":{\"servers\":{\"a\":"
	"{\"command\":\"x\"}}}}}}",
	"{\"a\":{\"command\":\"x\"}}"},
    {"Goose's, without its own",
	"{\"extensions\":{\"developer\":{\"type\":\"builtin\"},"
	"\"a\":{\"type\":\"stdio\",\"cmd\":\"x\"}}}",
	"{\"a\":{\"type\":\"stdio\",\"cmd\":\"x\"}}"},
    {"extensions of something else",
	"{\"extensions\":{\"a\":{\"enabled\":true}}}", NULL},
    {"a bare one", "{\"a\":{\"command\":\"x\"}}",
	"{\"a\":{\"command\":\"x\"}}"},
    {"none", "{\"theme\":\"dark\",\"x\":{\"y\":1}}", NULL},
    {"nothing", "{}", NULL},
};

/* The real keys of providers, as guarded.h finds their names. */
static const char keys[] =
    "{\"ANTHROPIC_API_KEY\":\"anthropic\",\"OPENAI_API_KEY\":\"openai\"}";

static bool
says(const struct mcp_entry *e, const char *want)
{
	if (e->refused != NULL)
		return strstr(e->refused, want) != NULL;
	for (size_t i = 0; i < json_object_array_length(e->notes); i++)
		if (strstr(json_object_get_string(
			       json_object_array_get_idx(e->notes, i)),
			want) != NULL)
			return true;
	return *want == '\0';
}

static bool
same(struct json_object *have, const char *want)
{
	return strcmp(
		   json_object_to_json_string_ext(have,
		       JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		   want) == 0;
}

static void
entries(void)
{
	struct mcp_entry_how how = {.recipes = json_tokener_parse(recipes),
	    .user_home = "/h",
	    .home = "/ic",
	    .data_home = "/d",
	    .keys = json_tokener_parse(keys)};
	struct mcp_entry e;

	for (size_t i = 0; i < nitems(entry_rows); i++) {
		struct json_object *theirs =
		    json_tokener_parse(entry_rows[i].theirs);

		mcp_entry_convert(&e, &how, entry_rows[i].name, theirs);
		ok(says(&e, entry_rows[i].say), "%s: %s", entry_rows[i].what,
		    e.refused != NULL ? e.refused
				      : json_object_to_json_string(e.notes));
		if (entry_rows[i].entry == NULL) {
			ok(e.refused != NULL, "%s is left out",
			    entry_rows[i].what);
		} else {
			ok(e.refused == NULL &&
				same(e.entry, entry_rows[i].entry),
			    "%s: the entry is %s", entry_rows[i].what,
			    json_object_to_json_string(e.entry));
			ok(same(e.where != NULL ? e.where : e.secrets,
			       entry_rows[i].secrets),
			    "%s: the secrets are %s", entry_rows[i].what,
			    json_object_to_json_string(e.secrets));
		}
		mcp_entry_free(&e);
		json_object_put(theirs);
	}
	json_object_put(how.recipes);
	json_object_put(how.keys);
}

static void
files(void)
{
	struct json_object *root, *servers;

	for (size_t i = 0; i < nitems(file_rows); i++) {
		root = json_tokener_parse(file_rows[i].file);
		servers = mcp_servers_of(root);
		ok(file_rows[i].servers == NULL
			? servers == NULL
			: servers != NULL &&
			      same(servers, file_rows[i].servers),
		    "%s: %s", file_rows[i].what,
		    json_object_to_json_string(servers));
		json_object_put(servers);
		json_object_put(root);
	}
}

/* Append `n` levels, of which each repeats the one before it `times` times. */
static void
levels(struct buf *b, unsigned n, unsigned times, bool merge)
{
	buf_adds(b, "l0: &l0 {k0: v}\n");
	for (unsigned i = 1; i <= n; i++) {
		buf_printf(b, "l%u: &l%u {", i, i);
		for (unsigned k = 0; k < times; k++)
			buf_printf(b, "a%u: *l%u, ", k, i - 1);
		buf_printf(b, merge ? "<<: *l%u}\n" : "}\n", i - 1);
	}
	buf_addc(b, '\0');
}

/* Aliases within the limits are read, and those that grow beyond are refused.
 */
static void
laughs(void)
{
	static const struct {
		const char *name;
		unsigned n, times;
		bool merge;
		const char *why;
	} rows[] = {
	    {"a billion", 9, 10, false,
		"line 7: its aliases make it too large"},
	    {"twice each", 40, 2, false, "its aliases make it too large"},
	    {"merged", 40, 2, true, "its aliases make it too large"},
	    {"deep", 100, 1, false, "its aliases make it too large"},
	    {"many anchors", 300, 0, false, "line 257: there are too many"},
	};
	struct buf b;

	for (size_t i = 0; i < nitems(rows); i++) {
		buf_init(&b, 1 << 20);
		levels(&b, rows[i].n, rows[i].times, rows[i].merge);
		convert("YAML", rows[i].name, (const char *)buf_span(&b).p,
		    NULL, rows[i].why, FOREIGN_YAML);
		buf_free(&b);
	}
}

int
main(void)
{
	for (size_t i = 0; i < nitems(toml_rows); i++)
		convert("TOML", toml_rows[i].name, toml_rows[i].text,
		    toml_rows[i].json, toml_rows[i].why, true);
	for (size_t i = 0; i < nitems(json_rows); i++)
		convert("JSON", json_rows[i].name, json_rows[i].text,
		    json_rows[i].json, json_rows[i].why, false);
	for (size_t i = 0; i < nitems(yaml_rows); i++)
		convert("YAML", yaml_rows[i].name, yaml_rows[i].text,
		    yaml_rows[i].json, yaml_rows[i].why, FOREIGN_YAML);
	laughs();
	limits();
	for (size_t i = 0; i < nitems(secret_rows); i++)
		ok(secret_like(secret_rows[i].name, secret_rows[i].value) ==
			secret_rows[i].secret,
		    "%s=%s is %sa secret", secret_rows[i].name,
		    secret_rows[i].value, secret_rows[i].secret ? "" : "not ");
	entries();
	files();
	return tap_done();
}
