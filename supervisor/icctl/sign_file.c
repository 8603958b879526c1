/* SPDX-License-Identifier: ISC */
#include "icctl/sign_file.h"

#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "icctl/icctl.h"

int
sign_file_read(const char *path, char *text, size_t cap)
{
	int fd = strcmp(path, "-") == 0
		     ? STDIN_FILENO
		     : open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	while (
	    fd != -1 && len < cap && (n = read(fd, text + len, cap - len)) > 0)
		len += (size_t)n;
	if (fd == -1 || n == -1)
		icctl_warn_errno(path);
	else if (len == cap)
		warnx("%s: has more than %zu bytes", path, cap - 1);
	if (fd > STDIN_FILENO)
		close(fd);
	if (fd == -1 || n == -1 || len == cap)
		return -1;
	text[len] = '\0';
	return 0;
}
