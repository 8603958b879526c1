/* SPDX-License-Identifier: ISC */
/*
 * The directories and files of the host that the agent can write: the
 * workspace, its home in the session directory, and whatever a server's view
 * holds writable.  No program is started from below one of them, and none is
 * looked up there.
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

/* Adds what the descriptor names. Returns 0, or -1 with errno set. */
int places_add(struct places *, int fd);
void places_clear(struct places *);

/*
 * Walks `path` (absolute) from the root, one component and one symbolic link
 * at a time.  Returns the name of the first place that it passes through or
 * ends at, so that the agent can change what the path leads to, or NULL.  A
 * part that is not there yet counts as belonging to the directory that lacks
 * it.  If `fd` is not NULL it receives an O_PATH descriptor of what the path
 * leads to, or -1 with errno set; it is the caller's to close.
 */
const char *places_of(const struct places *, const char *path, int *fd);

#endif
