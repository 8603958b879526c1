/* SPDX-License-Identifier: ISC */
/* Closes a descriptor on the way out of a function that has failed. */
#ifndef CLOSE_KEEP_H
#define CLOSE_KEEP_H

#include <errno.h>
#include <unistd.h>

/* Close the descriptor and keep errno. Returns -1. */
static inline int
close_keep(int fd)
{
	const int save = errno;

	close(fd);
	errno = save;
	return -1;
}

#endif
