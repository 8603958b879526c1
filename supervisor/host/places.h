/* SPDX-License-Identifier: ISC */
/*
 * The directories and files of the host that an agent can write: the
 * workspace, its home in the session directory, every writable place in a
 * server's view, and the same of other sessions that run. No program is started
 * from below such a place or looked up there.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>

#include "base/paths.h"

struct stat;

#define PLACES_MAX 512U

struct places {
	struct paths_id ids[PLACES_MAX];
	char *paths[PLACES_MAX];
	char *names[PLACES_MAX]; /* for messages: the path, and the session if
				    it is another one */
	bool others[PLACES_MAX]; /* only another session's agent writes it */
	bool views[PLACES_MAX];  /* agents write it through servers only */
	unsigned n;
	bool direct;   /* a walk passes places that agents write through servers
			  only */
	bool inside;   /* paths are those of a server's view, in which */
	int workspace; /* this directory is /workspace; borrowed */
};

/*
 * Add the file or directory of the descriptor. Returns 0, or -1 with errno set.
 */
int places_add(struct places *, int fd);
/* Add one that only a server's view makes writable. Returns likewise. */
int places_add_view(struct places *, int fd);
/*
 * Add one that the agent of another session can write, if `view` through a
 * server only; `session` is its name. Returns 0, or -1 with errno set.
 */
int places_add_other(struct places *, int fd, const char *session, bool view);
/*
 * Remove the place of this device and inode, if agents write it through servers
 * only, without freeing its texts: for a copy that borrows them.
 */
void places_pass(struct places *, const struct paths_id *);
/* Copy the places of this session alone. Returns 0, or -1 with errno set. */
int places_copy(struct places *to, const struct places *from);
void places_clear(struct places *);

/*
 * Walk `path` (absolute) from the root, one component and one symbolic link at
 * a time. Returns the name of the first place that the walk enters, so that an
 * agent can change what the path leads to, or NULL. A component that does not
 * exist counts as part of the directory that lacks it. If `fd` is not NULL,
 * `*fd` becomes an O_PATH descriptor of the path's end, for the caller to
 * close, or -1 with errno set.
 */
const char *places_of(const struct places *, const char *path, int *fd);
/*
 * The same, and give each object that the walk meets, links included, to
 * `see`. The walk borrows nothing of it.
 */
typedef void places_see_fn(void *arg, const struct stat *);
const char *places_walk(const struct places *, const char *path, int *fd,
    places_see_fn *see, void *arg);

#endif
