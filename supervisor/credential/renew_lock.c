/* SPDX-License-Identifier: ISC */
/*
 * The locks of a login file. Between sessions of IronCurtain, whatever their
 * IRONCURTAIN_HOME, it is flock() on a file beside it, because NFS locks no
 * directory; towards the vendor's
 * program, the lock that it uses itself: a directory with a known name, or
 * flock() on a file. Either all locks are held, or none.
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

#define RENEW_LOCK ".ironcurtain.lock"
#define RENEW_STALE_S 60 /* an older lock was left by a process that died */

/* Release the locks in reverse order. */
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
	if (r->own != -1) {
		(void)unlinkat(r->dirfd, RENEW_LOCK, 0);
		close(r->own);
	}
	r->own = -1;
	if (r->dirfd != -1)
		close(r->dirfd);
	r->dirfd = -1;
}

/* Expand "{dir}/x" to a file beside the login file. The caller frees it. */
static char *
renew_lock_path(const struct renewal *r, const char *pattern)
{
	char *path;

	if (strncmp(pattern, "{dir}", 5) != 0 ||
	    asprintf(&path, "%s%s", r->dir, pattern + 5) == -1)
		return NULL;
	return path;
}

/*
 * Returns 1 if the lock is taken, 0 if another program has it, or -1 with errno
 * set.
 */
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

/*
 * Take the lock between our sessions.  Whoever has it removes the file, so that
 * one that is not in the directory any more locks nothing.  Returns 1, 0 if
 * another session has it, or -1 with errno set.
 */
static int
renew_take_own(struct renewal *r)
{
	struct stat mine, there;
	int fd;

	fd = openat(r->dirfd, RENEW_LOCK,
	    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd == -1)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		close(fd);
		return errno == EWOULDBLOCK ? 0 : -1;
	}
	if (fstat(fd, &mine) == -1 ||
	    fstatat(r->dirfd, RENEW_LOCK, &there, AT_SYMLINK_NOFOLLOW) == -1 ||
	    mine.st_dev != there.st_dev || mine.st_ino != there.st_ino) {
		close(fd);
		return 0;
	}
	r->own = fd;
	return 1;
}

/* Take all locks or none. */
int
renew_lock(struct renewal *r)
{
	int rv;

	r->dirfd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dirfd == -1)
		return -1;
	rv = renew_take_own(r);
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
