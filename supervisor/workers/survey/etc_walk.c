/* SPDX-License-Identifier: ISC */
/*
 * Walks through /etc. An entry that disappears meanwhile is passed over, and so
 * is a directory that this user cannot read.
 */
#include "workers/survey/etc_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int etc_walk_in(struct etc_walk *, int fd);

static int
etc_walk_entry(struct etc_walk *w, int dirfd, const char *name)
{
	struct stat st;
	int fd, rv;

	if (++w->entries > ETC_MAX_ENTRIES) {
		w->cut = true;
		return 0;
	}
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	if ((rv = w->visit(w, dirfd, name, &st)) != 0)
		return rv == 1 ? 0 : -1;
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (w->depth == ETC_MAX_DEPTH) {
		w->cut = true;
		return w->leave != NULL ? w->leave(w) : 0;
	}
	fd = openat(
	    dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd != -1) {
		w->depth++;
		rv = etc_walk_in(w, fd);
		w->depth--;
	}
	if (rv == 0 && w->leave != NULL)
		rv = w->leave(w);
	return rv;
}

/* Walk through a directory, and close `fd`. */
static int
etc_walk_in(struct etc_walk *w, int fd)
{
	const size_t len = strlen(w->path), slash = len != 0;
	struct dirent *e;
	int rv = 0, save;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		save = errno;
		close(fd);
		errno = save;
		return -1;
	}
	while (rv == 0 && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (len + slash + strlen(e->d_name) + 1 > sizeof(w->path)) {
			w->cut = true;
			continue;
		}
		if (slash)
			w->path[len] = '/';
		memcpy(w->path + len + slash, e->d_name, strlen(e->d_name) + 1);
		rv = etc_walk_entry(w, fd, e->d_name);
		w->path[len] = '\0';
	}
	save = errno;
	closedir(d);
	errno = save;
	return rv;
}

int
etc_walk(struct etc_walk *w, int fd)
{
	int dup;

	dup = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dup == -1 ? -1 : etc_walk_in(w, dup);
}
