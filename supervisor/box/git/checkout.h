/* SPDX-License-Identifier: ISC */
/*
 * A checkout whose git directory is not a directory inside of it: a linked
 * worktree, a submodule, a .git that is a link. And the other way round: a
 * repository in the workspace with worktrees elsewhere, which `git worktree
 * prune` in the sandbox would take for lost.
 *
 * The agent of an earlier session may have written .git and everything in the
 * workspace. A directory outside is shown only if it says itself that this
 * workspace is its working tree.
 */
#ifndef BOX_CHECKOUT_H
#define BOX_CHECKOUT_H

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"

#define CHECKOUT_MAX_SHOWN 16U
#define CHECKOUT_MAX_TREES 200U

struct box;

struct checkout {
	/* Directories and files outside of the workspace, at their own paths. */
	struct {
		int fd;
		char *path;
		bool writable;
	} shown[CHECKOUT_MAX_SHOWN];
	unsigned nshown;
	char *gitfile; /* the text of .git in the sandbox, or NULL */
	int own;       /* the linked worktree's git directory, or -1 */
	bool link;     /* the workspace is at its path outside, too */
	/* The .git of worktrees elsewhere: an empty file stands for each. */
	char *trees[CHECKOUT_MAX_TREES];
	unsigned ntrees;
};
extern struct checkout checkout;

/*
 * Look at the workspace, and say what git cannot do in the sandbox. Returns 0,
 * or -1 with the fault set.
 */
int checkout_find(struct fault *);
/* Add what was found to the agent's sandbox. */
void checkout_bind(struct box *);

/*
 * Say which lists of commands the agent has left in a linked worktree's git
 * directory: git runs them when a rebase or the like is continued.
 */
void checkout_say_left(void);

/*
 * checkout_trees.c: Note the worktrees that the repository has elsewhere.
 * `common` is its git directory, `but` the descriptor of the own worktree's
 * directory in it, or -1. Returns 0, or -1 with errno set.
 */
int checkout_trees(int common, int but);
/* Returns the nth worktree for which the sandbox has room, or NULL. */
const char *checkout_tree(unsigned n);

#endif
