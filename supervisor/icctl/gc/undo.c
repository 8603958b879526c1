/* SPDX-License-Identifier: ISC */
/*
 * Stores of checkpoints: those of workspaces that are gone, or in which no
 * session made one for a long time.
 */
#include "icctl/gc/gc.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "undo/run.h"

#define GC_UNDO_S (30 * 86400)

/* Returns the reason why the store may go, or NULL. */
static const char *
undo_stale(const struct gc *g, int fd, char *why, size_t cap)
{
	char workspace[4096] = "";
	const int64_t most = g->rule.older != -1 ? g->rule.older : GC_UNDO_S;
	struct stat st;

	(void)small_file_read(fd, "workspace", workspace, sizeof(workspace));
	if (workspace[0] == '/' && stat(workspace, &st) == -1 &&
	    errno == ENOENT) {
		snprintf(why, cap, "checkpoints; %.4000s is gone", workspace);
		return why;
	}
	if (fstatat(fd, SNAP_TURNS, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    g->now - (int64_t)st.st_mtim.tv_sec <= most)
		return NULL;
	snprintf(why, cap, "old checkpoints of %.4000s", workspace);
	return why;
}

/* Remove the store, unless one is being made or put back. */
static void
undo_one(struct gc *g, int all, const char *name)
{
	struct tree t = {.dry = g->dry, .dev = (dev_t)g->dev, .top = -1};
	char why[4200];
	int fd, lock;

	if ((fd = tree_open(all, name, false)) == -1)
		return;
	if (undo_stale(g, fd, why, sizeof(why)) == NULL) {
		close(fd);
		return;
	}
	lock =
	    openat(fd, SNAP_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (lock == -1 || flock(lock, LOCK_EX | LOCK_NB) == 0) {
		tree_whole(&t, all, name);
		g->bytes += t.bytes;
		g->failed += t.failed && !g->dry;
		gc_say(g, t.failed && !g->dry ? "failed" : "removed", name,
		    t.bytes, why);
	}
	if (lock != -1)
		close(lock);
	close(fd);
}

void
gc_undo(struct gc *g)
{
	char path[4200];
	struct dirent *e;
	struct stat st;
	DIR *d;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/" UNDO_STORES, g->ctl->home);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	if (fstat(fd, &st) == -1 || (d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	g->dev = (uint64_t)st.st_dev;
	while ((e = readdir(d)) != NULL)
		if (strlen(e->d_name) == UNDO_ID - 1)
			undo_one(g, fd, e->d_name);
	closedir(d);
}
