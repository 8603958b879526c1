/* SPDX-License-Identifier: ISC */
/*
 * Variables of the user's that change what programs print. A value is passed on
 * if it has the form of such a value; an editor or a pager if the sandbox sees
 * its program. An image has its own languages and programs, so that a container
 * gets the time zone and the colours alone.
 */
#include "box/system/habits.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secretive.h"
#include "box/system/envput.h"
#include "box/system/shown.h"
#include "core/sup.h"

#define HABITS_DEFAULT_LANG "C.UTF-8"

enum habit {
	HABIT_WORD,   /* letters, digits and a few marks */
	HABIT_LIST,   /* the same, and much longer */
	HABIT_PROGRAM /* a program and its options */
};

static const struct {
	const char *name;
	enum habit kind;
	bool container;
} habits[] = {
#define HABIT(name, kind, container) {name, kind, container},
#include "box/system/habit_rows.h"
#undef HABIT
};

/* Returns true if the sandbox sees a program of this name. */
static bool
habits_finds(const char *path, const char *name)
{
	char file[PATH_MAX];
	size_t n;

	/* After "PATH=". The agent's own home is not looked into. */
	for (const char *p = path + 5; *p != '\0'; p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		if (strncmp(p, "/home/agent/", 12) != 0 &&
		    snprintf(file, sizeof(file), "%.*s/%s", (int)n, p, name) <
			(int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool
habits_program(const char *path, const char *value)
{
	char name[256];

	if (span_copy(span_of(value, strcspn(value, " ")), name,
		sizeof(name)) == -1 ||
	    name[0] == '\0' || strlen(value) >= sizeof(name))
		return false;
	/* A whole path is the system's or a shown one, or it is not there. */
	return strchr(name, '/') == NULL
		   ? habits_finds(path, name)
		   : (strncmp(name, "/usr/", 5) == 0 || shown_has(name)) &&
			 strstr(name, "..") == NULL && access(name, X_OK) == 0;
}

static bool
habits_ok(const char *path, const char *name, enum habit kind,
    const char *value)
{
	static const char marks[] = "_-+.,:/@=;*<>%[]~ ";
	const size_t max = kind == HABIT_LIST ? 8192 : 256;
	size_t n = 0;

	while (isalnum((unsigned char)value[n]) ||
	       (value[n] != '\0' && strchr(marks, value[n]) != NULL))
		n++;
	if (value[n] != '\0' || n >= max ||
	    secretive_text(span_str(value)) != NULL)
		return false;
	/* A file with a time zone, which the sandbox may lack. */
	if (strcmp(name, "TZ") == 0 && value[value[0] == ':'] == '/')
		return strncmp(value + (value[0] == ':'), "/usr/", 5) == 0 ||
		       strncmp(value + (value[0] == ':'), "/etc/", 5) == 0;
	return kind != HABIT_PROGRAM || strcmp(name, "LESS") == 0 ||
	       habits_program(path, value);
}

/* Returns true if an agent would draw badly with this language. */
static bool
habits_poor(const char *lang)
{
	return lang == NULL || lang[0] == '\0' || strcmp(lang, "C") == 0 ||
	       strcmp(lang, "POSIX") == 0;
}

int
habits_environment(const char *path, char **env, size_t *n, size_t max,
    struct fault *fault)
{
	const bool container = sup.opt.runtime == RUNTIME_DOCKER ||
			       sup.opt.runtime == RUNTIME_PODMAN;
	const char *value = getenv("LANG");

	if (container || habits_poor(value) ||
	    !habits_ok(path, "LANG", HABIT_WORD, value))
		value = HABITS_DEFAULT_LANG;
	if (env_put(env, n, max, "LANG", value, fault) == -1)
		return -1;
	for (size_t i = 0; i < nitems(habits); i++) {
		value = getenv(habits[i].name);
		if (value == NULL || (container && !habits[i].container) ||
		    (strcmp(habits[i].name, "LC_ALL") == 0 &&
			habits_poor(value)) ||
		    !habits_ok(path, habits[i].name, habits[i].kind, value))
			continue;
		if (env_put(env, n, max, habits[i].name, value, fault) == -1)
			return -1;
	}
	return 0;
}
