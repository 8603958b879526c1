/* SPDX-License-Identifier: ISC */
/*
 * In a linked worktree the repository's directory is read-only, but for objects,
 * branches and their logs, and for the worktree's own directory. What git runs
 * or follows is not among them. git itself cannot change the list of packed
 * branches there; the start says so.
 */
#include "box/git/checkout.h"

#include <sys/stat.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/small_file.h"
#include "box/box.h"
#include "box/inside.h"
#include "box/system/survey.h"
#include "box/view.h"
#include "core/sup.h"

#define CHECKOUT_TEXT (PATH_MAX + 16U)
#define CHECKOUT_CONFIG 262144U

struct checkout checkout = {.own = -1};

/* Directories with commands that git goes on with later. */
static const char *const checkout_todo[] = {
    "rebase-merge", "rebase-apply", "sequencer"};
static bool checkout_todo_old[nitems(checkout_todo)];

static void
checkout_clone(const char *what)
{
	sup_warn("%s. With a clone everything works: icctl start --clone .",
	    what);
}

/* Returns true if both are the same object. */
static bool
checkout_same(int dirfd, const char *path, int fd)
{
	struct stat a, b;

	return fstatat(dirfd, path, &a, 0) == 0 && fstat(fd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Show an object at its own path. Returns 0, or -1 with errno set. */
static int
checkout_show(int dirfd, const char *name, bool writable)
{
	struct stat st;
	char *path;
	int fd;

	fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1 || S_ISLNK(st.st_mode) ||
	    checkout.nshown == CHECKOUT_MAX_SHOWN ||
	    (path = paths_of_fd(fd)) == NULL) {
		close(fd);
		return -1;
	}
	checkout.shown[checkout.nshown].fd = fd;
	checkout.shown[checkout.nshown].path = path;
	checkout.shown[checkout.nshown++].writable = writable;
	return 0;
}

static int
checkout_show_if(int dirfd, const char *name, bool writable)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    S_ISLNK(st.st_mode))
		return 0;
	return checkout_show(dirfd, name, writable);
}

/* Forget what was found so far. */
static void
checkout_none(void)
{
	for (unsigned i = 0; i < checkout.nshown; i++) {
		close(checkout.shown[i].fd);
		free(checkout.shown[i].path);
	}
	checkout.nshown = 0;
	free(checkout.gitfile);
	checkout.gitfile = NULL;
	checkout.link = false;
}

/* Returns true if the sandbox can have the directory at its own path. */
static bool
checkout_fits(int fd)
{
	char *path = paths_of_fd(fd);
	bool ok;

	ok = path != NULL && !view_taken(path) &&
	     !paths_under(path, "/home/agent") &&
	     !paths_under("/home/agent", path) && !paths_under(path, "/usr") &&
	     !paths_under(path, "/etc") && !paths_under(path, "/opt");
	free(path);
	return ok;
}

/*
 * Have .git in the sandbox name the directory by its real path, and the
 * workspace be at its path outside, which the directory names.
 */
static int
checkout_file(int git)
{
	char *path = paths_of_fd(git);
	int n = -1;

	if (path != NULL)
		n = asprintf(&checkout.gitfile, "gitdir: %s\n", path);
	free(path);
	if (n == -1) {
		checkout.gitfile = NULL;
		return -1;
	}
	checkout.link = !sup.opt.same_path &&
			strcmp(sup.workspace_path, INSIDE_WORKSPACE) != 0;
	return 0;
}

/* Returns true if a file of the configuration has the word, in any case. */
static bool
checkout_config_has(int git, const char *word)
{
	static char text[CHECKOUT_CONFIG];
	ssize_t n = small_file_read(git, "config", text, sizeof(text));

	/* One that cannot be read whole may have it. */
	return n < 0 || n == (ssize_t)sizeof(text) - 1 ||
	       strcasestr(text, word) != NULL;
}

/* Show the parts of a repository that a linked worktree needs. */
static int
checkout_linked_parts(int git, int common)
{
	/*
	 * A bare repository that has worktrees beside it has no logs yet; git
	 * makes this directory with the first commit in a worktree.
	 */
	if (!sup.read_only)
		(void)mkdirat(common, "logs", 0777);
	if (checkout_show(common, ".", false) == -1 ||
	    checkout_show(common, "objects", true) == -1 ||
	    checkout_show(common, "objects/info", false) == -1 ||
	    checkout_show(common, "refs", true) == -1 ||
	    checkout_show_if(common, "logs", true) == -1 ||
	    checkout_show(git, ".", true) == -1 ||
	    checkout_show(git, "gitdir", false) == -1 ||
	    checkout_show(git, "commondir", false) == -1 ||
	    checkout_show_if(git, "config.worktree", false) == -1 ||
	    checkout_show_if(git, "modules", false) == -1)
		return -1;
	for (size_t i = 0; i < nitems(checkout_todo); i++) {
		checkout_todo_old[i] =
		    faccessat(git, checkout_todo[i], F_OK, 0) == 0;
		if (checkout_show_if(git, checkout_todo[i], false) == -1)
			return -1;
	}
	checkout.own = fcntl(git, F_DUPFD_CLOEXEC, 0);
	return checkout_file(git);
}

static int
checkout_linked(int git, int common, int file, struct fault *fault)
{
	char text[CHECKOUT_TEXT], *path;
	struct stat st;
	int rv;

	/* It says that its working tree is here, and it is one of `common`. */
	if (small_file_read(git, "gitdir", text, sizeof(text)) <= 0)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (!checkout_same(git, text, file) ||
	    !checkout_same(git, "../..", common)) {
		checkout_clone("this linked worktree's git directory does not "
			       "name this directory as its working tree, so "
			       "that the sandbox does not show it and git "
			       "does not work there");
		return 0;
	}
	/* A file that is not there could be written. */
	if (!checkout_fits(common) ||
	    (checkout_config_has(common, "worktreeconfig") &&
		fstatat(git, "config.worktree", &st, AT_SYMLINK_NOFOLLOW) ==
		    -1)) {
		checkout_clone("this is a linked worktree, whose git directory "
			       "the sandbox cannot show safely, so that git "
			       "does not work there");
		return 0;
	}
	if ((path = paths_of_fd(common)) == NULL)
		return fault_errno(fault, "git directory");
	rv = guards_check(&sup.guards, common, "git directory", path, fault);
	if (rv == 0 && (checkout_linked_parts(git, common) == -1 ||
			   checkout_trees(common, git) == -1)) {
		checkout_none();
		checkout_clone("this is a linked worktree, and its git "
			       "directory lacks parts that a sandbox needs, so "
			       "that git does not work there");
	} else if (rv == 0 && places_add(&sup.host.places, common) == -1) {
		rv = fault_errno(fault, "%s", path);
	} else if (rv == 0) {
		sup_warn("this is a linked worktree of %s: the agent can "
			 "write its objects and branches; git there changes no "
			 "configuration, deletes no branch and cleans up "
			 "nothing. With a clone it can: icctl start --clone .",
		    path);
	}
	free(path);
	return rv;
}

/* Returns true if core.worktree leads to the workspace. */
static bool
checkout_worktree(int git)
{
	static char text[CHECKOUT_CONFIG];
	char *line, *rest = text, *end;

	if (small_file_read(git, "config", text, sizeof(text)) <= 0)
		return false;
	while ((line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		if (strncasecmp(line, "worktree", 8) != 0)
			continue;
		line += 8;
		line += strspn(line, " \t");
		if (*line++ != '=')
			continue;
		line += strspn(line, " \t\"");
		end = line + strlen(line);
		while (end > line && (isspace((unsigned char)end[-1]) ||
					 end[-1] == '"'))
			*--end = '\0';
		return checkout_same(git, line, sup.workspace);
	}
	return false;
}

/*
 * A whole git directory outside, of a submodule, or one that `git init
 * --separate-git-dir` made: files that git follows could be created in it, so
 * that it is read-only.
 */
static int
checkout_separate(int git, bool file, struct fault *fault)
{
	char *path;
	int rv;

	if (!file || !checkout_worktree(git) || !checkout_fits(git)) {
		checkout_clone("the git directory of the workspace is "
			       "elsewhere, and the sandbox does not show it, so "
			       "that git does not work there");
		return 0;
	}
	if ((path = paths_of_fd(git)) == NULL)
		return fault_errno(fault, "git directory");
	rv = guards_check(&sup.guards, git, "git directory", path, fault);
	if (rv == 0 && (checkout_show(git, ".", false) == -1 ||
			   checkout_file(git) == -1 ||
			   places_add(&sup.host.places, git) == -1))
		rv = fault_errno(fault, "%s", path);
	free(path);
	if (rv == 0)
		checkout_clone("the git directory of the workspace is "
			       "elsewhere: git in the sandbox reads it, and "
			       "cannot commit");
	return rv;
}

/* Returns 1 if the directory lies in the workspace, 0 if not. */
static bool
checkout_in_workspace(int fd)
{
	return paths_within(fd, sup.workspace) == 1;
}

static int
checkout_elsewhere(int git, int file, bool is_file, struct fault *fault)
{
	char text[CHECKOUT_TEXT];
	int common, rv;

	if (checkout_in_workspace(git)) {
		checkout.link = is_file && !sup.opt.same_path;
		return 0;
	}
	if (!is_file || small_file_read(git, "commondir", text,
			    sizeof(text)) <= 0)
		return checkout_separate(git, is_file, fault);
	text[strcspn(text, "\n")] = '\0';
	common = openat(git, text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (common == -1)
		return fault_errno(fault, "commondir");
	rv = checkout_linked(git, common, file, fault);
	close(common);
	return rv;
}

/* The workspace has no .git: say so if it is a part of a repository. */
static void
checkout_above(void)
{
	char path[PATH_MAX + 8], *slash;
	size_t n;

	if (strlcpy(path, sup.workspace_path, PATH_MAX) >= PATH_MAX)
		return;
	while ((slash = strrchr(path, '/')) != NULL && slash != path) {
		*slash = '\0';
		n = strlen(path);
		memcpy(path + n, "/.git", 6);
		if (access(path, F_OK) == 0) {
			path[n] = '\0';
			sup_warn("the workspace is a part of the repository %s, "
				 "whose .git the sandbox does not show, so that "
				 "git does not work there. Start in %s; or: "
				 "icctl start --clone %s",
			    path, path, path);
			return;
		}
		path[n] = '\0';
	}
}

/* Say that objects of the repository are in another one. */
static void
checkout_borrowed(int git)
{
	char text[CHECKOUT_TEXT];

	if (small_file_read(git, "objects/info/alternates", text,
		sizeof(text)) <= 0)
		return;
	checkout_clone("the repository borrows objects of another one, which "
		       "the sandbox does not show, so that git there may not "
		       "find them. `git repack -a -d` outside copies them");
}

static int
checkout_open(int file, const struct stat *st, struct fault *fault)
{
	char text[CHECKOUT_TEXT], path[2 * PATH_MAX];
	int git, rv;

	if (S_ISREG(st->st_mode)) {
		if (small_file_read(sup.workspace, ".git", text,
			sizeof(text)) <= 8 ||
		    strncmp(text, "gitdir: ", 8) != 0)
			return 0;
		text[strcspn(text, "\n")] = '\0';
		snprintf(path, sizeof(path), "%s%s%s",
		    text[8] == '/' ? "" : sup.workspace_path,
		    text[8] == '/' ? "" : "/", text + 8);
		git = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else {
		git = openat(
		    sup.workspace, ".git", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (git == -1)
		return 0;
	if (S_ISDIR(st->st_mode)) {
		checkout_borrowed(git);
		rv = checkout_trees(git, -1);
		if (rv == -1)
			fault_errno(fault, ".git/worktrees");
		checkout.link = checkout.ntrees != 0 && !sup.opt.same_path;
	} else {
		rv = checkout_elsewhere(git, file, S_ISREG(st->st_mode), fault);
	}
	close(git);
	return rv;
}

int
checkout_find(struct fault *fault)
{
	struct stat st;
	int file, rv = 0;

	if (sup.opt.runtime == RUNTIME_NONE || sup.opt.trial != NULL ||
	    sup.opt.check || sup.opt.workspace == NULL)
		return 0;
	file = openat(sup.workspace, ".git", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (file == -1) {
		if (faccessat(sup.workspace, "HEAD", F_OK, 0) == -1)
			checkout_above();
		return 0;
	}
	if (fstat(file, &st) == 0 && S_ISDIR(st.st_mode))
		rv = checkout_open(file, &st, fault);
	else if (sup.opt.runtime != RUNTIME_BWRAP)
		checkout_clone("the git directory of the workspace is elsewhere, "
			       "and a container does not show it, so that git "
			       "does not work there");
	else
		rv = checkout_open(file, &st, fault);
	close(file);
	if (view_taken(sup.workspace_path))
		checkout.link = false;
	return rv;
}

void
checkout_say_left(void)
{
	char *path = NULL;

	for (size_t i = 0;
	     checkout.own != -1 && i < nitems(checkout_todo); i++) {
		if (checkout_todo_old[i] ||
		    faccessat(checkout.own, checkout_todo[i], F_OK,
			AT_SYMLINK_NOFOLLOW) == -1 ||
		    (path = paths_of_fd(checkout.own)) == NULL)
			continue;
		sup_warn("the agent has left a rebase or the like unfinished: "
			 "read %s/%s before you continue it, because git may "
			 "run commands that it names; or end it: git rebase "
			 "--quit",
		    path, checkout_todo[i]);
		free(path);
	}
}

void
checkout_bind(struct box *b)
{
	const char *path;
	char *empty;

	for (unsigned i = 0; i < checkout.nshown; i++)
		box_bind(b, checkout.shown[i].fd, checkout.shown[i].path,
		    checkout.shown[i].writable && !sup.read_only);
	if (checkout.gitfile != NULL)
		box_data(b, INSIDE_WORKSPACE "/.git",
		    span_str(checkout.gitfile));
	if (checkout.gitfile != NULL && sup.opt.same_path) {
		if (asprintf(&empty, "%s/.git", sup.inside) == -1) {
			b->failed = true;
			return;
		}
		box_data(b, empty, span_str(checkout.gitfile));
		free(empty);
	}
	if (checkout.link && !paths_under("/home/agent", sup.workspace_path) &&
	    !paths_under(sup.workspace_path, "/home/agent"))
		box_args(b, "--symlink", INSIDE_WORKSPACE, sup.workspace_path);
	if (asprintf(&empty, "%s/system/" SURVEY_EMPTY, sup.paths.home) == -1) {
		b->failed = true;
		return;
	}
	for (unsigned i = 0; (path = checkout_tree(i)) != NULL; i++)
		box_args(b, "--ro-bind", empty, path);
	free(empty);
}
