/* SPDX-License-Identifier: ISC */
/*
 * Measures and removes directory trees that an agent may have filled: no link
 * is followed, no other file system is entered, and names may be nested to any
 * depth.
 */
#ifndef GC_TREE_H
#define GC_TREE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct gc_tree {
	bool dry;                       /* measure only */
	dev_t dev;                      /* the file system to stay on */
	uint64_t bytes;                 /* removed, or found */
	bool failed;                    /* something could not be removed */
	void (*tick)(struct gc_tree *); /* called for every file, or NULL */
	unsigned moved;
	int top;
};

/* Remove everything below `fd`, which stays open. */
void gc_tree_below(struct gc_tree *, int fd);
/* Remove the directory dirfd/name and everything below it. */
void gc_tree_whole(struct gc_tree *, int dirfd, const char *name);
/*
 * Open a directory, which must not be a link; `name` has one part. If `force`,
 * give back rights that its owner, this user, has taken away. Returns a
 * descriptor, or -1 with errno set.
 */
int gc_tree_open(int dirfd, const char *name, bool force);

#endif
