/* SPDX-License-Identifier: ISC */
/* Names and places of programs, for icsupervisor and ic-locate. */
#include "box/locate.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"

bool
locate_is_system(const char *path)
{
	static const char *const dirs[] = {"/usr/", "/bin/", "/sbin/", "/lib/",
	    "/lib64/", "/lib32/", "/libx32/"};

	for (size_t i = 0; i < nitems(dirs); i++)
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return true;
	return false;
}

bool
locate_is_own(const char *command)
{
	static const char *const own[] = {
	    "icfs", "icfetch", "ic-agent", "ic-compile"};

	for (size_t i = 0; i < nitems(own); i++)
		if (strcmp(command, own[i]) == 0)
			return true;
	return false;
}

char *
locate_in_path(const struct locate *l, const char *name)
{
	const char *p = l->path_env, *end;
	char path[PATH_MAX];
	int n;

	if (name[0] == '/')
		return faccessat(AT_FDCWD, name, X_OK, 0) == 0 ? strdup(name)
							       : NULL;
	while (p != NULL && *p != '\0') {
		end = strchrnul(p, ':');
		n = snprintf(
		    path, sizeof(path), "%.*s/%s", (int)(end - p), p, name);
		if (*p == '/' && n > 0 && (size_t)n < sizeof(path) &&
		    faccessat(AT_FDCWD, path, X_OK, 0) == 0)
			return strdup(path);
		p = *end == ':' ? end + 1 : end;
	}
	return NULL;
}

char **
locate_argv(const char *const *head, char *const *tail)
{
	size_t h = 0, t = 0;
	char **argv;

	while (head[h] != NULL)
		h++;
	while (tail[t] != NULL)
		t++;
	if ((argv = calloc(h + t + 1, sizeof(*argv))) == NULL)
		return NULL;
	for (size_t i = 0; i < h + t; i++)
		if ((argv[i] = strdup(i < h ? head[i] : tail[i - h])) == NULL) {
			jsonfile_strings_free(argv);
			return NULL;
		}
	return argv;
}

void
program_free(struct program *p)
{
	free(p->path);
	free(p->code);
	jsonfile_strings_free(p->argv);
	for (unsigned i = 0; i < p->ntrees; i++)
		free(p->trees[i]);
	memset(p, 0, sizeof(*p));
}
