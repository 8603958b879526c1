/* SPDX-License-Identifier: ISC */
/*
 * Removes a directory that a process of ours may still be leaving: nftw() stops
 * at the first failure, and would leave all the rest.
 */
#include "config/tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>

#define TREE_TRIES 5U
#define TREE_FILES 16 /* descriptors */
#define TREE_HOW (FTW_DEPTH | FTW_PHYS | FTW_MOUNT)

/* Remove what can be removed: a failure does not stop nftw(). */
static int
tree_some(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)remove(path);
	return 0;
}

/* Stop at the first failure, with its errno. */
static int
tree_all(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path) == -1 && errno != ENOENT ? -1 : 0;
}

int
tree_remove(const char *path)
{
	for (unsigned i = 1; i < TREE_TRIES; i++) {
		(void)nftw(path, tree_some, TREE_FILES, TREE_HOW);
		if (remove(path) == -1 && errno == ENOENT)
			return 0;
	}
	/* It says what cannot be removed, and why. */
	return nftw(path, tree_all, TREE_FILES, TREE_HOW) == 0 ||
		       errno == ENOENT
		   ? 0
		   : -1;
}
