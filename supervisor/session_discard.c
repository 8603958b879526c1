/* SPDX-License-Identifier: ISC */
/*
 * The directory of a session that never began: made by icctl, which leaves only
 * start.json in it.
 */
#include "session.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "resume/start_file.h"

bool
session_untouched(int dirfd)
{
	struct dirent *e;
	bool untouched = true;
	int fd;
	DIR *dir;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return false;
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return false;
	}
	while (untouched && (e = readdir(dir)) != NULL)
		untouched = strcmp(e->d_name, ".") == 0 ||
			    strcmp(e->d_name, "..") == 0 ||
			    strcmp(e->d_name, START_FILE) == 0;
	closedir(dir);
	return untouched;
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
