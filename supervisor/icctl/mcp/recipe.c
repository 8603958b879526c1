/* SPDX-License-Identifier: ISC */
/*
 * Completes an entry by a recipe. Recipes are IronCurtain's own; an entry comes
 * from another program and is never widened beyond what the recipe and the
 * entry's own arguments name.
 */
#include "icctl/mcp/recipe.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/paths.h"
#include "box/view.h"

void
mcp_allow(
    struct mcp_entry *e, const char *group, const char *key, const char *text)
{
	struct json_object *o = put_child(put_child(e->entry, "sandbox"), group);
	struct json_object *list = get_member(o, key);

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

char *
mcp_expand(const struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *text)
{
	const char *rest;
	char *out = NULL;
	int n;

	if (strncmp(text, "{data}", 6) == 0) {
		rest = text + 6;
		n = asprintf(&out, "%s/ironcurtain/data/%s%s", how->data_home,
		    e->name, rest);
	} else if (strncmp(text, "~/", 2) == 0 || strcmp(text, "~") == 0) {
		n = asprintf(&out, "%s%s", how->user_home, text + 1);
	} else {
		n = asprintf(&out, "%s", text);
	}
	return n == -1 ? NULL : out;
}

bool
mcp_may_see(
    const struct mcp_entry_how *how, const char *path, struct fault *fault)
{
	int fd, rv;

	if (how->guards == NULL)
		return true;
	if (view_taken(path)) {
		fault_set(fault, "%s is refused, the sandbox has its own there",
		    path);
		return false;
	}
	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return true;
	rv = guards_check(how->guards, fd, "directory", path, fault);
	close(fd);
	return rv == 0;
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

/* Returns true if the import moves another file there. */
static bool
recipe_taken(const struct mcp_entry *e, const char *to)
{
	json_object_object_foreach(e->move, from, val)
	{
		(void)from;
		if (strcmp(json_object_get_string(val), to) == 0)
			return true;
	}
	return access(to, F_OK) == 0;
}

/*
 * Choose a place in the server's own data directory for a file in a directory
 * that no server may see. Returns its path, which the caller frees, or NULL.
 */
static char *
recipe_move(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *key, const char *path)
{
	char *dir = mcp_expand(e, how, "{data}"), *to = NULL, text[700];
	const char *base = strrchr(path, '/');
	int n = 0;

	base = base != NULL ? base + 1 : path;
	for (unsigned i = 1; dir != NULL && i < 100; i++) {
		n = i == 1 ? asprintf(&to, "%s/%s", dir, base)
			   : asprintf(&to, "%s/%u-%s", dir, i, base);
		if (n == -1) {
			to = NULL;
			break;
		}
		if (!recipe_taken(e, to))
			break;
		free(to);
		to = NULL;
	}
	if (to != NULL) {
		mcp_allow(e, "filesystem", key, dir);
		json_object_array_add(e->make, json_object_new_string(dir));
		json_object_object_add(
		    e->move, path, json_object_new_string(to));
		snprintf(text, sizeof(text),
		    "%.200s is in a directory that no server may see: this "
		    "server uses %.200s%s",
		    path, to, access(path, F_OK) == 0 ? ", a copy of it" : "");
		recipe_note(e, text);
	}
	free(dir);
	return to;
}

/* Leave out a directory that no session shows, with the reason. */
static void
recipe_not_shown(struct mcp_entry *e, const char *path, const char *why)
{
	char text[700];

	snprintf(text, sizeof(text),
	    "%.200s is left out of the view, because no session would start "
	    "with it (%.300s). Name the directories in it that the server "
	    "needs",
	    path, why);
	recipe_note(e, text);
}

/*
 * Add one argument that is a path to the view. Returns the path to use, which
 * the caller frees, or NULL. Counts directories that are left out.
 */
static char *
recipe_arg(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *key, const char *arg, unsigned *hidden)
{
	char *path = mcp_expand(e, how, arg), *dir, *moved, text[400];
	struct fault why = {.text = ""};
	struct stat st;

	if (path == NULL)
		return NULL;
	if (stat(path, &st) == -1) {
		snprintf(text, sizeof(text),
		    "%.200s does not exist and is left out of the view", path);
		recipe_note(e, text);
		return path;
	}
	if (S_ISDIR(st.st_mode)) {
		if (mcp_may_see(how, path, &why)) {
			mcp_allow(e, "filesystem", key, path);
		} else {
			recipe_not_shown(e, path, why.text);
			(*hidden)++;
		}
		return path;
	}
	/* A database keeps its journal beside its file. */
	if ((dir = parent(path)) != NULL && mcp_may_see(how, dir, &why)) {
		mcp_allow(e, "filesystem", key, dir);
	} else if ((moved = recipe_move(e, how, key, path)) != NULL) {
		free(path);
		path = moved;
	}
	free(dir);
	return path;
}

/* Add arguments that are paths to the view. */
static void
recipe_args(
    struct mcp_entry *e, const struct mcp_entry_how *how, const char *kind)
{
	const char *key =
	    strcmp(kind, "read") == 0 ? "allowRead" : "allowWrite";
	struct json_object *args = get_member(e->entry, "args");
	unsigned hidden = 0, paths = 0;
	const char *s;
	char *path;

	for (size_t i = 0; i < json_object_array_length(args); i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		if ((s[0] != '/' && strncmp(s, "~/", 2) != 0 &&
			strcmp(s, "~") != 0) ||
		    strncmp(s, "/workspace", 10) == 0)
			continue;
		if ((path = recipe_arg(e, how, key, s, &hidden)) == NULL)
			return;
		paths++;
		json_object_array_put_idx(
		    args, i, json_object_new_string(path));
		free(path);
	}
	if (hidden != 0 && hidden == paths && e->refused == NULL)
		e->refused = strdup(
		    "it works on directories of which no session may show any "
		    "as a whole. Name directories in them in its file, and "
		    "import it again");
}

/* Add variables with a path: the user's own, or a default below {data}. */
static void
recipe_env(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *rows)
{
	struct json_object *env = put_child(e->entry, "env"), *v;
	char *path, *dir, *moved;
	struct fault why;

	json_object_object_foreach(rows, name, val)
	{
		v = get_member(env, name);
		path = mcp_expand(e, how, json_object_get_string(v ? v : val));
		if (path == NULL)
			return;
		dir = path[0] == '/' ? parent(path) : NULL;
		if (dir != NULL && mcp_may_see(how, dir, &why)) {
			mcp_allow(e, "filesystem", "allowWrite", dir);
			json_object_array_add(
			    e->make, json_object_new_string(dir));
		} else if (path[0] == '/' &&
			   (moved = recipe_move(e, how, "allowWrite", path)) !=
			       NULL) {
			free(path);
			path = moved;
		}
		if (v == NULL || path[0] == '/')
			put_str(env, name, path);
		free(path);
		free(dir);
	}
}

/*
 * Set variables that keep a server to one directory: in a session the project
 * is /workspace.
 */
static void
recipe_root(struct mcp_entry *e, struct json_object *names)
{
	struct json_object *env = get_member(e->entry, "env"), *v;
	const char *name;
	char text[400];

	for (size_t i = 0; i < json_object_array_length(names); i++) {
		name =
		    json_object_get_string(json_object_array_get_idx(names, i));
		v = get_member(env, name);
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
	struct json_object *fs = get_member(get_member(e->entry, "sandbox"), "filesystem");
	struct json_object *list;
	const char *dir;
	size_t n;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		list = get_member(fs, keys[k]);
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
	struct json_object *env = get_member(e->entry, "env");
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
		    (path = mcp_expand(e, how, s)) == NULL)
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
	struct json_object *list = get_member(row, "for");
	struct json_object *command = get_member(e->entry, "command"), *args;
	const char *want, *have = e->package, *base;
	size_t n;

	args = get_member(e->entry, "args");
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

	if ((v = get_member(row, "refuse")) != NULL) {
		e->refused = strdup(json_object_get_string(v));
		return;
	}
	if ((v = get_member(row, "paths")) != NULL)
		recipe_args(e, how, json_object_get_string(v));
	if ((v = get_member(row, "env")) != NULL)
		recipe_env(e, how, v);
	if ((v = get_member(row, "root")) != NULL)
		recipe_root(e, v);
	if ((v = get_member(row, "git")) != NULL)
		json_object_object_add(e->entry, "git", json_object_get(v));
	if ((v = get_member(row, "hosts")) != NULL)
		for (size_t i = 0; i < json_object_array_length(v); i++)
			mcp_allow(e, "network", "allowedDomains",
			    json_object_get_string(
				json_object_array_get_idx(v, i)));
	if ((v = get_member(row, "note")) != NULL)
		recipe_note(e, json_object_get_string(v));
}

void
mcp_recipe(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *rows = get_member(how->recipes, "servers"), *row;

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
