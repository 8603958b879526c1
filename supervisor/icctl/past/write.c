/* SPDX-License-Identifier: ISC */
#include "icctl/past/past.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
past_write(const char *path, struct span text, mode_t mode)
{
	char tmp[PATH_MAX];
	int fd, n;

	n = snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path);
	if (n < 0 || (size_t)n >= sizeof(tmp) ||
	    (fd = mkostemp(tmp, O_CLOEXEC)) == -1) {
		warn("%s", path);
		return ICCTL_FAILED;
	}
	if (span_write(fd, text) == -1 || fchmod(fd, mode) == -1 ||
	    rename(tmp, path) == -1) {
		warn("%s", path);
		(void)unlink(tmp);
		close(fd);
		return ICCTL_FAILED;
	}
	close(fd);
	return ICCTL_OK;
}
