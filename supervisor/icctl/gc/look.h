/* SPDX-License-Identifier: ISC */
/*
 * Looks at one session directory: takes its locks, if they are free, and finds
 * what became of the session.
 */
#ifndef GC_LOOK_H
#define GC_LOOK_H

#include "icctl/gc/state.h"

struct gc_look {
	int fd, lock; /* while it is held; -1: not */
	enum gc_state state;
	int64_t ended;  /* seconds since the epoch, about */
	bool work;      /* files in the session's own workspace */
	char host[65];  /* GC_ELSEWHERE */
	char agent[65]; /* "": unknown */
};

/*
 * Open the directory, which must be this user's, on the file system `dev` and
 * no link. Returns 0, and -1 if it is no such directory.
 */
int gc_look(
    struct gc_look *, int dirfd, const char *name, uint64_t dev, int64_t now);
void gc_release(struct gc_look *);

#endif
