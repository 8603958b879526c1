/* SPDX-License-Identifier: ISC */
/*
 * The directories and files of the host that the agent can write: the
 * workspace, its home in the session directory, and every writable place in a
 * server's view. No program is started from below such a place or looked up
 * there.
 */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>

#include "config/paths.h"

#define PLACES_MAX 512U

struct places {
	struct paths_id ids[PLACES_MAX];
	char *names[PLACES_MAX]; /* their paths, for messages */
	unsigned n;
};

/*
 * Add the file or directory of the descriptor. Returns 0, or -1 with errno set.
 */
int places_add(struct places *, int fd);
void places_clear(struct places *);

/*
 * Walk `path` (absolute) from the root, one component and one symbolic link at
 * a time. Returns the name of the first place that the walk enters, so that the
 * agent can change what the path leads to, or NULL. A component that does not
 * exist counts as part of the directory that lacks it. If `fd` is not NULL,
 * `*fd` becomes an O_PATH descriptor of the path's end, for the caller to
 * close, or -1 with errno set.
 */
const char *places_of(const struct places *, const char *path, int *fd);

#endif
