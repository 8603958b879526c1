/* SPDX-License-Identifier: ISC */
#include "repo/place.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"

#define PLACE_TEXT 4096U
#define PLACE_DEPTH 5U

/*
 * Read a small regular file below `dirfd`. Returns its length, 0 if there is
 * none, or -1.
 */
static ssize_t
place_text(int dirfd, const char *name, char text[PLACE_TEXT + 1])
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	text[0] = '\0';
	fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, text, PLACE_TEXT + 1);
	close(fd);
	if (n > (ssize_t)PLACE_TEXT)
		n = -1;
	text[n > 0 ? n : 0] = '\0';
	return n;
}

static int
place_keep(struct repo_place *p, int fd)
{
	if (p->nfds == REPO_MAX_BINDS) {
		close(fd);
		errno = E2BIG;
		return -1;
	}
	p->fds[p->nfds++] = fd;
	return fd;
}

/*
 * Open a directory and write its absolute path, without links, to `path`.
 * Returns the descriptor, which the place keeps, or -1 with errno set.
 */
static int
place_dir(struct repo_place *p, int at, const char *name, char path[PATH_MAX])
{
	char *real;
	int fd;

	fd = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || place_keep(p, fd) == -1)
		return -1;
	if ((real = paths_of_fd(fd)) == NULL)
		return -1;
	if (strlcpy(path, real, PATH_MAX) >= PATH_MAX) {
		free(real);
		errno = ENAMETOOLONG;
		return -1;
	}
	free(real);
	return fd;
}

static int
place_bind(struct repo_place *p, int fd, const char *path, bool writable)
{
	return repo_view_add(&p->view, fd, path, writable);
}

/*
 * Bind the directories of objects that this one borrows from, as its file
 * info/alternates names them.
 */
static int
place_alternates(struct repo_place *p, int objects, unsigned depth)
{
	char text[PLACE_TEXT + 1], path[PATH_MAX], *line, *rest = text;
	ssize_t n = place_text(objects, "info/alternates", text);
	int fd;

	if (n <= 0)
		return (int)n;
	if (depth == PLACE_DEPTH) {
		errno = ELOOP;
		return -1;
	}
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (line[0] == '\0' || line[0] == '#')
			continue;
		if ((fd = place_dir(p, objects, line, path)) == -1 ||
		    place_bind(p, fd, path, false) == -1 ||
		    place_alternates(p, fd, depth + 1) == -1)
			return -1;
	}
	return 0;
}

static bool
place_is_bare(int top)
{
	struct stat st;

	return faccessat(top, "HEAD", F_OK, 0) == 0 &&
	       fstatat(top, "objects", &st, 0) == 0 && S_ISDIR(st.st_mode) &&
	       fstatat(top, "refs", &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static int
place_none(const struct repo_place *p, bool into, struct fault *fault)
{
	char path[PATH_MAX + 8], *slash;

	(void)strlcpy(path, p->top_path, PATH_MAX);
	while ((slash = strrchr(path, '/')) != NULL && slash != path) {
		*slash = '\0';
		(void)strlcat(path, "/.git", sizeof(path));
		if (access(path, F_OK) == 0) {
			path[strlen(path) - 5] = '\0';
			return fault_set(fault,
			    "%s is inside a git repository, and not its top "
			    "directory: name %s",
			    p->top_path, path);
		}
		path[strlen(path) - 5] = '\0';
	}
	if (into)
		return fault_set(fault,
		    "%s is no git repository: it has no .git. To make it one: "
		    "git init there; or name the directory of another one",
		    p->top_path);
	return fault_set(fault,
	    "%s is no git repository: it has no .git. To make it one: git init "
	    "there, and commit; or start without --clone, and the agent works "
	    "on the directory itself",
	    p->top_path);
}

/* Find the git directory. Returns its descriptor, or -1 with the fault set. */
static int
place_git(struct repo_place *p, bool into, struct fault *fault)
{
	char text[PLACE_TEXT + 1];
	struct stat st;
	int fd = -1;

	if (fstatat(p->top, ".git", &st, 0) == -1) {
		if (!place_is_bare(p->top))
			return place_none(p, into, fault);
		p->bare = true;
		fd = place_dir(p, p->top, ".", p->git);
	} else if (S_ISDIR(st.st_mode)) {
		fd = place_dir(p, p->top, ".git", p->git);
	} else if (place_text(p->top, ".git", text) > 8 &&
		   strncmp(text, "gitdir: ", 8) == 0) {
		text[8 + strcspn(text + 8, "\n")] = '\0';
		fd = place_dir(p, p->top, text + 8, p->git);
	} else {
		return fault_set(
		    fault, "%s/.git is no git directory", p->top_path);
	}
	if (fd == -1)
		return fault_errno(fault, "%s/.git", p->top_path);
	return fd;
}

/* Find what several worktrees share, and bind everything. */
static int
place_rest(struct repo_place *p, int git, bool writable)
{
	char text[PLACE_TEXT + 1], path[PATH_MAX];
	int common = git, objects;
	struct stat st;
	ssize_t n;

	if ((n = place_text(git, "commondir", text)) == -1)
		return -1;
	(void)strlcpy(path, p->git, sizeof(path));
	if (n > 0) {
		text[strcspn(text, "\n")] = '\0';
		if ((common = place_dir(p, git, text, path)) == -1 ||
		    place_bind(p, common, path, writable) == -1)
			return -1;
	}
	/* A worktree's own directory is usually below the common one. */
	if (place_bind(p, git, p->git, writable) == -1)
		return -1;
	p->shallow = fstatat(common, "shallow", &st, 0) == 0 && st.st_size > 0;
	p->objects_at = p->view.n;
	if ((objects = place_dir(p, common, "objects", p->objects)) == -1 ||
	    place_bind(p, objects, p->objects, false) == -1)
		return -1;
	return place_alternates(p, objects, 0);
}

int
repo_place_open(struct repo_place *p, const char *dir, enum repo_place_how how,
    struct fault *fault)
{
	/* The working tree of a submodule is not where its git directory is. */
	static const char *const no_tree[] = {"GIT_WORK_TREE", ".", NULL};
	int git;

	memset(p, 0, sizeof(*p));
	if ((p->top = place_dir(p, AT_FDCWD, dir, p->top_path)) == -1) {
		fault_errno(fault, "%s", dir);
		goto bad;
	}
	if ((git = place_git(p, how == REPO_PLACE_WRITE, fault)) == -1)
		goto bad;
	if ((how == REPO_PLACE_TREE &&
		place_bind(p, p->top, p->top_path, false) == -1) ||
	    place_rest(p, git, how == REPO_PLACE_WRITE) == -1) {
		fault_errno(fault, "%s", p->git);
		goto bad;
	}
	p->view.dir = how == REPO_PLACE_TREE ? p->top_path : p->git;
	p->view.env = how == REPO_PLACE_TREE ? NULL : no_tree;
	return 0;
bad:
	repo_place_close(p);
	return -1;
}

void
repo_place_close(struct repo_place *p)
{
	for (unsigned i = 0; i < p->nfds; i++)
		close(p->fds[i]);
	p->nfds = 0;
	repo_view_free(&p->view);
}
