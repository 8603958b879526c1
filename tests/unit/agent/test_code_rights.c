/* SPDX-License-Identifier: ISC */
/*
 * The process of code mode as an enemy: scripts in place of the runner break
 * the rules between it and the agent, and try the rights that it must not have.
 * Usage: test_code_rights RIGHTS.cjs
 */
#include "docker/agent/code_priv.h"

#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

/* S(letter, text) sends a frame; bytes are those of Latin-1. */
#define HEAD                                                                   \
	"const fs = require('fs');"                                            \
	"const S = (l, t) => { const b = Buffer.from(t, 'latin1');"            \
	"const h = Buffer.alloc(5); h.write(l); h.writeUInt32LE(b.length, 1);" \
	"fs.writeSync(3, Buffer.concat([h, b])); };"
#define E "Execution error: "
#define BROKEN E "the interpreter was ended: it sent no valid request"

static const struct code_tool tools[] = {{"fs", "read_file", "", NULL}};

static unsigned calls;

/* clang-format off */
static const struct {
	const char *name, *script, *want;
	unsigned calls;
} rows[] = {
	{"an unknown letter", "S('Q', '')", BROKEN, 0},
	{"a letter for the other side", "S('o', '')", BROKEN, 0},
	{"a frame of four gigabytes", "fs.writeSync(3, Buffer.from('L\\xff\\xff\\xff\\xff', 'latin1'))", BROKEN, 0},
	{"an end with a text", "S('D', 'x')", BROKEN, 0},
	{"text after the end", "S('D', ''); S('L', 'late')", "(no return value)", 0},
	{"a frame in pieces", "for (const c of 'V\\x02\\0\\0\\0hiD\\0\\0\\0\\0') fs.writeSync(3, c)", "hi", 0},
	{"a tool that is not in the table", "S('C', '1\\n{}'); S('D', '')", "(no return value)", 0},
	{"a tool by a long number", "S('C', '4294967296\\n{}'); S('D', '')", "(no return value)", 0},
	{"a negative tool", "S('C', '-1\\n{}'); S('D', '')", "(no return value)", 0},
	{"no tool", "S('C', '\\n{}'); S('D', '')", "(no return value)", 0},
	{"no end of the tool", "S('C', '0{}'); S('D', '')", "(no return value)", 0},
	{"a tool alone", "S('C', '0'); S('D', '')", "(no return value)", 0},
	{"nothing", "S('C', ''); S('D', '')", "(no return value)", 0},
	{"arguments that are a list", "S('C', '0\\n[]'); S('D', '')", "(no return value)", 0},
	{"no arguments", "S('C', '0\\n'); S('D', '')", "(no return value)", 0},
	{"arguments twice", "S('C', '0\\n{}{}'); S('D', '')", "(no return value)", 0},
	{"a member twice", "S('C', '0\\n{\"a\":1,\"a\":2}'); S('D', '')", "(no return value)", 0},
	{"arguments that are not UTF-8", "S('C', '0\\n{\"a\":\"\\xff\"}'); S('D', '')", "(no return value)", 0},
	{"a NUL in arguments", "S('C', '0\\n{}\\0'); S('D', '')", "(no return value)", 0},
	{"good arguments", "S('C', '0\\n{\"a\":1}'); S('D', '')", "(no return value)", 1},
	{"a value that is not UTF-8", "S('V', 'a\\xff\\xc3'); S('D', '')", "a\xef\xbf\xbd\xef\xbf\xbd", 0},
	{"logs with a NUL", "S('L', 'a\\0b'); S('D', '')", "[logs]\na\xef\xbf\xbd" "b\n(no return value)", 0},
	{"leaving", "process.exit(0)", E "the interpreter ended with status 0", 0},
	{"leaving with a status", "process.exit(9)", E "the interpreter ended with status 9", 0},
	{"closing its end", "fs.closeSync(3); for (;;);", E "the interpreter ended with status 0", 0},
	{"throwing", "throw new Error('mine')", E "the interpreter ended with status 1: Error: mine", 0},
};
/* clang-format on */

static char *
play(void *arg, const char *server, const char *tool, const char *args,
    bool *is_error)
{
	calls++;
	return strdup("text");
}

static char *
run(const char *script, unsigned ms)
{
	const struct code_limits limits = {ms, 128, 1024, script};
	struct code_result out = {0};

	if (code_run_limited("return 1", tools, nitems(tools), play, NULL,
		&limits, &out) == -1)
		return NULL;
	return out.text;
}

static void
test_rules(void)
{
	char script[2048], *text;

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(script, sizeof(script), HEAD "%s", rows[i].script);
		calls = 0;
		text = run(script, 20000);
		if (strstr(rows[i].want, "status 0") != NULL)
			ok(text != NULL &&
				strncmp(text, E "the interpreter", 32) == 0,
			    "%s", rows[i].name);
		else
			is_str(text != NULL ? text : "", rows[i].want, "%s",
			    rows[i].name);
		is_int(calls, rows[i].calls, "%s: calls", rows[i].name);
		free(text);
	}
}

static void
test_floods(void)
{
	char *text;

	calls = 0;
	text = run(HEAD "for (;;) S('C', '0\\n{}')", 1500);
	is_str(text != NULL ? text : "", BROKEN,
	    "calls that do not wait for their answers");
	free(text);
	text = run(HEAD "for (;;) S('F', 'x'.repeat(60000))", 1500);
	ok(text != NULL && strstr(text, "ran longer") != NULL,
	    "a reason without end");
	free(text);
	text = run("for (;;) process.stderr.write('x'.repeat(60000))", 1500);
	ok(text != NULL && strlen(text) < 5000, "complaints without end");
	free(text);
	text = run(HEAD "S('V', 'x'); for (;;);", 700);
	is_str(text != NULL ? text : "",
	    E "the program ran longer than 1 seconds", "silence");
	free(text);
}

static char *
slurp(FILE *f)
{
	struct buf b;
	uint8_t *room;
	char *text = NULL;
	size_t n;

	buf_init(&b, 1U << 20);
	while ((room = buf_room(&b, 65536)) != NULL &&
	       (n = fread(room, 1, 65536, f)) > 0)
		buf_grow(&b, n);
	buf_addc(&b, '\0');
	if (buf_check(&b) == 0)
		text = strdup((const char *)(b.p + b.off));
	buf_free(&b);
	return text;
}

/* Returns the lines after the header of the only frame. */
static char *
control(const char *path)
{
	char command[3 * PATH_MAX], *text;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' '%s' 3>&1 | tail -c +6",
	    code_node_find(NULL)->path, path);
	if ((f = popen(command, "re")) == NULL)
		return NULL;
	text = slurp(f);
	pclose(f);
	return text;
}

static void
test_rights(const char *path)
{
	char *script, *plain, *lines, *name, *save, want[128];
	FILE *f = fopen(path, "re");
	unsigned n = 0;

	if (f == NULL || (script = slurp(f)) == NULL)
		abort();
	fclose(f);
	plain = control(path);
	lines = run(script, 20000);
	if (plain == NULL || lines == NULL)
		abort();
	for (name = strtok_r(plain, "\n", &save); name != NULL;
	     name = strtok_r(NULL, "\n", &save)) {
		if (strchr(name, '=') == NULL)
			continue;
		ok(strstr(name, "=DONE") != NULL, "control: %s", name);
		*strchr(name, '=') = '\0';
		n++;
		snprintf(want, sizeof(want), "\n%s=", name);
		if (!ok(strstr(lines, want) != NULL, "tried: %s", name))
			continue;
		snprintf(want, sizeof(want), "\n%s=DONE", name);
		ok(strstr(lines, want) == NULL, "no right: %s", name);
	}
	ok(n >= 25, "%u rights", n);
	for (name = strtok_r(lines, "\n", &save); name != NULL;
	     name = strtok_r(NULL, "\n", &save))
		printf("# without rights: %s\n", name);
	free(script);
	free(plain);
	free(lines);
}

int
main(int argc, char **argv)
{
	const char *why;

	if (argc != 2)
		return 2;
	if (!code_available(&why)) {
		ok(true, "the process of code mode # SKIP %s", why);
		return tap_done();
	}
	test_rules();
	test_floods();
	test_rights(argv[1]);
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "no process is left");
	code_node_forget();
	return tap_done();
}
