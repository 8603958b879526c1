/* SPDX-License-Identifier: ISC */
/*
 * git takes a worktree for lost if the .git of it is not there, and removes all
 * that it knows of it, with what is staged. In the sandbox an empty file stands
 * at that path. It is made only where a file on the host points back to the
 * repository: an agent may have written the path.
 */
#include "box/git/checkout.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "box/system/shown.h"
#include "box/view.h"
#include "common/span.h"
#include "core/sup.h"

#define TREES_TEXT (PATH_MAX + 16U)

/*
 * Returns true if the file at `path`, which may be relative to the worktree's
 * directory `fd`, names that directory.
 */
static bool
trees_back(int fd, const char *path, const struct stat *dir)
{
	char text[TREES_TEXT], end[2 * TREES_TEXT];
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (small_file_read(fd, path, text, sizeof(text)) <= 8 ||
	    strncmp(text, "gitdir: ", 8) != 0 || slash == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(end, sizeof(end), "%.*s%s",
	    text[8] == '/' ? 0 : (int)(slash + 1 - path), path, text + 8);
	return fstatat(fd, end, &st, 0) == 0 && st.st_dev == dir->st_dev &&
	       st.st_ino == dir->st_ino;
}

/* Write where a path that git wrote as a relative one leads in the sandbox. */
static void
trees_inside(const char *name, char text[TREES_TEXT])
{
	char at[2 * TREES_TEXT], all[4 * TREES_TEXT], *rest = text, *slash;

	snprintf(at, sizeof(at), "%s/.git/worktrees/%s", sup.inside, name);
	for (; strncmp(rest, "../", 3) == 0; rest += 3)
		if ((slash = strrchr(at, '/')) != NULL)
			*slash = '\0';
	snprintf(all, sizeof(all), "%s/%s", at, rest);
	(void)strlcpy(text, all, TREES_TEXT);
}

static bool
trees_path_ok(const char *path)
{
	if (path[0] != '/' || strstr(path, "/../") != NULL ||
	    strstr(path, "/./") != NULL || strstr(path, "//") != NULL)
		return false;
	for (; *path != '\0'; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f)
			return false;
	return true;
}

static int
trees_one(int fd, const char *name)
{
	char text[TREES_TEXT], file[NAME_MAX + 16];
	struct stat st;
	int n, dir, back;

	n = snprintf(file, sizeof(file), "%s/gitdir", name);
	if (n >= (int)sizeof(file) ||
	    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    small_file_read(fd, file, text, sizeof(text)) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	if ((dir = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return 0;
	back = trees_back(dir, text, &st);
	close(dir);
	if (text[0] != '/')
		trees_inside(name, text);
	if (!trees_path_ok(text) || !back)
		return 0;
	if (checkout.ntrees == CHECKOUT_MAX_TREES) {
		sup_warn("the repository has more than %u worktrees: git "
			 "worktree prune in the sandbox takes the others for "
			 "lost",
		    CHECKOUT_MAX_TREES);
		return 1;
	}
	if ((checkout.trees[checkout.ntrees] = strdup(text)) == NULL)
		return -1;
	checkout.ntrees++;
	return 0;
}

int
checkout_trees(int common, int but)
{
	struct stat own = {.st_ino = 0}, st;
	struct dirent *e;
	int fd, rv = 0;
	DIR *d;

	fd = openat(common, "worktrees",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return 0;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return -1;
	}
	if (but != -1)
		(void)fstat(but, &own);
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			-1 ||
		    (but != -1 && st.st_dev == own.st_dev &&
			st.st_ino == own.st_ino))
			continue;
		rv = trees_one(dirfd(d), e->d_name);
	}
	closedir(d);
	return rv == -1 ? -1 : 0;
}

const char *
checkout_tree(unsigned n)
{
	static const char *const system[] = {"/usr", "/etc", "/proc", "/sys",
	    "/dev", "/bin", "/sbin", "/lib", "/lib64", "/home/agent",
	    "/run", "/var"};
	const char *path;

	for (unsigned i = 0; i < checkout.ntrees; i++) {
		path = checkout.trees[i];
		for (size_t k = 0; k < nitems(system) && path != NULL; k++)
			if (paths_under(path, system[k]))
				path = NULL;
		if (path == NULL || shown_has(path) || view_taken(path) ||
		    paths_under(path, sup.inside) ||
		    (checkout.link && paths_under(path, sup.workspace_path)))
			continue;
		if (n-- == 0)
			return path;
	}
	return NULL;
}
