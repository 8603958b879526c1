/* SPDX-License-Identifier: ISC */
#include "workers/survey/tree_look.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/system/survey.h"
#include "workers/survey/tree_secret.h"

static const char too_many[] = "more than 200 files that may hold credentials "
			       "(the last one is";

static int look_in(struct tree_look *, int fd);

static int
look_cover(struct tree_look *w)
{
	if (++w->covers > SURVEY_MAX_COVERS) {
		w->bad = too_many;
		return -1;
	}
	w->cover(w->path);
	return 0;
}

/* Returns the type of an entry, as readdir(3) names it. */
static unsigned char
look_type(int dirfd, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	if (fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return DT_REG;
	return (unsigned char)IFTODT(st.st_mode);
}

static int
look_dir(struct tree_look *w, int dirfd, const char *name)
{
	char inside[NAME_MAX + 3];
	struct stat st;
	int fd, rv;

	if (tree_secret_dir(name))
		return look_cover(w);
	if (w->depth == TREE_MAX_DEPTH) {
		w->bad = "too many directories in each other";
		return -1;
	}
	fd = openat(dirfd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1) {
		/* A socket in it can be reached by those who know its name. */
		(void)snprintf(inside, sizeof(inside), "%s/.", name);
		return fstatat(dirfd, inside, &st, AT_SYMLINK_NOFOLLOW) == 0
			   ? look_cover(w)
			   : 0;
	}
	w->depth++;
	rv = look_in(w, fd);
	w->depth--;
	return rv;
}

static int
look_entry(struct tree_look *w, int dirfd, const struct dirent *e)
{
	if (++w->entries > SURVEY_MAX_ENTRIES) {
		w->bad = "more than 2,000,000 files";
		return -1;
	}
	switch (look_type(dirfd, e)) {
	case DT_DIR:
		return look_dir(w, dirfd, e->d_name);
	case DT_SOCK:
		w->bad = "a socket";
		return -1;
	case DT_FIFO:
		w->bad = "a FIFO";
		return -1;
	case DT_CHR:
	case DT_BLK:
		w->bad = "a device";
		return -1;
	case DT_REG:
		return tree_secret_file(dirfd, e->d_name, w->path, w->depth)
			   ? look_cover(w)
			   : 0;
	default:
		return 0;
	}
}

/* Look through a directory, and close `fd`. */
static int
look_in(struct tree_look *w, int fd)
{
	const size_t len = strlen(w->path), slash = len != 0;
	struct dirent *e;
	int rv = 0;
	size_t n;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return 0;
	}
	while (rv == 0 && (e = readdir(d)) != NULL) {
		n = strlen(e->d_name);
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (len + slash + n + 1 > sizeof(w->path)) {
			w->bad = "a path that is too long";
			rv = -1;
			break;
		}
		if (slash)
			w->path[len] = '/';
		memcpy(w->path + len + slash, e->d_name, n + 1);
		rv = look_entry(w, fd, e);
		/* The path of what is refused stays. */
		if (rv == 0)
			w->path[len] = '\0';
	}
	closedir(d);
	return rv;
}

int
tree_look(struct tree_look *w, int fd)
{
	int dup = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* A sandbox has the same rights to it. */
	return dup == -1 ? 0 : look_in(w, dup);
}
