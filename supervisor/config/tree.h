/* SPDX-License-Identifier: ISC */
/* Removes directories of ours. */
#ifndef TREE_H
#define TREE_H

/*
 * Remove a directory and everything in it, on its own file system, without
 * following links. Something that vanishes meanwhile is no failure; neither is
 * something that is added meanwhile, if a few tries are enough. Returns 0, also
 * if there is no such directory, or -1 with errno set.
 */
int tree_remove(const char *path);

#endif
