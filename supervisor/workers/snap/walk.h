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
	bool counts;   /* it only counts the entries: nothing is read or kept */
	uint64_t room; /* bytes that this checkpoint may add */
	uint64_t added;
	uint32_t files, left, loose;
	char why[SNAP_WHY];
};

/* A name of a directory, with its kind as readdir(3) has it. */
struct walk_name {
	const char *name;
	unsigned char type; /* DT_UNKNOWN: the file system does not say */
};

struct walk_list {
	struct walk_name *names;
	size_t n;
	struct buf text;
};

/*
 * names.c: Read all names of a directory that was opened for this, sorted. The
 * caller frees the list in any case. Returns 0, or -1 with errno set.
 */
int walk_names(int dir, struct walk_list *);
bool walk_list_has(const struct walk_list *, const char *name);
void walk_list_free(struct walk_list *);

/* Walk through an open directory. Returns 0, or -1 with the reason in `why`. */
int walk_in(struct walk *, int dir);
/* Give up: there is no checkpoint. Returns -1. */
int walk_fail(struct walk *, const char *why);
int64_t walk_ns(struct timespec);

#endif
