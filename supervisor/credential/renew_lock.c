/* SPDX-License-Identifier: ISC */
/*
 * The locks of a login file: between our own sessions, of whatever user
 * directory, flock() on the directory that the file is in; towards the
 * vendor's own program what that program takes: a directory of an agreed
 * name, or flock() on a file.  All of them are held, or none.
 */
#include "credential/renew.h"

#include <sys/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RENEW_STALE_S 60 /* older ones are of the dead */

/* The other way round than they were taken. */
void
renew_release(struct renewal *r)
{
	while (r->nfiles != 0)
		close(r->files[--r->nfiles]);
	while (r->nheld != 0) {
		r->nheld--;
		(void)rmdir(r->held[r->nheld]);
		free(r->held[r->nheld]);
	}
	if (r->dirfd != -1)
		close(r->dirfd);
	r->dirfd = -1;
}

/* "{dir}/x": beside the login file. Fresh memory. */
static char *
renew_lock_path(const struct renewal *r, const char *pattern)
{
	char *path;

	if (strncmp(pattern, "{dir}", 5) != 0 ||
	    asprintf(&path, "%s%s", r->dir, pattern + 5) == -1)
		return NULL;
	return path;
}

/* 1 taken, 0 somebody has it, -1 errno. */
static int
renew_take_dir(struct renewal *r, const char *pattern)
{
	struct timespec now;
	struct stat st;
	char *path;
	int rv = -1;

	if ((path = renew_lock_path(r, pattern)) == NULL)
		return -1;
	if (mkdir(path, 0700) == 0) {
		r->held[r->nheld++] = path;
		return 1;
	}
	if (errno == EEXIST) {
		rv = 0;
		(void)clock_gettime(CLOCK_REALTIME, &now);
		if (lstat(path, &st) == 0 &&
		    now.tv_sec - st.st_mtim.tv_sec > RENEW_STALE_S)
			(void)rmdir(path);
	}
	free(path);
	return rv;
}

static int
renew_take_file(struct renewal *r, const char *pattern)
{
	char *path;
	int fd;

	if ((path = renew_lock_path(r, pattern)) == NULL)
		return -1;
	fd = open(
	    path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	free(path);
	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		close(fd);
		return errno == EWOULDBLOCK ? 0 : -1;
	}
	r->files[r->nfiles++] = fd;
	return 1;
}

/* All or none. */
int
renew_lock(struct renewal *r)
{
	int rv = 1;

	r->dirfd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd == -1)
		return -1;
	if (flock(r->dirfd, LOCK_EX | LOCK_NB) == -1)
		rv = errno == EWOULDBLOCK ? 0 : -1;
	for (size_t i = 0; rv == 1 && r->lock_dirs != NULL &&
			   r->lock_dirs[i] != NULL && i < RENEW_MAX_LOCKS;
	     i++)
		rv = renew_take_dir(r, r->lock_dirs[i]);
	for (size_t i = 0; rv == 1 && r->lock_files != NULL &&
			   r->lock_files[i] != NULL && i < RENEW_MAX_LOCKS;
	     i++)
		rv = renew_take_file(r, r->lock_files[i]);
	if (rv != 1) {
		int saved = errno;

		renew_release(r);
		errno = saved;
	}
	return rv;
}
