/* SPDX-License-Identifier: ISC */
#include "base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/close_keep.h"

ssize_t
small_file_read(int dirfd, const char *path, char *text, size_t cap)
{
	int fd;
	ssize_t n;

	text[0] = '\0';
	fd =
	    openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return -1;
	do {
		n = read(fd, text, cap - 1);
	} while (n == -1 && errno == EINTR);
	(void)close_keep(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}
