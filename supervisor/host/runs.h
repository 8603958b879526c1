/* SPDX-License-Identifier: ISC */
/*
 * Finds files that an agent changed in its workspace, and that programs of the
 * host run or obey later: hooks, build files, settings of editors. Only names
 * and times are looked at; no file is opened, and no link is followed.
 *
 * A file counts as changed if its inode was changed since the start (nobody can
 * set that time back), or if its directory is not the one that was there. Not
 * seen are: files behind the limits below, those that a changed file names in
 * turn, and a workspace whose server has another clock.
 */
#ifndef HOST_RUNS_H
#define HOST_RUNS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

/* session.json, which resume reads, has at most 64 KiB. */
#define RUNS_LISTED 50U
#define RUNS_PLACES 48U
#define RUNS_PATHS 8U
#define RUNS_DEPTH 6U
#define RUNS_ENTRIES 100000U
#define RUNS_MS 1000U

struct runs_item {
	char path[300]; /* escaped, from the workspace on */
	const char *by; /* runs or reads it */
};

struct runs {
	int top; /* borrowed */
	uint64_t since; /* ns since the epoch */
	struct {
		bool there;
		dev_t dev;
		ino_t ino;
	} places[RUNS_PLACES];
	char paths[RUNS_PATHS][512]; /* directories of PATH in the workspace */
	unsigned npaths;
	bool more_paths; /* PATH has more than fit */
	unsigned most;   /* entries to look at; RUNS_ENTRIES */
	struct runs_item list[RUNS_LISTED];
	unsigned n, total; /* total may be more than are listed */
	bool cut;          /* not everything could be looked at */
	unsigned seen;
	uint64_t until;
};

/* Note what is there. `path` is the value of PATH; it may be NULL. */
void runs_begin(struct runs *, int top, const char *top_path, const char *path);
/* List what has changed since then. */
void runs_end(struct runs *);

#endif
