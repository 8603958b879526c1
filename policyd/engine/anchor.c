/* SPDX-License-Identifier: ISC */
/*
 * The workspace's own descriptor, from which its paths are looked up. Most
 * paths of a session begin with the workspace, whose parent directories the
 * agent cannot change, so one check that the name still leads to the same
 * directory replaces a lookup of each component. The check is repeated for each
 * path: a directory that was moved, or a link in its place, is noticed at once.
 */
#include "engine/path.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <unistd.h>

void
anchor_drop(struct path_anchor *a)
{
	if (a->fd != -1)
		close(a->fd);
	a->fd = -1;
}

void
anchor_learn(struct path_anchor *a, int dir, const char *name)
{
	struct path_object o = {0};
	int fd;

	if ((fd = openat(dir, name,
		 O_PATH | O_NOFOLLOW | O_CLOEXEC | O_DIRECTORY)) == -1)
		return;
	if (path_object(fd, "", &o) == -1 || o.fs == PATH_FS_MAGIC) {
		close(fd);
		return;
	}
	anchor_drop(a);
	a->fd = fd;
	a->object = o;
}

bool
anchor_holds(struct path_anchor *a, int root, const char *name)
{
	struct path_object o = a->object;

	if (a->fd == -1)
		return false;
	if (path_object(root, name, &o) == -1 || !S_ISDIR(o.mode) ||
	    o.dev != a->object.dev || o.ino != a->object.ino) {
		anchor_drop(a);
		return false;
	}
	a->object = o;
	return true;
}
