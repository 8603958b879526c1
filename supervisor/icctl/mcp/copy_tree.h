/* SPDX-License-Identifier: ISC */
/*
 * Copies a directory that an agent may be writing at the same time: no link is
 * followed, and what is copied is what was read.
 */
#ifndef MCP_COPY_TREE_H
#define MCP_COPY_TREE_H

#include "base/fault.h"

/*
 * Copy all files below `from`, or only the file `only`, to the empty directory
 * `to`, without directories called ".git". A link must lead to a place within.
 * Returns 0, or -1 with the fault set.
 */
int copy_tree(int from, const char *only, int to, struct fault *);

#endif
