/* SPDX-License-Identifier: ISC */
#include "host/sessions.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/session.h"
#include "common/buf.h"

/*
 * The paths of the places, each with a NUL at its end; and those of them that
 * the agent writes through servers only. The first file has all of them, for
 * sessions of versions that know it alone.
 */
#define SESSIONS_FILE "writable"
#define SESSIONS_VIEWS "writable.views"
#define SESSIONS_MAX ((size_t)PLACES_MAX * (PATH_MAX + 1))

/* Returns true if a process holds the session's lock. */
static bool
session_lives(int dirfd, const struct here_owner *o)
{
	int fd, rv;

	fd =
	    openat(dirfd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	rv = flock(fd, LOCK_SH | LOCK_NB);
	close(fd);
	if (rv == -1 && errno == EWOULDBLOCK)
		return true;
	/* Some file systems have no locks. */
	return rv == -1 && o->pid > 0 && o->start != 0 &&
	       here_start((pid_t)o->pid) == o->start;
}

static bool
session_counts(int dirfd, bool elsewhere, struct here_owner *o)
{
	switch (here_owner(dirfd, "lock", o)) {
	case HERE_OURS:
		return session_lives(dirfd, o);
	case HERE_ELSEWHERE:
		return elsewhere;
	case HERE_UNKNOWN:
	case HERE_STALE:
		break;
	}
	return false;
}

static bool
session_same(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

int
sessions_each(int run, int own, bool elsewhere,
    void (*fn)(int, const char *, const struct here_owner *, void *), void *arg)
{
	struct here_owner o;
	struct dirent *e;
	DIR *dir;
	int fd;

	fd = openat(run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return -1;
	}
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		fd = openat(run, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd == -1)
			continue;
		if ((own == -1 || !session_same(fd, own)) &&
		    session_counts(fd, elsewhere, &o))
			fn(fd, e->d_name, &o, arg);
		close(fd);
	}
	closedir(dir);
	return 0;
}

static int
sessions_write(int dirfd, const char *file, const struct places *p, bool views)
{
	struct buf b;
	int rv = -1;

	buf_init(&b, SESSIONS_MAX);
	for (unsigned i = 0; i < p->n; i++)
		if (!p->others[i] && (!views || p->views[i]))
			buf_add(&b, p->paths[i], strlen(p->paths[i]) + 1);
	if (b.failed)
		errno = ENOMEM;
	else
		rv = session_write(dirfd, file, 0600, buf_span(&b));
	buf_free(&b);
	return rv;
}

int
sessions_record(int dirfd, const struct places *p)
{
	if (sessions_write(dirfd, SESSIONS_VIEWS, p, true) == -1)
		return -1;
	return sessions_write(dirfd, SESSIONS_FILE, p, false);
}

struct sessions_add {
	struct places *places;
	int error; /* the errno of the first failure, or 0 */
};

/* Add a path, unless it is gone. */
static void
sessions_path(struct sessions_add *a, int at, const char *path,
    const char *name, bool view)
{
	int fd = openat(at, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1)
		return;
	if (places_add_other(a->places, fd, name, view) == -1 &&
	    errno != ENOENT && a->error == 0)
		a->error = errno;
	close(fd);
}

/*
 * Returns the text of the file, which ends with two NULs, or NULL with errno:
 * ENOENT if the session is of a version that writes no such file.
 */
static char *
sessions_text(int dirfd, const char *file)
{
	struct buf b;
	char *text = NULL;
	uint8_t *room;
	ssize_t n = 0;
	int fd, save;

	fd =
	    openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	buf_init(&b, SESSIONS_MAX + 8192);
	while ((room = buf_room(&b, 4096)) != NULL &&
	       (n = read(fd, room, 4096)) > 0)
		buf_grow(&b, (size_t)n);
	if (room == NULL)
		errno = EFBIG;
	else if (n == 0 && (text = calloc(1, b.len + 2)) != NULL && b.len != 0)
		memcpy(text, buf_span(&b).p, b.len);
	save = errno;
	close(fd);
	buf_free(&b);
	errno = save;
	return text;
}

/* Returns true if the list, of sessions_text(), has the path. */
static bool
sessions_lists(const char *list, const char *path)
{
	for (; list != NULL && *list != '\0'; list += strlen(list) + 1)
		if (strcmp(list, path) == 0)
			return true;
	return false;
}

/* Returns false if the session is of a version that writes no such file. */
static bool
sessions_recorded(struct sessions_add *a, int dirfd, const char *name)
{
	char *all, *views;

	if ((all = sessions_text(dirfd, SESSIONS_FILE)) == NULL) {
		if (errno == ENOENT)
			return false;
		a->error = errno;
		return true;
	}
	views = sessions_text(dirfd, SESSIONS_VIEWS);
	for (const char *s = all; *s != '\0'; s += strlen(s) + 1)
		if (*s == '/')
			sessions_path(
			    a, AT_FDCWD, s, name, sessions_lists(views, s));
	free(all);
	free(views);
	return true;
}

static void
sessions_one(int dirfd, const char *name, const struct here_owner *o, void *arg)
{
	struct sessions_add *a = arg;
	struct json_object *json;
	const char *workspace;
	int fd;

	sessions_path(a, dirfd, "sandbox", name, false);
	sessions_path(a, dirfd, "home", name, false);
	if (sessions_recorded(a, dirfd, name))
		return;
	fd = openat(dirfd, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return;
	json = json_object_from_fd(fd);
	close(fd);
	workspace = get_str(json, "workspace", "");
	if (workspace[0] == '/')
		sessions_path(a, AT_FDCWD, workspace, name, false);
	json_object_put(json);
}

int
sessions_places(struct places *p, int run, int own)
{
	struct sessions_add a = {.places = p};

	if (sessions_each(run, own, true, sessions_one, &a) == -1)
		return errno == ENOENT ? 0 : -1;
	errno = a.error;
	return a.error == 0 ? 0 : -1;
}
