/* SPDX-License-Identifier: ISC */
/*
 * Links in run/, by which icctl finds sessions, and the files beside them that
 * name their machine.
 */
#include "icctl/gc/gc.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the link leads to no session that may live. */
static bool
link_stale(const struct gc *g, int run, const char *name)
{
	char target[PATH_MAX], beside[300], host[65];
	struct gc_look l;
	struct stat st;
	ssize_t n;
	bool stale;

	if (here_read(run, here_beside(name, beside), host) == HERE_ELSEWHERE)
		return false;
	n = readlinkat(run, name, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	if (lstat(target, &st) == -1)
		return errno == ENOENT;
	if (gc_look(&l, AT_FDCWD, target, (uint64_t)st.st_dev, g->now) == -1)
		return false;
	stale = l.state == GC_ENDED || l.state == GC_CRASHED ||
		l.state == GC_REFUSED;
	gc_release(&l);
	return stale;
}

/* Returns true for the file beside a link that no longer exists. */
static bool
link_orphan(int run, const char *name)
{
	static const char tail[] = ".host";
	size_t n = strlen(name);
	char link[300], host[65];
	struct stat st;

	if (n < sizeof(tail) + 1 || n >= sizeof(link) ||
	    strcmp(name + n - (sizeof(tail) - 1), tail) != 0)
		return false;
	snprintf(link, sizeof(link), "%.*s", (int)(n - sizeof(tail)), name + 1);
	return fstatat(run, link, &st, AT_SYMLINK_NOFOLLOW) == -1 &&
	       errno == ENOENT && here_read(run, name, host) != HERE_ELSEWHERE;
}

static void
links_one(struct gc *g, int run, const char *name)
{
	char beside[300];
	struct stat st;

	if (fstatat(run, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return;
	if (name[0] == '.') {
		if (S_ISREG(st.st_mode) && link_orphan(run, name) && !g->dry)
			(void)unlinkat(run, name, 0);
		return;
	}
	if (!S_ISLNK(st.st_mode) || !link_stale(g, run, name))
		return;
	g->links++;
	if (g->dry)
		return;
	(void)unlinkat(run, name, 0);
	(void)unlinkat(run, here_beside(name, beside), 0);
}

void
gc_links(struct gc *g)
{
	char path[4200];
	struct dirent *e;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/run", g->ctl->home);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			links_one(g, fd, e->d_name);
	closedir(dir);
}
