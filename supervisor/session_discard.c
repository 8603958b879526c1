/* SPDX-License-Identifier: ISC */
/*
 * Removes files that a session need not keep: the whole directory of a session
 * that never began, and the caches of agents in their home. An agent chose the
 * names below home/ and their depth: no link is followed, no path is walked
 * from the root, and time is limited.
 */
#include "session.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/loop.h"
#include "resume/start_file.h"

/*
 * Each level needs a descriptor. Directories below this depth are moved to the
 * top.
 */
#define DISCARD_DEPTH 32U
#define DISCARD_MS 3000U

struct discard {
	int top;
	unsigned moved;
	uint64_t until; /* clock_mono_us() */
};

static bool discard_one(struct discard *, int dirfd, const char *, unsigned);

/*
 * Remove the contents of `fd`, which is closed. Returns true if the directory
 * is empty now.
 */
static bool
discard_below(struct discard *d, int fd, unsigned depth)
{
	char name[32];
	struct dirent *e;
	bool empty = true;
	DIR *dir;

	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (clock_mono_us() > d->until) {
			empty = false;
			break;
		}
		if (depth < DISCARD_DEPTH || unlinkat(fd, e->d_name, 0) == 0) {
			if (depth < DISCARD_DEPTH)
				empty &=
				    discard_one(d, fd, e->d_name, depth + 1);
			continue;
		}
		snprintf(name, sizeof(name), ".discard-%u", d->moved++);
		if (renameat(fd, e->d_name, d->top, name) == -1)
			empty = false;
	}
	closedir(dir);
	return empty;
}

/* Remove one file or directory. Returns true if it no longer exists. */
static bool
discard_one(struct discard *d, int dirfd, const char *name, unsigned depth)
{
	int fd;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT ||
	    unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
		return true;
	fd = openat(dirfd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	return discard_below(d, fd, depth) &&
	       unlinkat(dirfd, name, AT_REMOVEDIR) == 0;
}

/* Remove everything below `fd`, which stays open. */
static void
discard_all(int fd)
{
	struct discard d = {
	    .top = fd, .until = clock_mono_us() + (uint64_t)DISCARD_MS * 1000};
	unsigned before;
	int copy;

	do {
		before = d.moved;
		copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (copy == -1)
			return;
		(void)discard_below(&d, copy, 0);
	} while (d.moved != before && clock_mono_us() < d.until);
}

void
session_discard(int dirfd, const char *path)
{
	const char *rest = path, *slash;
	char part[256];
	int cur, next;
	size_t n;

	if ((cur = fcntl(dirfd, F_DUPFD_CLOEXEC, 0)) == -1)
		return;
	for (;;) {
		slash = strchrnul(rest, '/');
		n = (size_t)(slash - rest);
		if (n == 0 || n >= sizeof(part) ||
		    (n <= 2 && strncmp(rest, "..", n) == 0))
			break;
		memcpy(part, rest, n);
		part[n] = '\0';
		next = openat(cur, part,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK |
			O_CLOEXEC);
		if (next == -1)
			break;
		close(cur);
		cur = next;
		if (*slash == '\0') {
			discard_all(cur);
			break;
		}
		rest = slash + 1;
	}
	close(cur);
}

bool
session_untouched(int dirfd)
{
	struct dirent *e;
	bool untouched = true;
	int fd;
	DIR *dir;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return false;
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (untouched && (e = readdir(dir)) != NULL)
		untouched = strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0 ||
			    strcmp(e->d_name, START_FILE) == 0;
	closedir(dir);
	return untouched;
}

void
session_abandon(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return;
	/* Without start.json, icctl did not make it. */
	if (session_untouched(fd) && unlinkat(fd, START_FILE, 0) == 0)
		(void)rmdir(path);
	close(fd);
}

void
session_remove(struct session *s)
{
	if (!s->made || s->fd == -1)
		return;
	discard_all(s->fd);
	(void)rmdir(s->dir);
}
