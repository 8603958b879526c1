/* SPDX-License-Identifier: ISC */
/* A connection is refused when every descriptor is in use. */
#include "tap.h"

#include <sys/resource.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "common/net/spare.h"

static int
client(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd == -1 ||
	    connect(fd, (const struct sockaddr *)un, sizeof(*un)) == -1)
		err(1, "connect");
	return fd;
}

int
main(void)
{
	/* An abstract name. */
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct pollfd p = {.events = POLLIN};
	struct spare spare = SPARE_INIT;
	socklen_t len = sizeof(un);
	struct rlimit all, none;
	int first, second, third, fd;
	char text[16] = "";

	snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, "ic-spare-%d",
	    (int)getpid());
	p.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p.fd == -1 || bind(p.fd, (struct sockaddr *)&un, len) == -1 ||
	    listen(p.fd, 4) == -1)
		err(1, "listener");
	spare_keep(&spare);
	first = client(&un);
	second = client(&un);
	third = client(&un);
	fd = spare_accept(&spare, p.fd, NULL, NULL, SPAN("full"));
	ok(fd != -1, "with free descriptors it accepts");
	ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 &&
		(fcntl(fd, F_GETFL) & O_NONBLOCK) != 0,
	    "close-on-exec and non-blocking");
	/* `fd` is the highest that is in use. */
	if (getrlimit(RLIMIT_NOFILE, &all) == -1)
		err(1, "limit");
	none = all;
	none.rlim_cur = (rlim_t)fd + 1;
	(void)setrlimit(RLIMIT_NOFILE, &none);
	errno = 0;
	is_int(spare_accept(&spare, p.fd, NULL, NULL, SPAN("full")), -1,
	    "without one it does not");
	is_int(errno, EMFILE, "and says why");
	is_int(read(second, text, sizeof(text)), 4, "the peer is told");
	is_str(text, "full", "so");
	is_int(read(second, text, sizeof(text)), 0, "and closed");
	is_int(spare_accept(&spare, p.fd, NULL, NULL, SPAN("again")), -1,
	    "the spare one is kept again");
	is_int(read(third, text, sizeof(text)), 5, "for the next");
	is_int(poll(&p, 1, 0), 0, "nothing waits");
	(void)setrlimit(RLIMIT_NOFILE, &all);
	close(fd);
	close(first);
	close(second);
	close(third);
	first = client(&un);
	fd = spare_accept(&spare, p.fd, NULL, NULL, SPAN("full"));
	ok(fd != -1, "with free ones it accepts again");
	close(fd);
	close(first);
	close(p.fd);
	return tap_done();
}
