/* SPDX-License-Identifier: ISC */
#include "base/tree.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"
#include "common/loop.h"

/*
 * Each level needs a descriptor. Directories below this depth are moved to the
 * top; when only measuring, they are left out.
 */
#define TREE_DEPTH 64U
#define TREE_TRIES 5U

int
tree_open(int dirfd, const char *name, bool force)
{
	char path[40];
	int fd, way;

	fd = openat(dirfd, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd != -1 || errno != EACCES || !force)
		return fd;
	way =
	    openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (way == -1)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", way);
	if (chmod(path, 0700) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(way);
	return fd;
}

bool
tree_empty(int fd, const char *but)
{
	struct dirent *e;
	bool empty = true;
	int copy;
	DIR *dir;

	copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy == -1)
		return false;
	if ((dir = fdopendir(copy)) == NULL) {
		close(copy);
		return false;
	}
	while (empty && (e = readdir(dir)) != NULL)
		empty = strcmp(e->d_name, ".") == 0 ||
			strcmp(e->d_name, "..") == 0 ||
			(but != NULL && strcmp(e->d_name, but) == 0);
	closedir(dir);
	return empty;
}

static bool tree_one(struct tree *, int dirfd, const char *, unsigned);

/* Returns true if there is nothing of this name, else notes errno. */
static bool
tree_gone(struct tree *t)
{
	if (errno == ENOENT)
		return true;
	if (t->error == 0)
		t->error = errno;
	return false;
}

/* Open a directory to take its contents. Returns a descriptor, or -1. */
static int
tree_enter(const struct tree *t, int dirfd, const char *name, struct stat *st)
{
	bool force = !t->dry && !t->strict;
	int fd;

	if ((fd = tree_open(dirfd, name, force)) == -1)
		return -1;
	if (fstat(fd, st) == -1)
		return close_keep(fd);
	if (force && (st->st_mode & 0700) != 0700)
		(void)fchmod(fd, 0700);
	return fd;
}

static bool
tree_late(const struct tree *t)
{
	return t->until != 0 && clock_mono_us() > t->until;
}

/* Take the contents of `fd`, which is closed. Returns true if it is empty. */
static bool
tree_level(struct tree *t, int fd, unsigned depth)
{
	bool empty = true;
	struct dirent *e;
	DIR *dir;

	if ((dir = fdopendir(fd)) == NULL) {
		(void)tree_gone(t);
		close(fd);
		return false;
	}
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (tree_late(t)) {
			empty = false;
			break;
		}
		empty &= tree_one(t, fd, e->d_name, depth);
	}
	closedir(dir);
	return empty;
}

/* Move a directory that is nested too deep to the top. */
static bool
tree_move(struct tree *t, int dirfd, const char *name)
{
	char to[32];

	if (t->dry)
		return false;
	do {
		snprintf(to, sizeof(to), ".tree-%u", t->moved++);
	} while (faccessat(t->top, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(dirfd, name, t->top, to) == 0 || tree_gone(t);
}

static bool
tree_directory(struct tree *t, int dirfd, const char *name, unsigned depth)
{
	struct stat st;
	int fd;

	if (depth >= TREE_DEPTH)
		return tree_move(t, dirfd, name);
	if ((fd = tree_enter(t, dirfd, name, &st)) == -1)
		return tree_gone(t);
	if (st.st_dev != t->dev) {
		close(fd);
		errno = EXDEV;
		return tree_gone(t);
	}
	if (!tree_level(t, fd, depth + 1))
		return false;
	return t->dry || unlinkat(dirfd, name, AT_REMOVEDIR) == 0 ||
	       tree_gone(t);
}

/* Take one file or directory. Returns true if nothing of it is left. */
static bool
tree_one(struct tree *t, int dirfd, const char *name, unsigned depth)
{
	struct stat st;
	uint64_t bytes;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return tree_gone(t);
	if (t->tick != NULL)
		t->tick(t);
	bytes = (uint64_t)st.st_blocks * 512;
	if (S_ISDIR(st.st_mode)) {
		if (!tree_directory(t, dirfd, name, depth))
			return false;
	} else if (!t->dry && unlinkat(dirfd, name, 0) == -1) {
		return tree_gone(t);
	}
	/* A file with another name keeps its blocks. */
	if (S_ISDIR(st.st_mode) || st.st_nlink <= 1)
		t->bytes += bytes;
	return true;
}

void
tree_below(struct tree *t, int fd)
{
	unsigned before;
	bool empty;
	int copy;

	t->top = fd;
	do {
		before = t->moved;
		copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (copy == -1) {
			t->failed = !tree_gone(t);
			return;
		}
		empty = tree_level(t, copy, 0);
	} while (!t->dry && t->moved != before && !tree_late(t));
	if (!empty && !t->dry)
		t->failed = true;
}

void
tree_whole(struct tree *t, int dirfd, const char *name)
{
	struct stat st;
	int fd;

	if ((fd = tree_enter(t, dirfd, name, &st)) == -1) {
		t->failed = !tree_gone(t);
		return;
	}
	tree_below(t, fd);
	close(fd);
	if (t->dry || unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
		t->bytes += (uint64_t)st.st_blocks * 512;
	else
		t->failed = !tree_gone(t);
}

int
tree_remove(const char *path)
{
	struct tree t;
	struct stat st;

	for (unsigned i = 0; i < TREE_TRIES; i++) {
		if (lstat(path, &st) == -1)
			return errno == ENOENT ? 0 : -1;
		if (!S_ISDIR(st.st_mode))
			return unlink(path);
		t = (struct tree){.strict = true, .dev = st.st_dev};
		tree_whole(&t, AT_FDCWD, path);
		if (!t.failed)
			return 0;
	}
	errno = t.error;
	return -1;
}

void
tree_at(struct tree *t, int dirfd, const char *path)
{
	const char *slash;
	char part[256];
	int cur, next;
	size_t n;

	if ((cur = fcntl(dirfd, F_DUPFD_CLOEXEC, 0)) == -1)
		return;
	for (;;) {
		slash = strchrnul(path, '/');
		n = (size_t)(slash - path);
		if (n == 0 || n >= sizeof(part))
			break;
		memcpy(part, path, n);
		part[n] = '\0';
		if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0 ||
		    (next = tree_open(cur, part, false)) == -1)
			break;
		close(cur);
		cur = next;
		if (*slash == '\0') {
			tree_below(t, cur);
			break;
		}
		path = slash + 1;
	}
	close(cur);
}
