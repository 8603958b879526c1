/* SPDX-License-Identifier: ISC */
/*
 * Finds the trees that a program needs to run: its own, and its interpreter's.
 */
#include "workers/locate/locate_priv.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/toolchains.h"

char *
locate_real(const char *path)
{
	char *out;
	int fd, save;

	if ((fd = open(path, O_PATH | O_CLOEXEC)) == -1)
		return NULL;
	out = paths_of_fd(fd);
	save = errno;
	close(fd);
	errno = save;
	return out;
}

bool
locate_has(const char *dir, const char *name)
{
	struct stat st;
	char *path;
	bool has;

	if ((path = paths_join(dir, name)) == NULL)
		return false;
	has = stat(path, &st) == 0;
	free(path);
	return has;
}

/*
 * Returns true if the directory is too wide to be shown, whatever it contains.
 */
static bool
locate_too_wide(const struct locate *l, const char *dir)
{
	const char *home = l->paths->user_home;

	if (!paths_under(dir, home))
		return strchr(dir + 1, '/') == NULL;
	return toolchain_wide(dir, home) ||
	       strcmp(dir + strlen(home), "/.local/bin") == 0;
}

/*
 * Returns the tree of a real path: its package, its environment, or the file
 * alone.
 */
static char *
locate_tree(const struct locate *l, const char *real)
{
	static const char modules[] = "/node_modules/";
	const char *at = strstr(real, modules);
	char *dir, *slash;

	if (at != NULL)
		return strndup(real, (size_t)(at - real) + sizeof(modules) - 2);
	if ((dir = strdup(real)) == NULL)
		return NULL;
	for (unsigned up = 0; up < 6; up++) {
		if ((slash = strrchr(dir, '/')) == NULL || slash == dir)
			break;
		*slash = '\0';
		if (locate_too_wide(l, dir))
			break;
		if (locate_has(dir, "package.json") ||
		    locate_has(dir, "pyvenv.cfg") ||
		    (up == 1 && locate_has(dir, "bin") &&
			locate_has(dir, "lib")))
			return dir;
	}
	free(dir);
	return strdup(real);
}

int
locate_put_tree(struct program *p, char *tree)
{
	if (tree == NULL)
		return -1;
	for (unsigned i = 0; i < p->ntrees; i++)
		if (strcmp(p->trees[i], tree) == 0) {
			free(tree);
			return 0;
		}
	if (p->ntrees == LOCATE_MAX_TREES) {
		free(tree);
		errno = E2BIG;
		return -1;
	}
	p->trees[p->ntrees++] = tree;
	return 0;
}

/*
 * Returns the interpreter in "#!/usr/bin/env node" or "#!/path/interp", or
 * NULL.
 */
static char *
locate_interpreter(const struct locate *l, const char *file)
{
	char head[256], *p, *word;
	ssize_t n;
	int fd;

	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return NULL;
	n = read(fd, head, sizeof(head) - 1);
	close(fd);
	if (n < 4 || head[0] != '#' || head[1] != '!')
		return NULL;
	head[n] = '\0';
	head[strcspn(head, "\r\n")] = '\0';
	p = head + 2 + strspn(head + 2, " \t");
	word = p;
	p += strcspn(p, " \t");
	if (*p != '\0')
		*p++ = '\0';
	if (strcmp(word, "/usr/bin/env") != 0)
		return word[0] == '/' ? strdup(word) : NULL;
	p += strspn(p, " \t");
	if (strncmp(p, "-S ", 3) == 0)
		p += 3;
	p[strcspn(p, " \t")] = '\0';
	return locate_in_path(l, p);
}

int
locate_add_tree(
    const struct locate *l, struct program *p, const char *file, unsigned depth)
{
	char *interp, *real;
	int rv = 0;

	if ((real = locate_real(file)) == NULL)
		return -1;
	if (!locate_is_system(real))
		rv = locate_put_tree(p, locate_tree(l, real));
	if (rv == 0 && depth < 3 &&
	    (interp = locate_interpreter(l, real)) != NULL) {
		rv = locate_add_tree(l, p, interp, depth + 1);
		free(interp);
	}
	free(real);
	return rv;
}
