/* SPDX-License-Identifier: ISC */
/*
 * The description of the tool execute_code.  It names the tools only: the
 * program asks help.help() for the rest, so that a model reads what it needs.
 */
#include "docker/agent/code_priv.h"

#include <string.h>

#define DESCRIBE_MAX (64U << 10)
#define DESCRIBE_NAMES_MAX 6000U

static const char describe_head[] =
    "Runs a program and returns its output. The program is the body of an "
    "async function in JavaScript, or in TypeScript whose types can be left "
    "out; it calls tools, has the language's own library and console.log, and "
    "nothing else: no files, network, timers, require, import or processes. "
    "Each call is a new program.\n"
    "- SERVER.tool({...}) takes one object, waits, and returns the tool's "
    "text; "
    "text that is a JSON object or array is returned parsed, and "
    "SERVER.tool.text({...}) returns it as text always (use it to read "
    "files).\n"
    "- A tool's error, also a denied call, is thrown as an Error with its "
    "text. Do not repeat a call that was denied.\n"
    "- The output is what console.log wrote under [logs], then the value that "
    "the program returns, as JSON. Return what you need and no more: over "
    "%u bytes the middle is cut out. A program may run for %u seconds, calls "
    "of tools aside.\n"
    "- help.help() lists the servers, help.help(\"SERVER\") its tools with "
    "their arguments, and help.help(\"SERVER.tool\") describes one tool.\n"
    "Tools:\n";

/* Append one line of a server's tools; names only, as many as there is room. */
static void
describe_server(struct buf *b, json_object *server)
{
	json_object *tools = json_object_object_get(server, "tools");
	size_t n = json_object_array_length(tools), i;
	const char *call;
	json_object *o;

	buf_printf(b, "%s: ",
	    json_object_get_string(json_object_object_get(server, "global")));
	for (i = 0; i < n && b->len < DESCRIBE_NAMES_MAX; i++) {
		o = json_object_array_get_idx(tools, i);
		call =
		    json_object_get_string(json_object_object_get(o, "call"));
		buf_printf(b, "%s%s", i > 0 ? ", " : "", call);
	}
	if (i < n)
		buf_printf(b, "%s%zu more", i > 0 ? ", and " : "", n - i);
	buf_adds(b, "\n");
}

char *
code_describe(const struct code_tool *tools, size_t ntools)
{
	json_object *table;
	struct buf b;
	char *text = NULL;

	if ((table = code_table(tools, ntools)) == NULL)
		return NULL;
	buf_init(&b, DESCRIBE_MAX + ntools * 32 + ntools * CODE_NAME_MAX);
	buf_printf(&b, describe_head, CODE_RESULT_MAX,
	    code_limits_default.ms / 1000);
	for (size_t i = 0; i < json_object_array_length(table); i++)
		describe_server(&b, json_object_array_get_idx(table, i));
	buf_addc(&b, '\0');
	if (buf_check(&b) == 0)
		text = strdup((const char *)(b.p + b.off));
	buf_free(&b);
	json_object_put(table);
	return text;
}
