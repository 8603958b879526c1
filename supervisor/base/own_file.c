/* SPDX-License-Identifier: ISC */
#include "base/own_file.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/jsonfile.h"

/* Returns the reason why this cannot be a file that we wrote, or NULL. */
static const char *
own_file_wrong(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is not a plain file";
	if (st->st_uid != geteuid())
		return "belongs to another user";
	if ((st->st_mode & 07777) != 0600)
		return "does not have the mode 0600";
	if (st->st_nlink != 1)
		return "has more than one name";
	if (st->st_size > (off_t)OWN_FILE_MAX)
		return "has more than 64 KiB";
	return NULL;
}

/* Read at most `cap` bytes. Returns how many, or -1 with errno set. */
static ssize_t
own_file_fill(int fd, char *text, size_t cap)
{
	size_t len = 0;
	ssize_t n;

	while (len < cap) {
		n = read(fd, text + len, cap - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

struct json_object *
own_file_read(int dirfd, const char *dir, const char *name, struct fault *fault)
{
	struct json_object *o = NULL;
	char path[4400], *text;
	const char *wrong;
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.4096s/%.250s", dir, name);
	/* A FIFO in its place must not block us. */
	fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1) {
		n = errno;
		if (n == ELOOP)
			fault_set(fault, "%s: is a symbolic link", path);
		else
			fault_errno(fault, "%s", path);
		errno = (int)n;
		return NULL;
	}
	if ((text = malloc(OWN_FILE_MAX + 1)) == NULL ||
	    fstat(fd, &st) == -1) {
		fault_errno(fault, "%s", path);
		goto out;
	}
	if ((wrong = own_file_wrong(&st)) != NULL) {
		fault_set(fault, "%s: %s", path, wrong);
		goto out;
	}
	/* One byte more shows that it has grown since. */
	if ((n = own_file_fill(fd, text, OWN_FILE_MAX + 1)) == -1)
		fault_errno(fault, "%s", path);
	else if (n > (ssize_t)OWN_FILE_MAX)
		fault_set(fault, "%s: has more than 64 KiB", path);
	else
		o = jsonfile_parse(path, span_of(text, (size_t)n), fault);
out:
	free(text);
	close(fd);
	errno = EINVAL;
	return o;
}
