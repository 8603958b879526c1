/* SPDX-License-Identifier: ISC */
/*
 * Code mode with the machine's node and a played agent: results, errors, limits
 * and ends.  Without a node everything that needs one is skipped, by name.
 */
#include "docker/agent/code_priv.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/agent/code_rows.h"

#define TEST_TOOLS 9U

static const struct code_limits quick = {20000, 128, 1024, NULL};

static struct played {
	unsigned calls;
	char last[256]; /* server, tool and arguments of the latest call */
	bool cancel;
	int signal;  /* to the child, by the agent's side */
	int wait_ms; /* until a person decides */
} played;

/* Send the signal to all children of this process. */
static void
kill_children(void)
{
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (fscanf(f, "%d", &pid) == 1)
		(void)kill(pid, played.signal);
	fclose(f);
}

static char *
play_big(void)
{
	char *text = malloc(3000001);

	if (text != NULL) {
		memset(text, 'b', 3000000);
		text[3000000] = '\0';
	}
	return text;
}

static char *
play(void *arg, const char *server, const char *tool, const char *args,
    bool *is_error)
{
	char *text;

	played.calls++;
	snprintf(
	    played.last, sizeof(played.last), "%s %s %s", server, tool, args);
	if (played.cancel)
		code_cancel();
	if (played.signal != 0)
		kill_children();
	if (strcmp(tool, "fail") == 0) {
		*is_error = true;
		return strdup("DENIED: not \"here\"\n\xc3\xa9");
	}
	if (played.wait_ms != 0)
		poll(NULL, 0, played.wait_ms);
	if (strcmp(tool, "json") == 0)
		return strdup("{\"list\":[1,2,{\"deep\":true}],\"n\":7}");
	if (strcmp(tool, "broken") == 0)
		return strdup("{no json");
	if (strcmp(tool, "nothing") == 0)
		return NULL;
	if (strcmp(tool, "big") == 0)
		return play_big();
	if (asprintf(&text, "text of %s %s", tool, args) == -1)
		return NULL;
	return text;
}

static struct code_tool tools[TEST_TOOLS] = {
    {"fs", "read_file", "Reads a file.\nAll of it.", NULL},
    {"fs", "fail", "Fails.", NULL},
    {"fs", "json", "Returns JSON.", NULL},
    {"fs", "broken", NULL, NULL},
    {"fs", "nothing", "", NULL},
    {"fs", "big", "", NULL},
    {"git", "git_push", "Pushes.", NULL},
    {"my-server", "a-b", "", NULL},
    {"__proto__", "constructor", "", NULL},
};

static void
tools_make(void)
{
	tools[0].schema = json_tokener_parse(
	    "{\"type\":\"object\",\"required\":[\"path\"],\"properties\":{"
	    "\"path\":{\"type\":\"string\",\"description\":\"The name.\"},"
	    "\"head\":{\"type\":\"integer\"},\"mode\":{\"enum\":[\"a\",\"b\"]},"
	    "\"of-list\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	    "\"properties\":{\"x\":{\"type\":[\"number\",\"null\"]}}}}}}");
}

/* Run a program.  Returns its result's text, to be freed. */
static char *
run(const char *source, const struct code_limits *limits, bool *is_error)
{
	struct code_result out = {0};

	if (code_run_limited(source, tools, TEST_TOOLS, play, NULL,
		limits != NULL ? limits : &quick, &out) == -1) {
		*is_error = true;
		return strdup(strerror(errno));
	}
	*is_error = out.is_error;
	if (out.len != strlen(out.text))
		*is_error = true;
	return out.text;
}

static void
test_rows(void)
{
	bool is_error;
	char *text;

	for (size_t i = 0; i < nitems(code_rows); i++) {
		text = run(code_rows[i].source, NULL, &is_error);
		is_str(text, code_rows[i].want, "%s", code_rows[i].name);
		ok(is_error == (strstr(code_rows[i].want,
				    "Execution error: ") != NULL),
		    "%s: an error only if it is one", code_rows[i].name);
		free(text);
	}
}

static void
test_calls(void)
{
	bool is_error;
	char *text;

	played.calls = 0;
	text = run("let n = 0; for (let i = 0; i < 1000; i++)"
		   " n += fs.json({i}).n; return n",
	    NULL, &is_error);
	is_str(text, "7000", "a thousand calls in one program");
	is_int(played.calls, 1000, "each of them is made once");
	is_str(played.last, "fs json {\"i\":999}", "the last one's arguments");
	free(text);
	text = run(
	    "return fs.big.text().length + fs.big().length", NULL, &is_error);
	is_str(text, "6000000", "results of three megabytes");
	free(text);
	text = run("git.push({b: '\\u20ac', a: 1})", NULL, &is_error);
	is_str(played.last, "git git_push {\"a\":1,\"b\":\"\xe2\x82\xac\"}",
	    "the agent gets its own name, and arguments that it composed");
	free(text);
	played.calls = 0;
	text = run("fs.read_file({path: '\\ud800'})", NULL, &is_error);
	is_str(text,
	    "Execution error: fs.read_file: the arguments are not one JSON "
	    "object of valid text",
	    "half a character is refused");
	free(text);
	text = run("fs.read_file({path: 'a'.repeat(5e6)})", NULL, &is_error);
	is_str(text,
	    "Execution error: fs.read_file: the arguments are longer than 4 "
	    "MiB",
	    "arguments of five megabytes are refused");
	free(text);
	is_int(played.calls, 0, "and the agent never sees them");
}

static void
test_cut(void)
{
	const char *mark = "\n[... truncated 100002 bytes ...]\n";
	bool is_error;
	char *text, *at;

	text = run("return 'x'.repeat(99998)", NULL, &is_error);
	is_int(strlen(text), 100000, "100,000 bytes are whole");
	free(text);
	text = run(
	    "return 'h'.repeat(100000) + 't'.repeat(100000)", NULL, &is_error);
	at = strstr(text, mark);
	ok(at != NULL && at - text == 80000, "the first 80,000 bytes stay");
	is_int(at == NULL ? 0 : strlen(at + strlen(mark)), 20000,
	    "and the last 20,000, with a mark between");
	ok(!is_error, "a long value is no error");
	free(text);
	text = run("return '\\u20ac'.repeat(200000)", NULL, &is_error);
	ok(strstr(text, "\xef\xbf\xbd") == NULL,
	    "no character is cut in the middle");
	free(text);
	text = run("console.log('l'.repeat(400000)); return {short: 1}", NULL,
	    &is_error);
	ok(strlen(text) < 100200 && strstr(text, "truncated 300") != NULL,
	    "long logs are cut");
	ok(strcmp(text + strlen(text) - 12, "\n{\"short\":1}") == 0,
	    "and leave a short value whole");
	free(text);
	text =
	    run("for (let i = 0; i < 100; i++) console.log('l'.repeat(9999));"
		"return 'v'.repeat(1e6)",
		NULL, &is_error);
	ok(strlen(text) > 100000 && strlen(text) < 100300,
	    "long logs and a long value share it");
	free(text);
	text = run("throw new Error('e'.repeat(5e6))", NULL, &is_error);
	ok(strlen(text) < 100200 && is_error, "a long error is cut, too");
	free(text);
}

static void
test_ends(void)
{
	const struct code_limits brief = {700, 128, 1024, NULL};
	const struct code_limits slow = {4000, 128, 1024, NULL};
	bool is_error;
	char *text;

	text = run("console.log('before'); for (;;);", &brief, &is_error);
	is_str(text,
	    "[logs]\nbefore\n\nExecution error: the program ran longer than 1 "
	    "seconds",
	    "an endless loop is ended, and its logs stay");
	ok(is_error, "which is an error");
	free(text);
	text = run("(async () => { for (;;) await 1; })(); return 1", &brief,
	    &is_error);
	ok(strstr(text, "ran longer") != NULL,
	    "also one of promises that nobody waits for");
	free(text);
	text = run("for (;;) await 1;", &brief, &is_error);
	ok(strstr(text, "ran longer") != NULL, "endless promises are ended");
	free(text);
	text =
	    run("for (;;) console.log('x'.repeat(10000))", &brief, &is_error);
	ok(strstr(text, "ran longer") != NULL && strlen(text) < 100200,
	    "so are endless logs");
	free(text);
	text = run("const a = []; for (;;) a.push(Array(1000).fill(1))", NULL,
	    &is_error);
	is_str(text,
	    "Execution error: the program used more than 128 MB of memory",
	    "objects without end");
	free(text);
	text = run("const a = []; for (;;) a.push(new Uint8Array(1e8).fill(1))",
	    NULL, &is_error);
	is_str(text,
	    "Execution error: RangeError: Array buffer allocation failed",
	    "buffers without end");
	free(text);
	played.wait_ms = 1400;
	text = run("for (let i = 0; i < 3; i++) fs.json(); return i", &slow,
	    &is_error);
	ok(strstr(text, "i is not defined") != NULL,
	    "the time of calls is not the program's");
	free(text);
	played.wait_ms = 0;
	played.signal = SIGSEGV;
	text =
	    run("console.log('a'); fs.read_file(); return 1", NULL, &is_error);
	ok(strncmp(text,
	       "[logs]\na\n\nExecution error: the interpreter was ended by",
	       54) == 0,
	    "a killed interpreter, and its logs");
	free(text);
	played.signal = 0;
	played.cancel = true;
	text = run("fs.read_file(); for (;;);", NULL, &is_error);
	is_str(text, "Execution error: the program was interrupted",
	    "code_cancel() ends a program");
	free(text);
	played.cancel = false;
	text = run("return 5", NULL, &is_error);
	is_str(text, "5", "and not the next one");
	free(text);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "no process is left");
}

static void
test_types(void)
{
	static const char typed[] =
	    "interface A { a: string }\nconst f = (x: A): string => x.a;\n"
	    "return f({a: 'typed'} as A)";
	bool is_error;
	char *text;

	text = run(typed, NULL, &is_error);
	is_str(text, "\"typed\"", "types are removed");
	free(text);
	text = run("type A = 1;\nenum B { C }\nreturn 1", NULL, &is_error);
	ok(is_error && strstr(text, "an enum is code and no type: use a const "
		"object (line 2)") != NULL,
	    "what is no type is refused, with the place and the remedy");
	free(text);
	text = run("const a: number = 1;\nthrow new Error(a.b.c as string)", NULL,
	    &is_error);
	ok(is_error && strstr(text, "TypeError: ") != NULL,
	    "a typed program fails as another does");
	free(text);
	text = run("const a = 1;\nlet b = ;\n", NULL, &is_error);
	ok(strstr(text, "SyntaxError: ") != NULL &&
		strstr(text, "Unexpected token ';' (line 2)") != NULL,
	    "a mistake is told with its line");
	free(text);
	text = run("});\nconsole.log('out');\n(async () => {", NULL, &is_error);
	ok(strstr(text, "(no return value)") != NULL,
	    "a program that closes its function has gained nothing");
	free(text);
	text = run("}", NULL, &is_error);
	ok(strstr(text, "SyntaxError: ") != NULL, "a brace too many");
	free(text);
}

static void
test_describe(void)
{
	struct code_tool *many;
	char(*names)[32], *text = code_describe(tools, TEST_TOOLS);

	ok(text != NULL && strstr(text, "git: git.push\n") != NULL &&
		strstr(text, "my_server: my_server[\"a-b\"]\n") != NULL &&
		strstr(text, "__proto___: __proto___.constructor\n") != NULL,
	    "the description names each tool as it is called");
	free(text);
	many = calloc(CODE_TOOLS_MAX + 1, sizeof(*many));
	names = calloc(CODE_TOOLS_MAX + 1, sizeof(*names));
	if (many == NULL || names == NULL)
		abort();
	for (size_t i = 0; i <= CODE_TOOLS_MAX; i++) {
		snprintf(names[i], sizeof(*names), "tool_%zu", i);
		many[i] = (struct code_tool){"s", names[i], "", NULL};
	}
	text = code_describe(many, CODE_TOOLS_MAX);
	ok(text != NULL && strlen(text) < 10000 &&
		strstr(text, "more\n") != NULL,
	    "of 2,000 tools it names those that fit, and the number of the "
	    "others");
	free(text);
	ok(code_describe(many, CODE_TOOLS_MAX + 1) == NULL && errno == E2BIG,
	    "2,001 tools are too many");
	free(many);
	free(names);
}

/* Returns the global name of the n-th server in the table. */
static const char *
table_global(json_object *table, size_t n)
{
	return json_object_get_string(json_object_object_get(
	    json_object_array_get_idx(table, n), "global"));
}

static void
test_names(void)
{
	const struct code_tool same[] = {{"a-b", "x", "", NULL},
	    {"a.b", "x", "", NULL}, {"a_b", "x", "", NULL},
	    {"JSON", "x", "", NULL}, {"3d", "x", "", NULL},
	    {"git", "git_push", "", NULL}, {"git", "push", "", NULL},
	    {"git", "git__push", "", NULL}, {"git", "push", "", NULL}};
	json_object *table = code_table(same, nitems(same)), *git;
	const char *call[3];

	is_str(table_global(table, 0), "a_b_2", "a server's name is made one");
	is_str(table_global(table, 1), "a_b_3", "of two that become the same");
	is_str(
	    table_global(table, 2), "a_b", "one that needs nothing keeps it");
	is_str(table_global(table, 3), "JSON_", "the language is not hidden");
	is_str(table_global(table, 4), "_3d", "no name begins with a digit");
	git = json_object_object_get(
	    json_object_array_get_idx(table, 5), "tools");
	is_int(json_object_array_length(git), 3, "a tool is there once");
	for (size_t i = 0; i < 3; i++)
		call[i] = json_object_get_string(json_object_object_get(
		    json_object_array_get_idx(git, i), "call"));
	is_str(
	    call[0], "git.git_push", "a short name that is taken is not used");
	is_str(call[1], "git.push", "its owner has it");
	is_str(call[2], "git.git__push", "and nobody else");
	json_object_put(table);
}

static void
test_without_node(void)
{
	const char *why = NULL;
	struct code_result out = {0};
	char *path = strdup(getenv("PATH") != NULL ? getenv("PATH") : "");

	if (path == NULL)
		abort();
	code_node_forget();
	setenv("PATH", "/nonexistent::.", 1);
	ok(!code_available(&why) && strstr(why, "install Node.js") != NULL,
	    "without node it says what to install");
	ok(code_run("return 1", NULL, 0, play, NULL, &out) == -1 &&
		errno == ENOENT && out.text == NULL,
	    "and nothing is run");
	setenv("PATH", path, 1);
	free(path);
	code_node_forget();
}

int
main(void)
{
	const char *why;

	tools_make();
	test_names();
	test_describe();
	test_without_node();
	if (code_available(&why)) {
		test_rows();
		test_types();
		test_calls();
		test_cut();
		test_ends();
	} else {
		ok(true, "programs # SKIP %s", why);
	}
	code_node_forget();
	json_object_put(tools[0].schema);
	return tap_done();
}
