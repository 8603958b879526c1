/* SPDX-License-Identifier: ISC */
/* Refuses connections when every descriptor is in use: see spare.h. */
#include "common/net/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SPARE_FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)

void
spare_keep(struct spare *s)
{
	if (s->fd == -1)
		s->fd = open("/dev/null", O_PATH | O_CLOEXEC);
}

int
spare_accept(struct spare *s, int listener, struct sockaddr *from,
    socklen_t *len, struct span text)
{
	int fd = accept4(listener, from, len, SPARE_FLAGS);

	if (fd != -1 || (errno != EMFILE && errno != ENFILE))
		return fd;
	/* It may have been missing, and be there now. */
	spare_keep(s);
	if (s->fd == -1)
		return -1;
	close(s->fd);
	s->fd = -1;
	if ((fd = accept4(listener, NULL, NULL, SPARE_FLAGS)) != -1) {
		(void)send(fd, text.p, text.len, MSG_NOSIGNAL);
		close(fd);
	}
	spare_keep(s);
	errno = EMFILE;
	return -1;
}
