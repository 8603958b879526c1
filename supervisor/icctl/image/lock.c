/* SPDX-License-Identifier: ISC */
/*
 * One build at a time for each user: two at once would make the same images
 * twice, and each would remove the other's. The kernel ends the lock with its
 * process, however that ends.
 */
#include "icctl/image/image.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

/* Say who builds, and wait for the end of it. */
static int
lock_wait(int fd)
{
	char text[200], shown[800];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	warnx("another icctl builds an image%s%s: waiting until it is done "
	      "(Ctrl-C ends the wait)",
	    text[0] != '\0' ? ", " : "",
	    log_vis(span_str(text), shown, sizeof(shown)));
	while (flock(fd, LOCK_EX) == -1)
		if (errno != EINTR)
			return -1;
	return 0;
}

int
image_lock(const struct icctl *ctl, const char *name)
{
	char dir[PATH_MAX], path[PATH_MAX + 8];
	int fd;

	snprintf(dir, sizeof(dir), "%.4000s/images", ctl->home);
	snprintf(path, sizeof(path), "%s/lock", dir);
	if ((mkdir(ctl->home, 0700) == -1 && errno != EEXIST) ||
	    (mkdir(dir, 0700) == -1 && errno != EEXIST) ||
	    (fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		 0600)) == -1) {
		warn("%s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == -1 &&
	    (errno != EWOULDBLOCK || lock_wait(fd) == -1)) {
		warn("%s", path);
		close(fd);
		return -1;
	}
	/* For those that wait; without it they wait as well. */
	if (ftruncate(fd, 0) == 0)
		(void)dprintf(fd, "that of %.64s (process %d)\n", name,
		    (int)getpid());
	return fd;
}
