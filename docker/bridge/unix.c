/* SPDX-License-Identifier: ISC */
/*
 * Connecting to the sockets of a session, moving bytes, the clock, and exiting
 * on errors.
 */
#include "bridge.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void
bridge_die(const char *what)
{
	fprintf(stderr, "ic-bridge: %s: %s\n", what, strerror(errno));
	exit(1);
}

uint64_t
bridge_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int
unix_connect(const char *path, int flags)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)) == -1)
		return -1;
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

bool
unix_whole(int fd, void *bytes, size_t len, bool in)
{
	uint8_t *p = bytes;
	ssize_t n;

	while (len != 0) {
		n = in ? read(fd, p, len) : write(fd, p, len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}
