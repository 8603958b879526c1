/* SPDX-License-Identifier: ISC */
/* Walks through /etc, without following a link. */
#ifndef SURVEY_ETC_WALK_H
#define SURVEY_ETC_WALK_H

#include <sys/stat.h>

#include <stdbool.h>
#include <stddef.h>

#define ETC_MAX_DEPTH 16U
#define ETC_MAX_ENTRIES 50000U
#define ETC_MAX_PATH 1024U

struct etc_walk {
	/*
	 * Called for every entry, directories before their own. Returns 0, -1
	 * with errno set to end the walk, or 1 to pass over a directory.
	 */
	int (*visit)(struct etc_walk *, int dirfd, const char *name,
	    const struct stat *);
	/* Called after a directory that was entered; may be NULL. */
	int (*leave)(struct etc_walk *);
	char path[ETC_MAX_PATH]; /* the path of the entry, below /etc */
	unsigned entries, depth;
	bool cut; /* a limit was reached, and something was passed over */
};

/* Walk through the directory `fd`. Returns 0, or -1 with errno set. */
int etc_walk(struct etc_walk *, int fd);

#endif
