/* SPDX-License-Identifier: ISC */
/*
 * The only way to open anything: beneath a directory that is already open,
 * through no link.  Also the messages for failures.
 */
#include "icfs/icfs.h"

#include <sys/syscall.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define BENEATH (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

static const struct {
	int error;
	const char *name, *text;
} errors[] = {
    {EACCES, "EACCES", "permission denied"},
    {EBUSY, "EBUSY", "resource busy or locked"},
    {EEXIST, "EEXIST", "file already exists"},
    {EFBIG, "EFBIG", "file too large"},
    {EINVAL, "EINVAL", "invalid argument"},
    {EISDIR, "EISDIR", "illegal operation on a directory"},
    {ELOOP, "ELOOP", "too many symbolic links encountered"},
    {ENAMETOOLONG, "ENAMETOOLONG", "name too long"},
    {ENOENT, "ENOENT", "no such file or directory"},
    {ENOSPC, "ENOSPC", "no space left on device"},
    {ENOTDIR, "ENOTDIR", "not a directory"},
    {ENOTEMPTY, "ENOTEMPTY", "directory not empty"},
    {EPERM, "EPERM", "operation not permitted"},
    {EROFS, "EROFS", "read-only file system"},
    {EXDEV, "EXDEV", "cross-device link not permitted"},
};

int
icfs_why(struct icfs *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(f->why, sizeof(f->why), fmt, ap);
	va_end(ap);
	return -1;
}

int
icfs_fail(struct icfs *f, const char *op, struct span path)
{
	const char *name = "EIO", *text = strerror(errno);

	for (size_t i = 0; i < nitems(errors); i++) {
		if (errors[i].error == errno) {
			name = errors[i].name;
			text = errors[i].text;
		}
	}
	return icfs_why(f, "%s: %s, %s '%.*s'", name, text, op, (int)path.len,
	    (const char *)path.p);
}

int
icfs_open(int dir, const char *rel, uint64_t flags, mode_t mode)
{
	struct open_how how = {
	    .flags = flags | O_CLOEXEC | O_NOFOLLOW,
	    .mode = mode,
	    .resolve = BENEATH,
	};

	return (int)syscall(SYS_openat2, dir, rel, &how, sizeof(how));
}

int
icfs_open_parent(struct icfs *f, const char *op, struct span path,
    const struct icfs_path *p, const char **name)
{
	char dir[PATH_MAX];
	const char *cut;
	int fd;

	if (strcmp(p->rel, ".") == 0)
		return icfs_why(f, "EBUSY: %.*s is an allowed directory itself",
		    (int)path.len, (const char *)path.p);
	cut = strrchr(p->rel, '/');
	*name = cut != NULL ? cut + 1 : p->rel;
	memcpy(dir, p->rel, sizeof(dir));
	dir[cut != NULL ? cut - p->rel : 0] = '\0';
	fd = icfs_open(
	    p->root->fd, cut != NULL ? dir : ".", O_PATH | O_DIRECTORY, 0);
	return fd == -1 ? icfs_fail(f, op, path) : fd;
}

void
icfs_full(const struct icfs_path *p, char dst[PATH_MAX * 2])
{
	if (strcmp(p->rel, ".") == 0)
		(void)snprintf(dst, PATH_MAX * 2, "%s", p->root->name);
	else
		(void)snprintf(dst, PATH_MAX * 2, "%s%s%s", p->root->name,
		    strcmp(p->root->name, "/") == 0 ? "" : "/", p->rel);
}
