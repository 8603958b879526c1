/* SPDX-License-Identifier: ISC */
/*
 * Names of servers and tools as names of JavaScript.  They come from servers
 * and may be anything: a server becomes a global name that hides none of the
 * language, and a tool a member, in brackets if it is no identifier.
 */
#include "docker/agent/code_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"

#define NAMES_DESCRIPTION_MAX 4096U

/* Words and global names that a server may not take. */
static const char *const names_taken[] = {"AggregateError", "Array",
    "ArrayBuffer", "AsyncDisposableStack", "Atomics", "BigInt", "BigInt64Array",
    "BigUint64Array", "Boolean", "DataView", "Date", "DisposableStack", "Error",
    "EvalError", "FinalizationRegistry", "Float16Array", "Float32Array",
    "Float64Array", "Function", "Infinity", "Int16Array", "Int32Array",
    "Int8Array", "Intl", "Iterator", "JSON", "Map", "Math", "NaN", "Number",
    "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect",
    "RegExp", "Set", "SharedArrayBuffer", "String", "SuppressedError", "Symbol",
    "SyntaxError", "Temporal", "TypeError", "URIError", "Uint16Array",
    "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef",
    "WeakSet", "WebAssembly", "__defineGetter__", "__defineSetter__",
    "__getToolInterface", "__lookupGetter__", "__lookupSetter__", "__proto__",
    "arguments", "async", "await", "break", "case", "catch", "class", "console",
    "const", "constructor", "continue", "debugger", "decodeURI",
    "decodeURIComponent", "default", "delete", "do", "else", "encodeURI",
    "encodeURIComponent", "enum", "escape", "eval", "export", "extends",
    "false", "finally", "for", "function", "get", "globalThis",
    "hasOwnProperty", "help", "if", "implements", "import", "in", "instanceof",
    "interface", "isFinite", "isNaN", "isPrototypeOf", "let", "new", "null",
    "of", "package", "parseFloat", "parseInt", "private",
    "propertyIsEnumerable", "protected", "public", "return", "set", "static",
    "super", "switch", "this", "throw", "toLocaleString", "toString", "true",
    "try", "typeof", "undefined", "unescape", "valueOf", "var", "void", "while",
    "with", "yield"};

struct names_server {
	const char *server;
	char global[CODE_NAME_MAX + 16];
};

static bool
names_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$';
}

static bool
names_identifier(const char *name)
{
	if (!names_letter(*name))
		return false;
	for (; *name != '\0'; name++)
		if (!names_letter(*name) && (*name < '0' || *name > '9'))
			return false;
	return true;
}

static int
names_compare(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

static bool
names_language(const char *name)
{
	return bsearch(name, names_taken, nitems(names_taken),
		   sizeof(names_taken[0]), names_compare) != NULL;
}

static bool
names_used(const struct names_server *s, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(s[i].global, name) == 0)
			return true;
	return names_language(name);
}

/* Choose a name for a server whose own one cannot be global. */
static void
names_choose(struct names_server *all, size_t n, struct names_server *s)
{
	char base[CODE_NAME_MAX + 2], name[sizeof(s->global)];
	size_t at = 0;

	if (!names_letter(s->server[0]))
		base[at++] = '_';
	for (const char *p = s->server; *p != '\0' && at < CODE_NAME_MAX; p++)
		base[at++] =
		    names_letter(*p) || (*p >= '0' && *p <= '9') ? *p : '_';
	base[at] = '\0';
	strlcpy(name, base, sizeof(name));
	if (names_language(name))
		strlcat(name, "_", sizeof(name));
	for (unsigned i = 2; names_used(all, n, name); i++)
		snprintf(name, sizeof(name), "%s_%u", base, i);
	strlcpy(s->global, name, sizeof(s->global));
}

static bool
names_valid(const struct code_tool *t)
{
	return t->server != NULL && t->name != NULL && t->server[0] != '\0' &&
	       t->name[0] != '\0' && strlen(t->server) <= CODE_NAME_MAX &&
	       strlen(t->name) <= CODE_NAME_MAX &&
	       utf8_valid(span_of(t->server, strlen(t->server))) &&
	       utf8_valid(span_of(t->name, strlen(t->name)));
}

/* List the servers in order of their first tools.  Returns their number. */
static size_t
names_servers(const struct code_tool *tools, size_t n, struct names_server *all)
{
	size_t count = 0, k;

	for (size_t i = 0; i < n; i++) {
		if (!names_valid(&tools[i]))
			continue;
		for (k = 0; k < count; k++)
			if (strcmp(all[k].server, tools[i].server) == 0)
				break;
		if (k < count)
			continue;
		all[count].server = tools[i].server;
		all[count++].global[0] = '\0';
	}
	for (k = 0; k < count; k++)
		if (names_identifier(all[k].server) &&
		    !names_language(all[k].server))
			strlcpy(all[k].global, all[k].server,
			    sizeof(all[k].global));
	for (k = 0; k < count; k++)
		if (all[k].global[0] == '\0')
			names_choose(all, count, &all[k]);
	return count;
}

/* Returns the name without the server's own name in front, or NULL. */
static const char *
names_short(const struct code_tool *t)
{
	size_t n = strlen(t->server);

	if (strncmp(t->name, t->server, n) != 0 || t->name[n] != '_')
		return NULL;
	n += t->name[n + 1] == '_' ? 2 : 1;
	return t->name[n] == '\0' ? NULL : t->name + n;
}

/* Returns true if an earlier tool, or any tool's own name, is `name`. */
static bool
names_collides(
    const struct code_tool *tools, size_t n, size_t at, const char *name)
{
	const char *other;

	for (size_t i = 0; i < n; i++) {
		if (i == at || !names_valid(&tools[i]) ||
		    strcmp(tools[i].server, tools[at].server) != 0)
			continue;
		if (strcmp(tools[i].name, name) == 0)
			return true;
		other = names_short(&tools[i]);
		if (i < at && other != NULL && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

/* Append SERVER.name, or SERVER["name"]. */
static int
names_call(struct buf *b, const char *global, const char *name)
{
	buf_adds(b, global);
	if (names_identifier(name)) {
		buf_printf(b, ".%s", name);
	} else {
		buf_addc(b, '[');
		if (json_write_string(b, span_of(name, strlen(name))) == -1)
			return -1;
		buf_addc(b, ']');
	}
	buf_addc(b, '\0');
	return buf_check(b);
}

static json_object *
names_description(const char *text)
{
	size_t n;

	if (text == NULL || !utf8_valid(span_of(text, strlen(text))))
		return json_object_new_string("");
	if ((n = strlen(text)) > NAMES_DESCRIPTION_MAX) {
		n = NAMES_DESCRIPTION_MAX;
		while (n > 0 && (text[n] & 0xc0) == 0x80)
			n--;
	}
	return json_object_new_string_len(text, (int)n);
}

/* Append a tool's function to its server's array.  Returns 0 or -1. */
static int
names_add(json_object *list, const struct code_tool *tools, size_t n, size_t at,
    const char *global)
{
	const struct code_tool *t = &tools[at];
	const char *brief = names_short(t);
	json_object *o = json_object_new_object();
	json_object *names = json_object_new_array();
	json_object *schema = t->schema;
	struct buf call;
	int r;

	if (brief != NULL && names_collides(tools, n, at, brief))
		brief = NULL;
	buf_init(&call, 8 * CODE_NAME_MAX);
	r = names_call(&call, global, brief != NULL ? brief : t->name);
	json_object_array_add(names, json_object_new_string(t->name));
	if (brief != NULL)
		json_object_array_add(names, json_object_new_string(brief));
	if (json_object_is_type(schema, json_type_object))
		json_object_get(schema);
	else
		schema = json_object_new_object();
	json_object_object_add(o, "index", json_object_new_int((int)at));
	json_object_object_add(o, "names", names);
	json_object_object_add(o, "call",
	    json_object_new_string(
		r == 0 ? (const char *)(call.p + call.off) : ""));
	json_object_object_add(
	    o, "description", names_description(t->description));
	json_object_object_add(o, "schema", schema);
	json_object_array_add(list, o);
	buf_free(&call);
	return r;
}

/* Returns true if an earlier tool has the same server and name. */
static bool
names_again(const struct code_tool *tools, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (names_valid(&tools[i]) &&
		    strcmp(tools[i].name, tools[at].name) == 0 &&
		    strcmp(tools[i].server, tools[at].server) == 0)
			return true;
	return false;
}

static int
names_server_tools(json_object *list, const struct code_tool *tools, size_t n,
    const struct names_server *s)
{
	for (size_t i = 0; i < n; i++) {
		if (!names_valid(&tools[i]) ||
		    strcmp(tools[i].server, s->server) != 0 ||
		    names_again(tools, i))
			continue;
		if (names_add(list, tools, n, i, s->global) == -1)
			return -1;
	}
	return 0;
}

json_object *
code_table(const struct code_tool *tools, size_t n)
{
	json_object *table = NULL, *o, *list;
	struct names_server *all;
	size_t count;

	if (n > CODE_TOOLS_MAX) {
		errno = E2BIG;
		return NULL;
	}
	if ((all = calloc(n + 1, sizeof(*all))) == NULL)
		return NULL;
	count = names_servers(tools, n, all);
	table = json_object_new_array();
	for (size_t i = 0; i < count; i++) {
		o = json_object_new_object();
		list = json_object_new_array();
		json_object_object_add(
		    o, "server", json_object_new_string(all[i].server));
		json_object_object_add(
		    o, "global", json_object_new_string(all[i].global));
		json_object_object_add(o, "tools", list);
		json_object_array_add(table, o);
		if (names_server_tools(list, tools, n, &all[i]) == -1) {
			json_object_put(table);
			table = NULL;
			break;
		}
	}
	free(all);
	return table;
}
