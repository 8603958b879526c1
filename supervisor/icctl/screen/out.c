/* SPDX-License-Identifier: ISC */
/*
 * Output of a viewer: to the person's terminal, and to termd. viewer.c decides
 * how to wait for the terminal and how to leave when it is gone.
 */
#include "icctl/screen/viewer.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* A pipe that poll() reports as writable takes this many bytes at once. */
#define OUT_CHUNK 4096U

struct viewer viewer;

bool
viewer_put_off(enum viewer_later what)
{
	if (viewer.writing == 0)
		return false;
	viewer.later |= what;
	return true;
}

int
viewer_write(int fd, const void *src, size_t len)
{
	const uint8_t *p = src;
	ssize_t n = 0;

	viewer.writing++;
	while (len != 0) {
		viewer.wait(fd, POLLOUT);
		n = write(fd, p, len < OUT_CHUNK ? len : OUT_CHUNK);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == -1)
			break;
		p += n;
		len -= (size_t)n;
	}
	viewer.writing--;
	return n == -1 ? -1 : 0;
}

void
viewer_send(enum msg_type type, const void *msg)
{
	if (viewer.chan != NULL)
		(void)chan_send(viewer.chan, type, msg, -1);
}
