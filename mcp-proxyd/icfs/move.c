/* SPDX-License-Identifier: ISC */
/*
 * Moves a file between two mounts, which cannot be done by renaming: copy,
 * sync, then delete.  The source disappears only after the destination is
 * whole and on disk.  Only regular files are moved so, and no link is followed.
 * Others may exchange names meanwhile: each is compared with the file that was
 * opened before anything is deleted.
 */
#include "icfs/icfs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)

struct move {
	int from, to; /* the two directories, O_PATH */
	const char *from_name, *to_name;
	int in, out;
	struct stat st; /* the source, as it was opened */
};

static bool
is_file(int dir, const char *name, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 &&
	       fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Returns true if nobody has written to the source since it was opened. */
static bool
is_unchanged(const struct move *m)
{
	struct stat now;

	return fstat(m->in, &now) == 0 && now.st_size == m->st.st_size &&
	       now.st_mtim.tv_sec == m->st.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == m->st.st_mtim.tv_nsec;
}

static int
sync_dir(int dir)
{
	int fd = icfs_open(dir, ".", O_RDONLY | O_DIRECTORY, 0), r, error;

	if (fd == -1)
		return -1;
	/* Some file systems cannot sync a directory, and need not. */
	r = fsync(fd) == -1 && errno != EINVAL ? -1 : 0;
	error = errno;
	close(fd);
	errno = error;
	return r;
}

/* Copy as many bytes as the source had. Its writer could go on for ever. */
static int
copy_bytes(const struct move *m)
{
	static uint8_t chunk[CHUNK];
	off_t left = m->st.st_size;
	size_t done;
	ssize_t n, put;

	while (left > 0) {
		n = read(
		    m->in, chunk, left < (off_t)CHUNK ? (size_t)left : CHUNK);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ESTALE;
		if (n <= 0)
			return -1;
		for (done = 0; done < (size_t)n; done += (size_t)put) {
			put = write(m->out, chunk + done, (size_t)n - done);
			if (put == -1 && errno != EINTR)
				return -1;
			if (put == -1)
				put = 0;
		}
		left -= n;
	}
	return 0;
}

/* Make the copy whole. Returns -1 with errno; ESTALE: the source changed. */
static int
copy_file(const struct move *m)
{
	const struct timespec times[] = {
	    {.tv_nsec = UTIME_OMIT}, m->st.st_mtim};

	if (copy_bytes(m) == -1 || fchmod(m->out, m->st.st_mode & 0777) == -1 ||
	    futimens(m->out, times) == -1 || fsync(m->out) == -1 ||
	    sync_dir(m->to) == -1)
		return -1;
	if (is_unchanged(m) && is_file(m->from, m->from_name, m->in) &&
	    is_file(m->to, m->to_name, m->out))
		return 0;
	errno = ESTALE;
	return -1;
}

static int
open_source(struct move *m)
{
	m->in = icfs_open(
	    m->from, m->from_name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (m->in == -1 || fstat(m->in, &m->st) == -1)
		return -1;
	if (S_ISREG(m->st.st_mode))
		return 0;
	errno = EXDEV;
	return -1;
}

int
icfs_move_file(int from, const char *from_name, int to, const char *to_name)
{
	struct move m = {from, to, from_name, to_name, -1, -1, {0}};
	int r = -1, error;

	if (open_source(&m) == -1)
		goto out;
	m.out = icfs_open(to, to_name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (m.out == -1)
		goto out;
	if (copy_file(&m) == 0 && unlinkat(from, from_name, 0) == 0) {
		r = 0;
		/* It is moved, even if a crash now brings the source back. */
		(void)sync_dir(from);
	} else {
		error = errno;
		if (is_file(to, to_name, m.out))
			(void)unlinkat(to, to_name, 0);
		errno = error;
	}
out:
	error = errno;
	if (m.in != -1)
		close(m.in);
	if (m.out != -1)
		close(m.out);
	/* A link as source. */
	errno = error == ELOOP ? EXDEV : error;
	return r;
}
