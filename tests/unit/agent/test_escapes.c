/* SPDX-License-Identifier: ISC */
/*
 * Programs that try to leave code mode: each row of escapes.txt, and each
 * right of the process itself, with a control that shows that the same attempt
 * succeeds in a plain node.  Usage: test_escapes CONTROL.cjs ESCAPES.txt
 * FRONT.js
 */
#include "docker/agent/code_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static const struct code_limits quick = {60000, 128, 1024, NULL};

static const struct code_tool tools[] = {
    {"fs", "read_file", "", NULL},
    {"fs", "fail", "", NULL},
    {"fs", "json", "", NULL},
};

static char *
play(void *arg, const char *server, const char *tool, const char *args,
    bool *is_error)
{
	*is_error = strcmp(tool, "fail") == 0;
	return strdup(strcmp(tool, "json") == 0 ? "{\"list\":[1]}" : "text");
}

/* Returns the text of a file or of a command, to be freed. */
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

/* Run the control.  Returns lines of a name, a tab and ESCAPED or a reason. */
static char *
control(const char *script, const char *rows, const char *front)
{
	char command[4 * PATH_MAX], *text;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' '%s' '%s' '%s'",
	    code_node_find(NULL)->path, script, rows, front);
	/* A test of this tree with names of its own. */
	if ((f = popen(command, "re")) == NULL)
		return NULL;
	text = slurp(f);
	pclose(f);
	return text;
}

static void
attempt(
    const char *name, const char *front, const char *code, const char *controls)
{
	struct code_result out = {0};
	char line[256], source[16384];

	snprintf(line, sizeof(line), "\n%s\tESCAPED\n", name);
	ok(strstr(controls, line) != NULL, "control: %s", name);
	snprintf(source, sizeof(source), "%s%s", front, code);
	if (code_run_limited(
		source, tools, nitems(tools), play, NULL, &quick, &out) == -1) {
		ok(false, "%s: %s", name, strerror(errno));
		return;
	}
	if (!ok(strstr(out.text, "ESCAPED") == NULL &&
		    strstr(out.text, "interpreter") == NULL,
		"refused: %s", name))
		printf("# %.300s\n", out.text);
	free(out.text);
}

int
main(int argc, char **argv)
{
	char *rows, *front, *controls, *name, *code, *next;
	const char *why;
	unsigned n = 0;
	FILE *f;

	if (argc != 4 || (f = fopen(argv[2], "re")) == NULL)
		return 2;
	rows = slurp(f);
	fclose(f);
	if ((f = fopen(argv[3], "re")) == NULL)
		return 2;
	front = slurp(f);
	fclose(f);
	if (!code_available(&why)) {
		ok(true, "escapes # SKIP %s", why);
		free(rows);
		free(front);
		return tap_done();
	}
	controls = control(argv[1], argv[2], argv[3]);
	if (rows == NULL || front == NULL || controls == NULL)
		return 2;
	for (name = strstr(rows, "\n=== "); name != NULL; name = next) {
		name = strstr(name, ": ") + 2;
		code = strchr(name, '\n');
		*code++ = '\0';
		if ((next = strstr(code, "\n=== ")) != NULL)
			*next++ = '\0';
		if (next != NULL)
			next[-1] = '\0';
		attempt(name, front, code, controls);
		n++;
		if (next != NULL)
			next--;
		if (next != NULL)
			*next = '\n';
	}
	ok(n >= 40, "%u attempts", n);
	free(rows);
	free(front);
	free(controls);
	code_node_forget();
	return tap_done();
}
