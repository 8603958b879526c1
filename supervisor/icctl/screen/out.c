/* SPDX-License-Identifier: ISC */
/*
 * The two ways out of a viewer: the person's terminal, and termd.  How to wait
 * for the first and how to leave when it is gone is the main program's.
 */
#include "icctl/screen/viewer.h"

#include <errno.h>
#include <unistd.h>

/* A pipe that poll calls writable takes so many bytes at once. */
#define OUT_CHUNK 4096U

struct viewer viewer;

int
viewer_write(int fd, const void *src, size_t len)
{
	const uint8_t *p = src;
	ssize_t n;

	while (len != 0) {
		viewer.wait(fd);
		n = write(fd, p, len < OUT_CHUNK ? len : OUT_CHUNK);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == -1)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

void
viewer_send(enum msg_type type, const void *msg)
{
	if (viewer.chan != NULL)
		(void)chan_send(viewer.chan, type, msg, -1);
}
