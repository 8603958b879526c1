/* SPDX-License-Identifier: ISC */
/*
 * Completes an entry by a recipe. Recipes are IronCurtain's own; an entry comes
 * from another program and is never widened beyond what the recipe and the
 * entry's own arguments name.
 */
#include "icctl/mcp/recipe.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_put.h"

static struct json_object *
get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return o != NULL && json_object_object_get_ex(o, key, &v) ? v : NULL;
}

static struct json_object *
child(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key);

	if (v == NULL) {
		v = json_object_new_object();
		json_object_object_add(o, key, v);
	}
	return v;
}

/* Add a path or a host once to entry.sandbox.GROUP.KEY. */
static void
allow(struct mcp_entry *e, const char *group, const char *key, const char *text)
{
	struct json_object *o = child(child(e->entry, "sandbox"), group);
	struct json_object *list = get(o, key);

	if (list == NULL) {
		list = json_object_new_array();
		json_object_object_add(o, key, list);
	}
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(list, i)),
			text) == 0)
			return;
	json_object_array_add(list, json_object_new_string(text));
}

static void
recipe_note(struct mcp_entry *e, const char *text)
{
	json_object_array_add(e->notes, json_object_new_string(text));
}

/*
 * Replace {data} by the server's own data directory, and ~ by the home
 * directory. The caller frees the result.
 */
static char *
expand(const struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *text)
{
	const char *rest;
	char *out = NULL;
	int n;

	if (strncmp(text, "{data}", 6) == 0) {
		rest = text + 6;
		n = asprintf(&out, "%s/ironcurtain/data/%s%s", how->data_home,
		    e->name, rest);
	} else if (strncmp(text, "~/", 2) == 0) {
		n = asprintf(&out, "%s/%s", how->user_home, text + 2);
	} else {
		n = asprintf(&out, "%s", text);
	}
	return n == -1 ? NULL : out;
}

/* Returns the directory of `path`, for servers that write beside a file. */
static char *
parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL || slash == path
		   ? NULL
		   : strndup(path, (size_t)(slash - path));
}

/* Add arguments that are paths to the view. */
static void
recipe_args(
    struct mcp_entry *e, const struct mcp_entry_how *how, const char *kind)
{
	const char *key =
	    strcmp(kind, "read") == 0 ? "allowRead" : "allowWrite";
	struct json_object *args = get(e->entry, "args");
	struct stat st;
	const char *s;
	char *path, *dir, text[400];

	for (size_t i = 0; i < json_object_array_length(args); i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		if ((s[0] != '/' && strncmp(s, "~/", 2) != 0) ||
		    strncmp(s, "/workspace", 10) == 0)
			continue;
		if ((path = expand(e, how, s)) == NULL)
			return;
		if (stat(path, &st) == -1) {
			snprintf(text, sizeof(text),
			    "%.200s does not exist and is left out of the view",
			    path);
			recipe_note(e, text);
		} else if (S_ISDIR(st.st_mode)) {
			allow(e, "filesystem", key, path);
		} else if ((dir = parent(path)) != NULL) {
			/* A database keeps its journal beside its file. */
			allow(e, "filesystem", key, dir);
			free(dir);
		}
		json_object_array_put_idx(
		    args, i, json_object_new_string(path));
		free(path);
	}
}

/* Add variables with a path: the user's own, or a default below {data}. */
static void
recipe_env(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *rows)
{
	struct json_object *env = child(e->entry, "env"), *v;
	char *path, *dir;

	json_object_object_foreach(rows, name, val)
	{
		v = get(env, name);
		path = expand(e, how, json_object_get_string(v ? v : val));
		if (path == NULL)
			return;
		if (v == NULL)
			put_str(env, name, path);
		if (path[0] == '/' && (dir = parent(path)) != NULL) {
			allow(e, "filesystem", "allowWrite", dir);
			json_object_array_add(
			    e->make, json_object_new_string(dir));
			free(dir);
		}
		free(path);
	}
}

/*
 * Set variables that keep a server to one directory: in a session the project
 * is /workspace.
 */
static void
recipe_root(struct mcp_entry *e, struct json_object *names)
{
	struct json_object *env = get(e->entry, "env"), *v;
	const char *name;
	char text[400];

	for (size_t i = 0; i < json_object_array_length(names); i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(names, i));
		v = get(env, name);
		if (v == NULL || !json_object_is_type(v, json_type_string) ||
		    strcmp(json_object_get_string(v), "/workspace") == 0)
			continue;
		snprintf(text, sizeof(text),
		    "%.60s is /workspace here, and was %.200s: the server sees "
		    "the workspace of each session there",
		    name, json_object_get_string(v));
		recipe_note(e, text);
		put_str(env, name, "/workspace");
	}
}

/* Returns true if the entry's view has `path`, or a directory above it. */
static bool
recipe_sees(const struct mcp_entry *e, const char *path)
{
	static const char *const keys[] = {"allowRead", "allowWrite"};
	struct json_object *fs = get(get(e->entry, "sandbox"), "filesystem");
	struct json_object *list;
	const char *dir;
	size_t n;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		list = get(fs, keys[k]);
		for (size_t i = 0;
		     list != NULL && i < json_object_array_length(list); i++) {
			dir = json_object_get_string(
			    json_object_array_get_idx(list, i));
			n = strlen(dir);
			if (strncmp(dir, path, n) == 0 &&
			    (path[n] == '\0' || path[n] == '/'))
				return true;
		}
	}
	return false;
}

/* Add a note for every variable with a path that the server will not see. */
static void
recipe_unseen(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *env = get(e->entry, "env");
	char *path, text[400];
	struct stat st;

	if (env == NULL)
		return;
	json_object_object_foreach(env, name, val)
	{
		const char *s = json_object_get_string(val);

		if (!json_object_is_type(val, json_type_string) ||
		    (s[0] != '/' && strncmp(s, "~/", 2) != 0) ||
		    strncmp(s, "/workspace", 10) == 0 ||
		    strncmp(s, "/usr/", 5) == 0 ||
		    (path = expand(e, how, s)) == NULL)
			continue;
		if (!recipe_sees(e, path) && stat(path, &st) == 0) {
			snprintf(text, sizeof(text),
			    "%.60s is a path that the server does not see. If "
			    "it needs it, add %.200s to "
			    "sandbox.filesystem.allowRead or allowWrite of its "
			    "entry",
			    name, path);
			recipe_note(e, text);
		}
		free(path);
	}
}

static bool
recipe_matches(struct json_object *row, const struct mcp_entry *e)
{
	struct json_object *list = get(row, "for");
	struct json_object *command = get(e->entry, "command"), *args;
	const char *want, *have = e->package, *base;
	size_t n;

	args = get(e->entry, "args");
	if (have == NULL && command != NULL) {
		base = strrchr(json_object_get_string(command), '/');
		have =
		    base != NULL ? base + 1 : json_object_get_string(command);
		/* uvx PACKAGE, uv tool run PACKAGE */
		if (strcmp(have, "uvx") == 0 &&
		    json_object_array_length(args) != 0)
			have = json_object_get_string(
			    json_object_array_get_idx(args, 0));
	}
	for (size_t i = 0; have != NULL && i < json_object_array_length(list);
	     i++) {
		want =
		    json_object_get_string(json_object_array_get_idx(list, i));
		n = strlen(want);
		if (strncmp(want, have, n) == 0 &&
		    (have[n] == '\0' || have[n] == '@'))
			return true;
	}
	return false;
}

static void
recipe_apply(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *row)
{
	struct json_object *v;

	if ((v = get(row, "refuse")) != NULL) {
		e->refused = strdup(json_object_get_string(v));
		return;
	}
	if ((v = get(row, "paths")) != NULL)
		recipe_args(e, how, json_object_get_string(v));
	if ((v = get(row, "env")) != NULL)
		recipe_env(e, how, v);
	if ((v = get(row, "root")) != NULL)
		recipe_root(e, v);
	if ((v = get(row, "git")) != NULL)
		json_object_object_add(e->entry, "git", json_object_get(v));
	if ((v = get(row, "hosts")) != NULL)
		for (size_t i = 0; i < json_object_array_length(v); i++)
			allow(e, "network", "allowedDomains",
			    json_object_get_string(
				json_object_array_get_idx(v, i)));
	if ((v = get(row, "note")) != NULL)
		recipe_note(e, json_object_get_string(v));
}

void
mcp_recipe(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *rows = get(how->recipes, "servers"), *row;

	for (size_t i = 0; rows != NULL && i < json_object_array_length(rows);
	     i++) {
		row = json_object_array_get_idx(rows, i);
		if (!recipe_matches(row, e))
			continue;
		recipe_apply(e, how, row);
		recipe_unseen(e, how);
		return;
	}
	recipe_unseen(e, how);
	recipe_note(e, "this server is not known here: it sees /workspace, and "
		       "may connect to no host. If it needs more, add "
		       "sandbox.filesystem or sandbox.network to its entry");
}
