/* SPDX-License-Identifier: ISC */
#include "host/lead.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "host/launch.h"
#include "host/reach.h"

bool
lead_found(
    struct lead *l, const char *place, const char *what, const char *text)
{
	if (place == NULL)
		return false;
	l->place = place;
	snprintf(l->what, sizeof(l->what), "%s %.200s", what, text);
	return true;
}

/* Returns true if the path leads to a directory. */
static bool
lead_directory(const struct lead *l, const char *path)
{
	struct stat st;
	bool is;
	int fd;

	(void)places_of(l->data, path, &fd);
	if (fd == -1)
		return false;
	is = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
	close(fd);
	return is;
}

/*
 * Returns true if the text, or what follows its first "=", is a directory or a
 * list of them.
 */
static bool
lead_directories(const struct lead *l, const char *text)
{
	const char *eq = text[0] != '/' ? strchr(text, '=') : NULL;
	char path[PATH_MAX];
	size_t n;

	text = eq != NULL ? eq + 1 : text;
	if (lead_directory(l, text))
		return true;
	for (; *text != '\0'; text += n + (text[n] != '\0')) {
		n = strcspn(text, ":,;");
		if (text[0] != '/' || n >= sizeof(path))
			return false;
		memcpy(path, text, n);
		path[n] = '\0';
		if (!lead_directory(l, path))
			return false;
	}
	return true;
}

/*
 * Returns the place that a relative word is in, if the workspace has a file or,
 * for a word that must be code, anything of this name, or could have a script.
 * Of an option, that is what follows "=" or its letter.
 */
static const char *
lead_relative(const struct lead *l, const char *word, bool code)
{
	static const char *const scripts[] = {".py", ".pyz", ".js", ".mjs",
	    ".cjs", ".ts", ".mts", ".sh", ".rb", ".pl", ".php", ".jar", ".lua",
	    ".jl", ".wasm", ".dll", ".exs"};
	const char *dot = strrchr(word, '.');
	char path[PATH_MAX];
	struct stat st;

	if (code && word[0] == '-' && word[1] != '\0')
		word = strchr(word, '=') != NULL ? strchr(word, '=') + 1
						 : word + 2;
	if (l->cwd == -1 || word[0] == '-' || word[0] == '/' ||
	    word[0] == '\0' ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", l->cwd_path, word) >=
		sizeof(path))
		return NULL;
	if (fstatat(l->cwd, word, &st, 0) == 0)
		return code || (l->files && S_ISREG(st.st_mode))
			   ? places_of(l->data, path, NULL)
			   : NULL;
	/* With the root of a path in it, it is a text. */
	if (strstr(word, " /") != NULL)
		return NULL;
	for (size_t i = 0; code && dot != NULL && i < nitems(scripts); i++)
		if (strcmp(dot, scripts[i]) == 0)
			return places_of(l->data, path, NULL);
	return code && strchr(word, '/') != NULL && word[0] == '.'
		   ? places_of(l->data, path, NULL)
		   : NULL;
}

/* Returns true if this word, of a launcher, is what it starts. */
static bool
lead_settles(
    const struct lead *l, enum launch_kind kind, char *const *words, size_t at)
{
	const char *w = words[at];
	struct stat st;
	int fd;

	if (at != 0 && strcmp(words[at - 1], "-m") == 0)
		return true;
	if (w[0] == '-' || launch_kind(w) != LAUNCH_NONE)
		return false;
	if (kind == LAUNCH_OTHER)
		return strchr(w, '=') == NULL && strcmp(w, "run") != 0 &&
		       strcmp(w, "exec") != 0 && strcmp(w, "tool") != 0 &&
		       strcmp(w, "x") != 0;
	if (w[0] != '/')
		return false;
	(void)places_of(l->data, w, &fd);
	if (fd == -1)
		return false;
	at = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	close(fd);
	return at != 0;
}

bool
lead_arguments(struct lead *l, const char *program, char *const *args)
{
	enum launch_kind kind = launch_kind(program), inner;
	const char *place;
	bool code = kind != LAUNCH_NONE;

	for (size_t i = 0; args[i] != NULL; i++) {
		place =
		    reach_text(code ? l->code : l->data, l->user_home, args[i]);
		if (place != NULL && !code &&
		    (!l->files || lead_directories(l, args[i])))
			place = NULL;
		if (place == NULL)
			place = lead_relative(l, args[i], code);
		/* A path of the process's own: "/proc/self/cwd/x.py". */
		if (place == NULL && code && l->cwd != -1 &&
		    (strstr(args[i], "/cwd/") || strstr(args[i], "/fd/")))
			place = places_of(l->data, l->cwd_path, NULL);
		if (lead_found(l, place, "its argument", args[i]))
			return true;
		if (!code)
			continue;
		if ((inner = launch_kind(args[i])) != LAUNCH_NONE)
			kind = inner;
		code = !lead_settles(l, kind, args, i);
	}
	return false;
}

/*
 * Returns the place that a part of the value is in, if it is relative. In a
 * list of directories each part is, also an empty one, which is the working
 * directory itself: programs look there whenever they need something.
 */
static const char *
lead_parts(const struct lead *l, const char *name, const char *value)
{
	static const char *const lists[] = {
	    "PATH", "HOME", "DIR", "PREFIX", "ROOT", "LIB"};
	const char *place = NULL;
	char part[PATH_MAX];
	bool list = false;
	size_t n;

	for (size_t i = 0; i < nitems(lists); i++)
		list |= strstr(name, lists[i]) != NULL;
	for (; l->cwd != -1 && place == NULL; value += n + 1) {
		n = strcspn(value, list ? ":;" : ":,;= \t\n\"'");
		if (n >= sizeof(part))
			return NULL;
		memcpy(part, value, n);
		part[n] = '\0';
		if (!list)
			place = lead_relative(l, part, true);
		else if (n == 0 || strchr("/~$", part[0]) == NULL)
			place = places_of(l->data, l->cwd_path, NULL);
		if (value[n] == '\0')
			break;
	}
	return place;
}

bool
lead_variables(struct lead *l, char *const *env)
{
	const char *eq, *place;
	char name[128];
	bool code;

	for (char *const *e = env; *e != NULL; e++) {
		if ((eq = strchr(*e, '=')) == NULL)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(eq - *e), *e);
		code = launch_variable(name);
		place =
		    reach_text(code ? l->env : l->data, l->user_home, eq + 1);
		if (place != NULL && !code && lead_directories(l, eq + 1))
			place = NULL;
		if (place == NULL && code && eq[1] != '\0')
			place = lead_parts(l, name, eq + 1);
		if (lead_found(l, place, "its variable", name))
			return true;
	}
	return false;
}
