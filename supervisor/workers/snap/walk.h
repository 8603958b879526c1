/* SPDX-License-Identifier: ISC */
/*
 * A walk through the workspace. It holds the path that it is at, and what it
 * has found; save.c begins it, and writes what it found.
 */
#ifndef SNAP_WALK_H
#define SNAP_WALK_H

#include <time.h>

#include "workers/snap/snap.h"

struct walk {
	struct store *store;
	const struct snap_how *how;
	struct cache cache;
	struct buf manifest;
	char path[SNAP_PATH];
	size_t len, depth;
	bool git;      /* inside a directory .git */
	uint64_t room; /* bytes that this checkpoint may add */
	uint64_t added;
	uint32_t files, left, loose;
	char why[SNAP_WHY];
};

/* Walk through an open directory. Returns 0, or -1 with the reason in `why`. */
int walk_in(struct walk *, int dir);
/* Give up: there is no checkpoint. Returns -1. */
int walk_fail(struct walk *, const char *why);
int64_t walk_ns(struct timespec);

#endif
