/* SPDX-License-Identifier: ISC */
/*
 * Finds the directories of a repository of the user: its working tree, its git
 * directory, the one that linked worktrees share, and the object directories
 * that it borrows from. A sandbox sees them at their own paths.
 */
#ifndef REPO_PLACE_H
#define REPO_PLACE_H

#include <limits.h>

#include "repo/git.h"

struct repo_place {
	int top; /* O_PATH, the directory that the user named */
	char top_path[PATH_MAX];
	char git[PATH_MAX];     /* the git directory */
	char objects[PATH_MAX]; /* the directory of its objects */
	/* In the view: that directory, and behind it those that it borrows. */
	unsigned objects_at;
	int fds[REPO_MAX_BINDS];
	unsigned nfds;
	bool bare, shallow;
	struct repo_view view;
};

enum repo_place_how {
	REPO_PLACE_GIT,   /* git directories, read-only */
	REPO_PLACE_TREE,  /* and the working tree, read-only */
	REPO_PLACE_WRITE, /* git directories, writable but for the objects */
};

/* Returns 0, or -1 with the fault set. */
int repo_place_open(
    struct repo_place *, const char *dir, enum repo_place_how, struct fault *);
void repo_place_close(struct repo_place *);

#endif
