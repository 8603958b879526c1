/* SPDX-License-Identifier: ISC */
#include "config/here.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HERE_BOOT "/proc/sys/kernel/random/boot_id"

struct here *
here(void)
{
	static struct here h;
	ssize_t n = -1;
	int fd;

	if (h.host[0] != '\0')
		return &h;
	if (gethostname(h.host, sizeof(h.host) - 1) == -1 || h.host[0] == '\0')
		(void)strlcpy(h.host, "localhost", sizeof(h.host));
	if ((fd = open(HERE_BOOT, O_RDONLY | O_CLOEXEC)) != -1) {
		n = read(fd, h.boot, sizeof(h.boot) - 1);
		close(fd);
	}
	h.boot[n > 0 ? n : 0] = '\0';
	h.boot[strcspn(h.boot, "\n")] = '\0';
	if (h.boot[0] == '\0')
		(void)strlcpy(h.boot, "unknown", sizeof(h.boot));
	return &h;
}

int
here_write(int dirfd, const char *name)
{
	char text[128];
	ssize_t n;
	int fd;

	fd = openat(dirfd, name,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
	    0600);
	if (fd == -1)
		return -1;
	snprintf(text, sizeof(text), "%s %s\n", here()->host, here()->boot);
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

enum here_is
here_read(int dirfd, const char *name, char host[65])
{
	char text[128], boot[40];
	ssize_t n;
	int fd;

	fd =
	    openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return HERE_UNKNOWN;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%64s %39s", host, boot) != 2)
		return HERE_UNKNOWN;
	if (strcmp(boot, here()->boot) == 0)
		return HERE_OURS;
	return strcmp(host, here()->host) == 0 ? HERE_STALE : HERE_ELSEWHERE;
}

const char *
here_beside(const char *link, char dst[300])
{
	snprintf(dst, 300, ".%.255s.host", link);
	return dst;
}
