/* SPDX-License-Identifier: ISC */
/*
 * Files beneath the roots: opening, reading, and replacing them whole.  Only
 * regular files are read or written; a write is seen as a whole or not at
 * all, and never goes through a link or into another file's hard link.
 */
#include "icfs/icfs.h"

#include <sys/random.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define READ_PIECE ((size_t)64 << 10)

/* Record the error for an object that is not a regular file. */
static int
not_regular(struct icfs *f, const char *op, struct span path, mode_t mode)
{
	if (S_ISDIR(mode)) {
		errno = EISDIR;
		return icfs_fail(f, op, path);
	}
	return icfs_why(f, "EINVAL: not a regular file, %s '%.*s'", op,
	    (int)path.len, (const char *)path.p);
}

int
icfs_open_file(struct icfs *f, struct span path, struct stat *st)
{
	struct icfs_path p;
	int fd;

	if (icfs_resolve(f, "open", path, ICFS_FOLLOW, &p) == -1)
		return -1;
	if (!p.exists) {
		errno = ENOENT;
		return icfs_fail(f, "open", path);
	}
	/* Do not even open it: a pipe would block, and a device might act. */
	if (!S_ISREG(p.st.st_mode))
		return not_regular(f, "read", path, p.st.st_mode);
	fd = icfs_open(p.root->fd, p.rel, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -1)
		return icfs_fail(f, "open", path);
	if (fstat(fd, st) == -1 || !S_ISREG(st->st_mode)) {
		close(fd);
		return icfs_why(f, "EAGAIN: it changed meanwhile, open '%.*s'",
		    (int)path.len, (const char *)path.p);
	}
	return fd;
}

static int
read_some(int fd, struct buf *b, size_t n)
{
	uint8_t *room;
	ssize_t got;

	if ((room = buf_room(b, n)) == NULL)
		return -1;
	do {
		got = read(fd, room, n);
	} while (got == -1 && errno == EINTR);
	if (got > 0)
		buf_grow(b, (size_t)got);
	return (int)got;
}

int
icfs_read_file(struct icfs *f, struct span path, size_t max, struct buf *b)
{
	size_t had = b->len;
	struct stat st;
	int fd, n = 0, r = -1;

	if ((fd = icfs_open_file(f, path, &st)) == -1)
		return -1;
	while (b->len - had <= max && (n = read_some(fd, b, READ_PIECE)) > 0)
		;
	if (n == -1)
		(void)icfs_fail(f, "read", path);
	else if (b->len - had > max)
		(void)icfs_why(f,
		    "File too large: %.*s has %lld bytes, at most %zu are "
		    "read at once%s",
		    (int)path.len, (const char *)path.p, (long long)st.st_size,
		    max, max == ICFS_MAX_FILE ? "; use head or tail" : "");
	else
		r = 0;
	close(fd);
	return r;
}

/* Write a new file in `dir`; its name is returned in `tmp`. */
static int
write_temp(int dir, char tmp[64], struct span bytes, const struct stat *old)
{
	uint64_t r;
	int fd, error;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -1;
	(void)snprintf(tmp, 64, ".icfs-%016llx.tmp", (unsigned long long)r);
	fd = icfs_open(
	    dir, tmp, O_WRONLY | O_CREAT | O_EXCL, old != NULL ? 0600 : 0666);
	if (fd == -1)
		return -1;
	if (span_write(fd, bytes) == -1 ||
	    (old != NULL && fchmod(fd, old->st_mode & 0777) == -1)) {
		error = errno;
		close(fd);
		(void)unlinkat(dir, tmp, 0);
		errno = error;
		return -1;
	}
	return close(fd);
}

/*
 * Overwrite the file, if nothing can be created beside it or it cannot be
 * replaced because it is a mount of its own, as an approved file in a view is.
 */
static int
write_in_place(const struct icfs_path *p, struct span bytes)
{
	struct stat st;
	int fd, r = -1, error;

	fd =
	    icfs_open(p->root->fd, p->rel, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0) {
		errno = EINVAL;
		if (st.st_dev == p->st.st_dev && st.st_ino == p->st.st_ino &&
		    ftruncate(fd, 0) == 0 && span_write(fd, bytes) == 0)
			r = 0;
	}
	error = errno;
	close(fd);
	errno = error;
	return r;
}

int
icfs_write_file(struct icfs *f, struct span path, struct span bytes)
{
	struct icfs_path p;
	const char *name;
	char tmp[64] = "";
	int dir, r;

	if (icfs_resolve(f, "open", path, ICFS_FOLLOW, &p) == -1)
		return -1;
	if (p.exists && !S_ISREG(p.st.st_mode))
		return not_regular(f, "open", path, p.st.st_mode);
	if ((dir = icfs_open_parent(f, "open", path, &p, &name)) == -1)
		return -1;
	r = write_temp(dir, tmp, bytes, p.exists ? &p.st : NULL);
	if (r == 0 && (r = renameat(dir, tmp, dir, name)) == -1) {
		int error = errno;

		(void)unlinkat(dir, tmp, 0);
		errno = error;
	}
	if (r == -1 && p.exists &&
	    (errno == EBUSY || errno == EROFS || errno == EACCES ||
		errno == EPERM))
		r = write_in_place(&p, bytes);
	if (r == -1)
		(void)icfs_fail(f, "write", path);
	close(dir);
	return r;
}
