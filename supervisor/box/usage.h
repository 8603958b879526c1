/* SPDX-License-Identifier: ISC */
/*
 * Measures what a sandbox uses: memory and processes from /proc, free space in
 * its memory file systems, and the size of a directory tree.
 */
#ifndef USAGE_H
#define USAGE_H

#include <sys/types.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct usage {
	uint64_t memory;    /* bytes, without page cache */
	unsigned processes; /* includes threads, but not those of `root` */
	bool tmp_full, shm_full;
	unsigned ptys; /* in the sandbox's /dev/pts */
};

/* Call `each` for `root` and all its descendants, with the text of its status.
 */
typedef void usage_each_fn(pid_t, const char *status, void *);
void usage_each(pid_t root, usage_each_fn *, void *);
/*
 * Measure `root` and all its descendants. Memory shared by several processes is
 * counted for each of them, unlike in usage_exact(). A process that ends
 * meanwhile is not counted. Each one that lowered its oom_score_adj, which
 * needs no right, gets the value of the sandbox again.
 */
void usage_read(pid_t root, struct usage *);
/*
 * Returns the memory with each shared page counted once, and that of memfds. Of
 * these and other shared memory the larger one counts, since memfds may be
 * mapped. This is slow.
 */
uint64_t usage_exact(pid_t root);
/* Returns the bytes in memfds that `root` and its descendants have open. */
uint64_t usage_memfds(pid_t root);

#define TREE_DEPTH 256U

/* The size of a directory tree, counted a few entries at a time. */
struct tree {
	DIR *open[TREE_DEPTH];
	unsigned depth; /* number of open directories; 0: idle */
	uint64_t bytes;
	bool deep; /* directories below TREE_DEPTH were not counted */
};

/* Begin at `dir`, which is borrowed. Returns 0, or -1 with errno. */
int tree_begin(struct tree *, int dir);
/*
 * Count up to `entries` more. Returns true when the whole tree has been
 * counted.
 */
bool tree_step(struct tree *, unsigned entries);
void tree_end(struct tree *);

#endif
