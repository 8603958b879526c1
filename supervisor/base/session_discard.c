/* SPDX-License-Identifier: ISC */
/*
 * The directory of a session that never began: made by icctl, which leaves only
 * start.json in it.
 */
#include "session.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/tree.h"
#include "resume/start_file.h"

bool
session_untouched(int dirfd)
{
	return tree_empty(dirfd, START_FILE);
}

void
session_abandon(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return;
	/* Without start.json, icctl did not make it. */
	if (session_untouched(fd) && unlinkat(fd, START_FILE, 0) == 0)
		(void)rmdir(path);
	close(fd);
}
