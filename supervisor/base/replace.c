/* SPDX-License-Identifier: ISC */
/*
 * Replaces a file of the user's as a whole. It may contain secrets: the new one
 * is never readable by others, and no copy of the old one remains.
 */
#include "base/jsonfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
jsonfile_replace(const char *path, struct span text)
{
	char tmp[PATH_MAX];
	int fd, save, n;

	n = snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path);
	if (n < 0 || (size_t)n >= sizeof(tmp)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if ((fd = mkostemp(tmp, O_CLOEXEC)) == -1)
		return -1;
	if (span_write(fd, text) == 0 && fsync(fd) == 0 &&
	    rename(tmp, path) == 0) {
		close(fd);
		return 0;
	}
	save = errno;
	(void)unlink(tmp);
	close(fd);
	errno = save;
	return -1;
}
