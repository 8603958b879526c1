/* SPDX-License-Identifier: ISC */
/*
 * Creates files and sockets below the session directory, through descriptors.
 * home/ belongs to the agent and may contain traps, so no link in it is
 * followed and only files that were just created are opened.
 */
#include "session.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
session_listen(int dirfd, const char *name, unsigned mode)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char made[64];
	int fd, n, save;

	/* Use the descriptor, because the path may be longer than sun_path. */
	n = snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "/proc/self/fd/%d/.%s", dirfd, name);
	if (n < 0 || (size_t)n >= sizeof(sun.sun_path) ||
	    (size_t)snprintf(made, sizeof(made), ".%s", name) >= sizeof(made)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (unlinkat(dirfd, made, 0) == -1 && errno != ENOENT)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    fchmodat(dirfd, made, mode, 0) == -1 || listen(fd, 128) == -1 ||
	    renameat(dirfd, made, dirfd, name) == -1) {
		save = errno;
		close(fd);
		(void)unlinkat(dirfd, made, 0);
		errno = save;
		return -1;
	}
	return fd;
}

void
session_unlisten(int dirfd)
{
	static const char *const names[] = {"control.sock", "metrics.sock",
	    "sockets/proxy.sock", "sockets/mitm-proxy.sock",
	    "sockets/terminal.sock", "sockets/publish.sock",
	    "sockets/bridge.sock", "sockets/services.sock"};

	for (size_t i = 0; i < nitems(names); i++)
		(void)unlinkat(dirfd, names[i], 0);
}

static int
session_put(int fd, struct span s)
{
	ssize_t n;

	while (s.len != 0) {
		n = write(fd, s.p, s.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		s.p += n;
		s.len -= (size_t)n;
	}
	return 0;
}

int
session_write(int dirfd, const char *name, unsigned mode, struct span s)
{
	return session_copy(dirfd, name, mode, -1, s);
}

static int
session_pour(int to, int from)
{
	ssize_t n;

	do {
		n = sendfile(to, from, NULL, 1U << 20);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -1;
}

int
session_copy(int dirfd, const char *name, unsigned mode, int src, struct span s)
{
	char tmp[300];
	int fd, rv = -1, save;

	snprintf(tmp, sizeof(tmp), ".%.250s.new", name);
	(void)unlinkat(dirfd, tmp, 0);
	fd = openat(dirfd, tmp,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if ((src == -1 || session_pour(fd, src) == 0) &&
	    session_put(fd, s) == 0 && fchmod(fd, mode) == 0 &&
	    renameat(dirfd, tmp, dirfd, name) == 0)
		rv = 0;
	save = errno;
	close(fd);
	if (rv == -1)
		(void)unlinkat(dirfd, tmp, 0);
	errno = save;
	return rv;
}

int
session_seed(int dirfd, const char *path, unsigned mode, struct span s)
{
	const char *rest = path, *slash;
	char part[256];
	int cur, next, rv = -1, save;
	size_t n;

	if ((cur = fcntl(dirfd, F_DUPFD_CLOEXEC, 0)) == -1)
		return -1;
	while ((slash = strchr(rest, '/')) != NULL) {
		n = (size_t)(slash - rest);
		if (n == 0 || n >= sizeof(part) ||
		    (n <= 2 && rest[0] == '.' && rest[n - 1] == '.')) {
			errno = EINVAL;
			goto out;
		}
		memcpy(part, rest, n);
		part[n] = '\0';
		if (mkdirat(cur, part, 0700) == -1 && errno != EEXIST)
			goto out;
		next = openat(
		    cur, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next == -1)
			goto out;
		close(cur);
		cur = next;
		rest = slash + 1;
	}
	rv = session_write(cur, rest, mode, s);
out:
	save = errno;
	close(cur);
	errno = save;
	return rv;
}
