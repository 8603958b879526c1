/* SPDX-License-Identifier: ISC */
/*
 * A proposal is read by a person before it counts, and errs on the strict
 * side: an argument that may be a path is one, a tool whose verb is not known
 * to read only also writes, and a hint of the server adds roles but takes none
 * away, because the server is what the policy is about.
 */
#include "icctl/mcp/roles.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"

#define ROLES_WORDS 12U

struct words {
	char word[ROLES_WORDS][32];
	unsigned n;
};

enum act {
	ACT_READ = 1,
	ACT_WRITE = 2,
	ACT_DELETE = 4,
	ACT_MOVE = 8
};

/* clang-format off */
static const char *const reads[] = {"read", "get", "list", "search", "find",
    "view", "show", "tree", "stat", "info", "open", "describe", "count", "cat",
    "diff", "status", "log", "query", "fetch", "check", "lookup", NULL};
static const char *const writes[] = {"write", "create", "edit", "save",
    "append", "update", "set", "add", "put", "make", "mkdir", "insert", "copy",
    "upload", "download", "export", "replace", "modify", "patch", "init",
    "clone", "store", "touch", "chmod", NULL};
static const char *const deletes[] = {"delete", "remove", "rm", "unlink",
    "rmdir", "clear", "drop", "destroy", "purge", "erase", "reset", NULL};
static const char *const moves[] = {"move", "rename", "mv", NULL};
static const char *const paths[] = {"path", "paths", "file", "files",
    "filename", "filepath", "filepaths", "dir", "dirs", "directory",
    "directories", "folder", "folders", "cwd", "pathname", NULL};
static const char *const targets[] = {"destination", "dest", "target", "to",
    "new", "output", "out", NULL};
static const char *const sources[] = {"source", "src", "from", "old", NULL};
static const char *const urls[] = {"url", "urls", "uri", "uris", "href",
    "link", "links", "endpoint", "webhook", "host", "hostname", "domain",
    "site", NULL};
static const char *const people[] = {"email", "emails", "recipient",
    "recipients", "cc", "bcc", NULL};
/* clang-format on */

/* "readTextFile", "read_text_file" and "READ-TEXT" as lower-case words. */
static void
words_of(const char *s, struct words *w)
{
	size_t len = 0;

	memset(w, 0, sizeof(*w));
	for (size_t i = 0; s[i] != '\0'; i++) {
		unsigned char c = (unsigned char)s[i];
		bool new =
		    i != 0 && isupper(c) && islower((unsigned char)s[i - 1]);

		if ((new || !isalnum(c)) && len != 0) {
			w->n++;
			len = 0;
		}
		if (w->n == ROLES_WORDS)
			return;
		if (isalnum(c) && len + 1 < sizeof(w->word[0]))
			w->word[w->n][len++] = (char)tolower(c);
	}
	w->n += len != 0;
}

static bool
any(const struct words *w, const char *const *list)
{
	for (unsigned i = 0; i < w->n; i++)
		for (size_t k = 0; list[k] != NULL; k++)
			if (strcmp(w->word[i], list[k]) == 0)
				return true;
	return false;
}

/* Returns true if the server says so itself; what it leaves out is not said. */
static bool
hints(struct json_object *tool, const char *key, bool value)
{
	struct json_object *o = NULL, *v = NULL;

	return json_object_object_get_ex(tool, "annotations", &o) &&
	       json_object_object_get_ex(o, key, &v) &&
	       json_object_is_type(v, json_type_boolean) &&
	       (json_object_get_boolean(v) != 0) == value;
}

static unsigned
acts_of(const char *name, struct json_object *tool)
{
	unsigned acts = 0;
	struct words w;

	words_of(name, &w);
	if (any(&w, moves))
		acts |= ACT_MOVE;
	if (any(&w, deletes))
		acts |= ACT_DELETE;
	if (any(&w, writes))
		acts |= ACT_WRITE;
	if (any(&w, reads))
		acts |= ACT_READ;
	/* A verb that nobody knows may do either. */
	if (acts == 0)
		acts = ACT_READ | ACT_WRITE;
	if (hints(tool, "readOnlyHint", false) && !(acts & ~(unsigned)ACT_READ))
		acts |= ACT_WRITE;
	if (hints(tool, "destructiveHint", true))
		acts |= ACT_DELETE;
	return acts;
}

static void
role(struct json_object *list, const char *name)
{
	json_object_array_add(list, json_object_new_string(name));
}

static void
path_roles(struct json_object *list, const struct words *w, unsigned acts)
{
	if ((acts & ACT_MOVE) != 0) {
		if (!any(w, targets) || any(w, sources)) {
			role(list, "read-path");
			role(list, "delete-path");
		}
		if (!any(w, sources))
			role(list, "write-path");
		return;
	}
	if ((acts & ACT_READ) != 0 || any(w, sources))
		role(list, "read-path");
	if ((acts & ACT_WRITE) != 0 && !any(w, sources))
		role(list, "write-path");
	if ((acts & ACT_DELETE) != 0)
		role(list, "delete-path");
}

static bool
schema_has(struct json_object *schema, const char *key, const char *value)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(schema, key, &v) &&
	       json_object_is_type(v, json_type_string) &&
	       strcmp(json_object_get_string(v), value) == 0;
}

static bool
is_number(struct json_object *schema)
{
	return schema_has(schema, "type", "number") ||
	       schema_has(schema, "type", "integer") ||
	       schema_has(schema, "type", "boolean");
}

static struct json_object *
arg_roles(
    const char *name, struct json_object *schema, unsigned acts, bool github)
{
	struct json_object *list = json_object_new_array();
	struct words w;

	words_of(name, &w);
	if (is_number(schema)) {
		role(list, "none");
		return list;
	}
	if (schema_has(schema, "format", "uri") || any(&w, urls))
		role(list, "fetch-url");
	else if (any(&w, paths) || ((acts & ACT_MOVE) != 0 &&
				       (any(&w, targets) || any(&w, sources))))
		path_roles(list, &w, acts);
	else if (github && strcmp(name, "owner") == 0)
		role(list, "github-owner");
	else if (github && strcmp(name, "repo") == 0)
		role(list, "github-repo");
	else if (strcmp(name, "remote") == 0)
		role(list, "git-remote-url");
	else if (strcmp(name, "branch") == 0)
		role(list, "branch-name");
	else if (schema_has(schema, "format", "email") || any(&w, people))
		role(list, "email-address");
	if (json_object_array_length(list) == 0)
		role(list, "none");
	return list;
}

struct json_object *
roles_propose(const char *server, const char *name, struct json_object *tool)
{
	struct json_object *o = json_object_new_object(), *args, *schema = NULL;
	struct json_object *props = NULL;
	unsigned acts = acts_of(name, tool);
	bool github;

	json_object_object_get_ex(tool, "inputSchema", &schema);
	json_object_object_get_ex(schema, "properties", &props);
	if (!json_object_is_type(props, json_type_object))
		props = NULL;
	github = json_object_object_get_ex(props, "owner", NULL) &&
		 json_object_object_get_ex(props, "repo", NULL);
	args = json_object_new_object();
	if (props != NULL) {
		json_object_object_foreach(props, key, val)
		    json_object_object_add(
			args, key, arg_roles(key, val, acts, github));
	}
	put_str(o, "toolName", name);
	put_str(o, "serverName", server);
	put_str(o, "comment", "Proposed by icctl mcp annotate.");
	json_object_object_add(o, "args", args);
	if (schema != NULL)
		json_object_object_add(
		    o, "inputSchema", json_object_get(schema));
	return o;
}
