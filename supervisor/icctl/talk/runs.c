/* SPDX-License-Identifier: ISC */
/* Tells by the lock that icsupervisor holds whether a session runs. */
#include "icctl/talk/talk.h"

#include <sys/file.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool
talk_runs(int dirfd)
{
	int lock =
	    openat(dirfd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool runs =
	    flock(dirfd, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK;

	(void)flock(dirfd, LOCK_UN);
	if (lock == -1)
		return runs;
	runs = runs ||
	       (flock(lock, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK);
	close(lock);
	return runs;
}
