/* SPDX-License-Identifier: ISC */
/*
 * Compares the socket files where the agent can write with the kernel's list of
 * sockets in use. A file may have been renamed or linked since the socket was
 * bound (supervisord does both), or been bound by a relative name, so the name
 * in that list is only a hint: it saves a search of the whole tree if the one
 * name of the socket's file is there, or is elsewhere. Nothing connects to a
 * socket.
 */
#include "host/sockets.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/mountinfo.h"
#include "host/sockdiag.h"

/* The search gives up in a larger tree. */
#define SOCKETS_MAX_ENTRIES 2000000U
#define SOCKETS_MAX_DEPTH 64U

struct search {
	void (*found)(const char *path);
	struct sockets_seen *seen;
	struct mountinfo mounts;
	struct sockdiag diag;
	unsigned entries;
};

/*
 * Returns the device of the file system of an open directory, as the kernel's
 * list of sockets has it.
 */
static dev_t
search_device(const struct search *s, int fd, const struct stat *st)
{
	const struct mountinfo_row *r = mountinfo_of(&s->mounts, fd);

	return r != NULL ? r->dev : st->st_dev;
}

static bool
row_is(const struct sockdiag_row *r, dev_t dev, const struct stat *st)
{
	/* Without mountinfo, the device may be another one than the kernel's.
	 */
	return r->ino == (uint32_t)st->st_ino &&
	       (r->dev == dev || r->dev == st->st_dev);
}

/* Returns true if a program can be reached by this socket file. */
static bool
search_used(const struct search *s, dev_t dev, const struct stat *st)
{
	if (!s->seen->known)
		return true;
	for (unsigned i = 0; i < s->diag.n; i++)
		if (row_is(&s->diag.rows[i], dev, st))
			return true;
	return false;
}

static void
search_found(struct search *s, const char *path)
{
	s->seen->found++;
	s->found(path);
}

static void search_tree(
    struct search *, int fd, const char *path, unsigned depth);

static void
search_entry(struct search *s, int fd, dev_t dev, const struct dirent *e,
    const char *path, unsigned depth)
{
	struct stat st;
	int next;

	if (e->d_type != DT_SOCK && e->d_type != DT_DIR &&
	    e->d_type != DT_UNKNOWN)
		return;
	if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return;
	if (S_ISSOCK(st.st_mode) && search_used(s, dev, &st))
		search_found(s, path);
	if (!S_ISDIR(st.st_mode))
		return;
	if (depth == SOCKETS_MAX_DEPTH) {
		s->seen->cut = true;
		return;
	}
	next = openat(fd, e->d_name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (next != -1)
		search_tree(s, next, path, depth + 1);
}

/* Search a directory without following links. Takes `fd`. */
static void
search_tree(struct search *s, int fd, const char *path, unsigned depth)
{
	char below[PATH_MAX];
	struct dirent *e;
	struct stat st;
	dev_t dev;
	DIR *dir;

	if (fstat(fd, &st) == -1 || (dir = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	dev = search_device(s, fd, &st);
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++s->entries > SOCKETS_MAX_ENTRIES ||
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) >=
			(int)sizeof(below)) {
			s->seen->cut = true;
			break;
		}
		search_entry(s, fd, dev, e, below, depth);
	}
	closedir(dir);
}

/* Search one place, which may be a socket itself. */
static void
search_place(struct search *s, const char *path)
{
	struct stat st;
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    search_used(s, search_device(s, fd, &st), &st))
		search_found(s, path);
	close(fd);
	fd = open(
	    path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd != -1)
		search_tree(s, fd, path, 0);
}

/*
 * Returns true if all that is to be known of this socket is known by its name:
 * its file has one name, which leads to no place of the agent.
 */
static bool
search_elsewhere(const struct search *s, const struct places *places,
    const struct sockdiag_row *r)
{
	const char *place;
	struct stat st;
	bool settled;
	int fd;

	if (r->name[0] != '/')
		return false;
	place = places_of(places, r->name, &fd);
	settled = place == NULL && fd != -1 && fstat(fd, &st) == 0 &&
		  S_ISSOCK(st.st_mode) && st.st_nlink == 1 &&
		  row_is(r, search_device(s, fd, &st), &st);
	if (fd != -1)
		close(fd);
	return settled;
}

/* Returns true if a socket that is in use has its file on this file system. */
static bool
search_has(const struct search *s, dev_t dev)
{
	for (unsigned i = 0; i < s->diag.n; i++)
		if (s->diag.rows[i].dev == dev)
			return true;
	return false;
}

/* Returns true if the files of this place must be looked at, one by one. */
static bool
search_needed(
    const struct search *s, const struct places *places, const char *path)
{
	struct stat st;
	dev_t dev;
	int fd;

	if (!s->seen->known || s->mounts.n == 0)
		return true;
	/* A file in what is mounted here may have its name elsewhere. */
	for (unsigned i = 0; i < s->mounts.n; i++)
		if (mountinfo_below(&s->mounts.rows[i], path) &&
		    search_has(s, s->mounts.rows[i].dev))
			return true;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return false;
	if (fstat(fd, &st) == -1) {
		close(fd);
		return true;
	}
	dev = search_device(s, fd, &st);
	close(fd);
	for (unsigned i = 0; i < s->diag.n; i++)
		if ((s->diag.rows[i].dev == dev ||
			s->diag.rows[i].dev == st.st_dev) &&
		    !search_elsewhere(s, places, &s->diag.rows[i]))
			return true;
	return false;
}

void
host_sockets(struct sockets_seen *seen, const struct places *places, bool ask,
    void (*found)(const char *path))
{
	struct search s = {.found = found, .seen = seen};
	struct places own;

	*seen = (struct sockets_seen){.error = EOPNOTSUPP};
	(void)mountinfo_read(&s.mounts);
	if (ask) {
		seen->known = sockdiag_read(&s.diag) == 0;
		seen->error = seen->known ? 0 : errno;
	}
	if (places_copy(&own, places) == -1) {
		seen->cut = true;
	} else {
		for (unsigned i = 0; i < own.n; i++)
			if (search_needed(&s, &own, own.paths[i]))
				search_place(&s, own.paths[i]);
		places_clear(&own);
	}
	mountinfo_free(&s.mounts);
	sockdiag_free(&s.diag);
}
