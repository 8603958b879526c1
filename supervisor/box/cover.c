/* SPDX-License-Identifier: ISC */
#include "box/cover.h"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "box/box.h"
#include "box/inside.h"
#include "box/view.h"
#include "core/sup.h"

static struct {
	struct paths_id ids[OPTIONS_MAX_COVERS];
	int notify;
	struct loop_io io;
} cover_env = {.notify = -1};

/* Returns true if nothing of the path leads elsewhere, or into .git. */
static bool
cover_path_ok(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n <= 2 && strspn(s, ".") == n) ||
		    (n == 4 && strncmp(s, ".git", 4) == 0))
			return false;
		if (s[n] == '\0')
			return true;
	}
}

/* Open a directory of the workspace, through no link. Returns it, or -1. */
static int
cover_directory(const char *path, size_t len)
{
	int fd = openat(sup.workspace, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	    below;
	char name[256];
	size_t n;

	while (fd != -1 && len != 0) {
		n = strcspn(path, "/");
		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		below = openat(
		    fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = below;
		path += n + 1;
		len -= n + 1;
	}
	return fd;
}

/* Find one file. Returns 0, or -1 with errno set. */
static int
cover_stat(const char *path, int *dir, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash == NULL ? 0 : (size_t)(slash - path) + 1;

	if ((*dir = cover_directory(path, len)) == -1)
		return -1;
	if (fstatat(*dir, path + len, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	close(*dir);
	return -1;
}

/* End the session if one of the files is no longer the same. */
static void
cover_changed(struct loop_io *io, uint32_t events)
{
	char junk[4096];
	struct stat st;
	int dir;

	(void)io;
	(void)events;
	while (read(cover_env.notify, junk, sizeof(junk)) > 0)
		;
	for (size_t i = 0; i < sup.opt.ncover; i++) {
		bool same = cover_stat(sup.opt.cover[i], &dir, &st) == 0;

		if (same) {
			close(dir);
			same = st.st_dev == cover_env.ids[i].dev &&
			       st.st_ino == cover_env.ids[i].ino;
		}
		if (same)
			continue;
		end_request(SUP_EXIT_CONFIG, NULL,
		    "%s was replaced or removed, so that the sandbox would "
		    "have had the new one (--cover). Go on with icctl resume",
		    sup.opt.cover[i]);
		return;
	}
}

static int
cover_watch(int dir)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return inotify_add_watch(cover_env.notify, path,
		   IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
		       IN_MOVE_SELF | IN_DELETE_SELF) == -1
		   ? -1
		   : 0;
}

/*
 * Watch the directories between the workspace and the file: who moves one takes
 * the file along. Returns 0, or -1 with errno set.
 */
static int
cover_watch_above(const char *path)
{
	for (const char *s = path; (s = strchr(s, '/')) != NULL; s++) {
		const int dir = cover_directory(path, (size_t)(s - path) + 1);
		const int rv = dir == -1 ? -1 : cover_watch(dir);
		const int save = errno;

		if (dir != -1)
			close(dir);
		errno = save;
		if (rv == -1)
			return -1;
	}
	return 0;
}

static int
cover_one(size_t i, struct fault *fault)
{
	const char *path = sup.opt.cover[i];
	struct stat st;
	int dir, rv = 0;

	if (!cover_path_ok(path))
		return fault_set(fault,
		    "--cover %s: must be a path below the workspace, and "
		    "outside of .git: a clone has nothing of .git/config "
		    "(icctl start --clone .)",
		    path);
	if (cover_stat(path, &dir, &st) == -1)
		return fault_errno(fault, "--cover %s", path);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		rv = fault_set(fault,
		    "--cover %s: must be a file that has no other name "
		    "(no directory, link or hard link)",
		    path);
	else if (cover_watch(dir) == -1 || cover_watch_above(path) == -1)
		rv = fault_errno(fault, "--cover %s: inotify", path);
	cover_env.ids[i] = (struct paths_id){st.st_dev, st.st_ino};
	close(dir);
	return rv;
}

int
cover_find(struct fault *fault)
{
	if (sup.opt.ncover == 0)
		return 0;
	if (sup.opt.runtime != RUNTIME_BWRAP || sup.opt.clone != NULL)
		return fault_set(fault,
		    "--cover: needs bubblewrap and a workspace in place%s",
		    sup.opt.clone != NULL ? "; a clone has only what is in a "
					    "commit"
					  : "");
	if ((cover_env.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) ==
		-1 ||
	    loop_add(&sup.loop, &cover_env.io, cover_env.notify, EPOLLIN,
		cover_changed, NULL) == -1)
		return fault_errno(fault, "--cover");
	for (size_t i = 0; i < sup.opt.ncover; i++)
		if (cover_one(i, fault) == -1)
			return -1;
	return 0;
}

static void
cover_at(struct box *b, const char *top)
{
	char path[2 * PATH_MAX];

	for (size_t i = 0; i < sup.opt.ncover; i++) {
		snprintf(path, sizeof(path), "%s/%s", top, sup.opt.cover[i]);
		box_data(b, path, SPAN(""));
	}
}

void
cover_bind(struct box *b)
{
	cover_at(b, INSIDE_WORKSPACE);
	if (sup.opt.same_path)
		cover_at(b, sup.inside);
}

/* Cover a file of the host where a row of the view shows it. */
static void
cover_row(struct box *b, const struct view_row *r, const char *file)
{
	const char *top = strcmp(r->path, "/") == 0 ? "" : r->path;
	char path[3 * PATH_MAX];

	if (r->kind == PROTO_VIEW_HIDDEN || r->host == NULL ||
	    !paths_under(file, r->host))
		return;
	snprintf(path, sizeof(path), "%s%s", top,
	    strcmp(r->host, "/") == 0 ? file : file + strlen(r->host));
	box_data(b, path, SPAN(""));
}

void
cover_bind_view(struct box *b, const struct view *v)
{
	char file[2 * PATH_MAX];

	for (size_t i = 0; i < sup.opt.ncover; i++) {
		snprintf(file, sizeof(file), "%s/%s", sup.workspace_path,
		    sup.opt.cover[i]);
		for (unsigned k = 0; k < v->nrows; k++)
			cover_row(b, &v->rows[k], file);
	}
}
