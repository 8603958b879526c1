/* SPDX-License-Identifier: ISC */
/*
 * Code mode for test_code_mode.py: reads lines of JSON {"tools": [...],
 * "code": TEXT}, and writes for each call {"server", "tool", "args"}, to be
 * answered with {"text", "error"}, and at the end {"result", "error"}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docker/agent/code.h"

#define STDIO_TOOLS 64U

static char *line;
static size_t room;

/* Returns the next line of the test, to be freed with json_object_put(). */
static json_object *
stdio_read(void)
{
	return getline(&line, &room, stdin) > 0 ? json_tokener_parse(line)
						: NULL;
}

static void
stdio_write(json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	fflush(stdout);
	json_object_put(o);
}

static const char *
stdio_text(json_object *o, const char *name)
{
	return json_object_get_string(json_object_object_get(o, name));
}

static char *
stdio_call(void *arg, const char *server, const char *tool, const char *args,
    bool *is_error)
{
	json_object *o = json_object_new_object();
	char *text;

	json_object_object_add(o, "server", json_object_new_string(server));
	json_object_object_add(o, "tool", json_object_new_string(tool));
	json_object_object_add(o, "args", json_tokener_parse(args));
	stdio_write(o);
	if ((o = stdio_read()) == NULL)
		return NULL;
	*is_error = json_object_get_boolean(json_object_object_get(o, "error"));
	text = strdup(stdio_text(o, "text"));
	json_object_put(o);
	return text;
}

static void
stdio_run(json_object *request)
{
	json_object *list = json_object_object_get(request, "tools"), *o;
	size_t n = json_object_array_length(list);
	struct code_tool tools[STDIO_TOOLS];
	struct code_result out = {0};

	for (size_t i = 0; i < n && i < STDIO_TOOLS; i++) {
		o = json_object_array_get_idx(list, i);
		tools[i] = (struct code_tool){stdio_text(o, "server"),
		    stdio_text(o, "name"), stdio_text(o, "description"),
		    json_object_object_get(o, "schema")};
	}
	if (code_run(stdio_text(request, "code"), tools,
		n < STDIO_TOOLS ? n : STDIO_TOOLS, stdio_call, NULL,
		&out) == -1)
		exit(3);
	o = json_object_new_object();
	json_object_object_add(o, "result", json_object_new_string(out.text));
	json_object_object_add(
	    o, "error", json_object_new_boolean(out.is_error));
	stdio_write(o);
	free(out.text);
}

int
main(void)
{
	json_object *request;
	const char *why;

	if (!code_available(&why)) {
		fprintf(stderr, "%s\n", why);
		return 77;
	}
	while ((request = stdio_read()) != NULL) {
		stdio_run(request);
		json_object_put(request);
	}
	free(line);
	return 0;
}
