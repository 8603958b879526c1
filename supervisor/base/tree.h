/* SPDX-License-Identifier: ISC */
/*
 * Measures and removes directory trees that an agent may have filled: no link
 * is followed, no other file system is entered, and names may be nested to any
 * depth. A failure does not stop it: the rest is removed.
 */
#ifndef HOST_TREE_H
#define HOST_TREE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct tree {
	bool dry;       /* measure only */
	bool strict;    /* a directory that its owner cannot change stays */
	dev_t dev;      /* the file system to stay on */
	uint64_t until; /* give up at this clock_mono_us(); 0: never */
	uint64_t bytes; /* removed, or found */
	bool failed;    /* something could not be removed */
	int error;      /* the errno of the first failure, or 0 */
	void (*tick)(struct tree *); /* called for every file, or NULL */
	unsigned moved;
	int top;
};

/* Remove everything below `fd`, which stays open. */
void tree_below(struct tree *, int fd);
/*
 * Remove the directory dirfd/name and everything below it. No failure if there
 * is no such directory, or if others remove it meanwhile.
 */
void tree_whole(struct tree *, int dirfd, const char *name);
/*
 * Remove a directory that another process may still be leaving, without giving
 * back rights. It is tried again a few times if something is added meanwhile.
 * Returns 0, also if there is no such directory, or -1 with errno set to the
 * first reason.
 */
int tree_remove(const char *path);
/*
 * Remove everything below the directory `path`, of one part or more, below
 * `dirfd`. Does nothing if there is no such directory.
 */
void tree_at(struct tree *, int dirfd, const char *path);
/*
 * Returns true if the directory has no entry, or only `but` unless that is
 * NULL; false also if it cannot be read.
 */
bool tree_empty(int fd, const char *but);
/*
 * Open a directory, which must not be a link; `name` has one part. If `force`,
 * give back rights that its owner, this user, has taken away. Returns a
 * descriptor, or -1 with errno set.
 */
int tree_open(int dirfd, const char *name, bool force);

#endif
