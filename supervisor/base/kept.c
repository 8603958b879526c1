/* SPDX-License-Identifier: ISC */
#include "base/kept.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct {
	const char *dir;
	int dirfd;
	struct {
		char name[48];
		int fd;
		dev_t dev;
		ino_t ino;
	} list[KEPT_MAX];
	unsigned n;
} kept = {.dirfd = -1};

/* Hold one file. Returns false if there is no more to be held. */
static bool
kept_add(const char *name)
{
	struct stat st;
	int fd;

	if (kept.n == KEPT_MAX)
		return false;
	if (name[0] == '.' || strlen(name) >= sizeof(kept.list[0].name))
		return true;
	if ((fd = openat(kept.dirfd, name, O_PATH | O_CLOEXEC)) == -1)
		return false;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		close(fd);
		return true;
	}
	kept.list[kept.n].fd = fd;
	kept.list[kept.n].dev = st.st_dev;
	kept.list[kept.n].ino = st.st_ino;
	(void)strlcpy(kept.list[kept.n].name, name, sizeof(kept.list[0].name));
	kept.n++;
	return true;
}

void
kept_begin(const char *libexecdir)
{
	struct dirent *e;
	DIR *d;

	if ((d = opendir(libexecdir)) == NULL)
		return;
	kept.dir = libexecdir;
	kept.dirfd = fcntl(dirfd(d), F_DUPFD_CLOEXEC, 0);
	while (
	    kept.dirfd != -1 && (e = readdir(d)) != NULL && kept_add(e->d_name))
		;
	closedir(d);
}

/* Returns true if the path of a program has another file now, or none. */
static bool
kept_differs(unsigned i, const char *path, int at)
{
	struct stat st;

	return fstatat(at, path, &st, 0) == -1 ||
	       st.st_dev != kept.list[i].dev || st.st_ino != kept.list[i].ino;
}

int
kept_find(const char *path)
{
	const size_t len = kept.dir == NULL ? 0 : strlen(kept.dir);

	if (len == 0 || path == NULL || strncmp(path, kept.dir, len) != 0 ||
	    path[len] != '/')
		return -1;
	for (unsigned i = 0; i < kept.n; i++)
		if (strcmp(path + len + 1, kept.list[i].name) == 0)
			return kept_differs(i, path, AT_FDCWD) ? kept.list[i].fd
							       : -1;
	return -1;
}

bool
kept_changed(void)
{
	for (unsigned i = 0; i < kept.n; i++)
		if (kept_differs(i, kept.list[i].name, kept.dirfd))
			return true;
	return false;
}
