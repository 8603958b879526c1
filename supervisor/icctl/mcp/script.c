/* SPDX-License-Identifier: ISC */
#include "icctl/mcp/script.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/span.h"
#include "host/launch.h"
#include "icctl/mcp/recipe.h"

bool
script_is_package(const char *dir)
{
	static const char *const marks[] = {"package.json", "pyproject.toml",
	    "setup.py", "requirements.txt", "pyvenv.cfg", "deno.json",
	    "Gemfile", "go.mod", "Cargo.toml"};
	char path[PATH_MAX + 32];

	for (size_t i = 0; i < nitems(marks); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, marks[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* Returns true for places that every sandbox has. */
static bool
script_is_system(const char *path)
{
	static const char *const dirs[] = {"/usr/", "/bin/", "/sbin/", "/lib",
	    "/workspace", "/proc/", "/dev/"};

	for (size_t i = 0; i < nitems(dirs); i++)
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return true;
	return false;
}

/* Returns true for a directory that has more than one program's files. */
static bool
script_is_wide(const struct mcp_entry_how *how, const char *dir)
{
	static const char *const below[] = {"", "/.local", "/.local/share",
	    "/.local/bin", "/.config", "/.cache"};
	size_t n = strlen(how->user_home);

	if (strchr(dir + (dir[0] == '/'), '/') == NULL)
		return true;
	if (strncmp(dir, how->user_home, n) != 0)
		return false;
	for (size_t i = 0; i < nitems(below); i++)
		if (strcmp(dir + n, below[i]) == 0)
			return true;
	return false;
}

/*
 * Returns true if the session shows the file's whole package by itself, as it
 * does for node.
 */
static bool
script_is_known(const char *command, const char *dir)
{
	char path[PATH_MAX + 32];
	const char *base = strrchr(command, '/');

	snprintf(path, sizeof(path), "%s/package.json", dir);
	return strcmp(base != NULL ? base + 1 : command, "node") == 0 &&
	       (strstr(dir, "/node_modules") != NULL ||
		   access(path, F_OK) == 0);
}

/* Add what belongs to a file or directory to the view. */
static void
script_offer(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *command, const char *path)
{
	char dir[PATH_MAX], up[PATH_MAX], *slash;
	struct fault ignored;
	struct stat st;

	if (script_is_system(path) || stat(path, &st) == -1 ||
	    strlcpy(dir, path, sizeof(dir)) >= sizeof(dir))
		return;
	if (!S_ISDIR(st.st_mode) && (slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	strlcpy(up, dir, sizeof(up));
	for (unsigned i = 0; i < 6 && !script_is_wide(how, up); i++) {
		if (script_is_package(up)) {
			strlcpy(dir, up, sizeof(dir));
			break;
		}
		if ((slash = strrchr(up, '/')) == NULL || slash == up)
			break;
		*slash = '\0';
	}
	if (script_is_known(command, dir))
		return;
	if (dir[0] != '\0' && !script_is_wide(how, dir) &&
	    mcp_may_see(how, dir, &ignored))
		mcp_allow(e, "filesystem", "allowRead", dir);
	else if (!S_ISDIR(st.st_mode) && mcp_may_see(how, path, &ignored))
		mcp_allow(e, "filesystem", "allowRead", path);
}

/* Returns true if a name ends like that of a script, or the file begins so. */
static bool
script_looks(const char *path)
{
	static const char *const ends[] = {".py", ".pyz", ".js", ".mjs", ".cjs",
	    ".ts", ".mts", ".rb", ".sh", ".pl", ".php", ".lua", ".jar"};
	const char *dot = strrchr(path, '.');
	char head[2] = "";
	int fd;

	for (size_t i = 0; dot != NULL && i < nitems(ends); i++)
		if (strcmp(dot, ends[i]) == 0)
			return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return false;
	if (read(fd, head, 2) != 2)
		head[0] = '\0';
	close(fd);
	return head[0] == '#' && head[1] == '!';
}

/*
 * Take ".", ".." and doubled slashes out of a path to the file of `st`: a view
 * has none of them. Behind a link, ".." may lead elsewhere than its text; then
 * the links are followed. Returns 0, or -1 if the file cannot be named so.
 */
static int
script_plain(char path[PATH_MAX], const struct stat *st)
{
	char plain[PATH_MAX], *real = NULL;
	struct stat now;
	bool fits;
	int fd;

	strlcpy(plain, path, sizeof(plain));
	paths_plain(plain);
	if (stat(plain, &now) == -1 || now.st_dev != st->st_dev ||
	    now.st_ino != st->st_ino) {
		if ((fd = open(path, O_PATH | O_CLOEXEC)) != -1) {
			real = paths_of_fd(fd);
			close(fd);
		}
		if (real == NULL)
			return -1;
	}
	fits = strlcpy(path, real != NULL ? real : plain, PATH_MAX) < PATH_MAX;
	free(real);
	return fits ? 0 : -1;
}

/*
 * Write the whole path of a word, or of what follows "=" in an option, if it is
 * there. Returns the beginning of the path in the word, or NULL.
 */
static const char *
script_path(const struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *cwd, const char *word, char path[PATH_MAX])
{
	const char *text = word;
	struct stat st;
	char *whole;
	int n;

	if (word[0] == '-' && (text = strchr(word, '=')) == NULL)
		return NULL;
	text += text != word;
	if ((whole = mcp_expand(e, how, text)) == NULL)
		return NULL;
	n = snprintf(path, PATH_MAX, "%s%s%s",
	    whole[0] == '/' || cwd == NULL ? "" : cwd,
	    whole[0] == '/' || cwd == NULL ? "" : "/", whole);
	free(whole);
	if (n <= 0 || n >= PATH_MAX || path[0] != '/' ||
	    stat(path, &st) == -1 || script_plain(path, &st) == -1)
		return NULL;
	/* A relative word that is a directory may well be something else. */
	return text[0] != '/' && text[0] != '~' && !S_ISREG(st.st_mode) ? NULL
									: text;
}

/* Put a whole, plain path in the place of another form of it. */
static void
script_rewrite(struct json_object *args, size_t at, const char *word,
    const char *text, const char *path)
{
	char *whole = NULL;

	if (strcmp(text, path) == 0 ||
	    asprintf(&whole, "%.*s%s", (int)(text - word), word, path) == -1)
		return;
	json_object_array_put_idx(args, at, json_object_new_string(whole));
	free(whole);
}

/* Returns true if the word before says that a directory of code follows. */
static bool
script_takes_directory(const char *before)
{
	static const char *const options[] = {"--directory", "--project",
	    "--from", "--with-editable", "--cwd", "--prefix", "-C", "--dir"};

	for (size_t i = 0; i < nitems(options); i++)
		if (strcmp(before, options[i]) == 0)
			return true;
	return false;
}

/* Offer the scripts and directories among the words of a launcher. */
static void
script_arguments(struct mcp_entry *e, const struct mcp_entry_how *how,
    const char *command, const char *cwd)
{
	enum launch_kind kind = launch_kind(command);
	struct json_object *args = NULL;
	const char *word, *before = "", *text;
	char path[PATH_MAX];
	struct stat st;
	size_t n;
	bool script;

	if (!json_object_object_get_ex(e->entry, "args", &args))
		return;
	n = json_object_array_length(args);
	for (size_t i = 0; kind != LAUNCH_NONE && i < n; i++, before = word) {
		word =
		    json_object_get_string(json_object_array_get_idx(args, i));
		text = script_path(e, how, cwd, word, path);
		if (text == NULL || stat(path, &st) == -1) {
			if (strcmp(before, "-m") == 0)
				return;
			if (launch_kind(word) != LAUNCH_NONE)
				command = word;
			continue;
		}
		script = S_ISREG(st.st_mode) &&
			 (kind == LAUNCH_SCRIPT || script_looks(path));
		if (!script &&
		    !(S_ISDIR(st.st_mode) && (script_takes_directory(before) ||
						 kind == LAUNCH_SCRIPT)))
			continue;
		script_offer(e, how, command, path);
		script_rewrite(args, i, word, text, path);
		/* All that follows is the script's own. */
		if (script && text == word)
			return;
		word = "";
	}
}

/* Offer the directories in variables by which programs find code. */
static void
script_variables(struct mcp_entry *e, const struct mcp_entry_how *how)
{
	struct json_object *env = NULL;
	char part[PATH_MAX];
	const char *s;
	size_t n;

	if (!json_object_object_get_ex(e->entry, "env", &env))
		return;
	json_object_object_foreach(env, name, val)
	{
		if (!launch_variable(name) || strcmp(name, "HOME") == 0)
			continue;
		for (s = json_object_get_string(val); *s != '\0';
		     s += n + (s[n] != '\0')) {
			n = strcspn(s, ":");
			if (s[0] != '/' || n >= sizeof(part))
				continue;
			memcpy(part, s, n);
			part[n] = '\0';
			script_offer(e, how, "", part);
		}
	}
}

void
mcp_script(struct mcp_entry *e, const struct mcp_entry_how *how,
    struct json_object *cwd)
{
	struct json_object *v = NULL;
	const char *command, *text;
	char path[PATH_MAX], *dir = NULL;

	if (cwd != NULL)
		dir = mcp_expand(e, how, json_object_get_string(cwd));
	if (dir != NULL && (dir[0] != '/' || script_is_system(dir))) {
		free(dir);
		dir = NULL;
	}
	json_object_object_get_ex(e->entry, "command", &v);
	command = json_object_get_string(v);
	if (strchr(command, '/') != NULL &&
	    (text = script_path(e, how, dir, command, path)) != NULL) {
		if (strcmp(text, path) != 0) {
			json_object_object_add(
			    e->entry, "command", json_object_new_string(path));
			command = path;
		}
		if (launch_kind(path) == LAUNCH_NONE && script_looks(path) &&
		    strncmp(path, how->user_home, strlen(how->user_home)) == 0)
			script_offer(e, how, "", path);
	}
	script_arguments(e, how, command, dir);
	script_variables(e, how);
	free(dir);
}
