/* SPDX-License-Identifier: ISC */
/*
 * Each JDK has two files that say how it reaches the network. Distributions put
 * them into /etc, behind links, others keep them in the JDK; several may have
 * one in common. Only files that the sandbox sees anyway are taken.
 */
#include "box/clients/jdk.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"
#include "box/clients/table.h"
#include "box/system/shown.h"
#include "core/sup.h"

static struct {
	struct jdk_file list[JDK_MAX_FILES];
	size_t n;
	bool done;
} jdk;

static bool
jdk_visible(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0 ||
	       strncmp(path, "/etc/", 5) == 0 || shown_has(path);
}

/* Take a file if it is there, under its name without links. */
static void
jdk_take(const char *name, enum jdk_kind kind)
{
	const int fd = open(name, O_PATH | O_CLOEXEC);
	struct stat st;
	char *path;

	if (fd == -1)
		return;
	path = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? paths_of_fd(fd)
							  : NULL;
	close(fd);
	for (size_t i = 0; path != NULL && i < jdk.n; i++)
		if (strcmp(jdk.list[i].path, path) == 0) {
			free(path);
			return;
		}
	if (path == NULL || !jdk_visible(path) || jdk.n == JDK_MAX_FILES) {
		free(path);
		return;
	}
	jdk.list[jdk.n++] = (struct jdk_file){.path = path, .kind = kind};
}

/* Look for the files below the directories of a pattern. */
static void
jdk_look(const char *top, const char *more)
{
	static const struct {
		const char *name;
		enum jdk_kind kind;
	} files[] = {
#define FILE_ROW(name, kind) {name, kind},
	    CLIENTS_JDK_FILES(FILE_ROW)
#undef FILE_ROW
	};
	char pattern[PATH_MAX];
	glob_t g;

	for (size_t i = 0; i < nitems(files); i++) {
		if (snprintf(pattern, sizeof(pattern), "%s%s/%s", top, more,
			files[i].name) >= (int)sizeof(pattern))
			continue;
		if (glob(pattern, GLOB_NOSORT, NULL, &g) != 0)
			continue;
		for (size_t k = 0; k < g.gl_pathc; k++)
			jdk_take(g.gl_pathv[k], files[i].kind);
		globfree(&g);
	}
}

static void
jdk_find(void)
{
	static const char *const places[] = {
#define PLACE_ROW(pattern) pattern,
	    CLIENTS_JDK_PLACES(PLACE_ROW)
#undef PLACE_ROW
	};
	static const char *const below[] = {
#define BELOW_ROW(pattern) pattern,
	    CLIENTS_JDK_BELOW(BELOW_ROW)
#undef BELOW_ROW
	};
	const struct shown *s;

	for (size_t i = 0; i < nitems(places); i++)
		jdk_look(places[i], "");
	for (size_t i = 0; (s = shown_nth(i)) != NULL; i++)
		for (size_t k = 0; s->named && k < nitems(below); k++)
			jdk_look(s->path, below[k]);
}

const struct jdk_file *
jdk_nth(size_t n)
{
	if (!jdk.done && sup.opt.runtime == RUNTIME_BWRAP)
		jdk_find();
	jdk.done = true;
	return n < jdk.n ? &jdk.list[n] : NULL;
}
