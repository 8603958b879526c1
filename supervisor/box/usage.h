/* SPDX-License-Identifier: ISC */
/*
 * What a sandbox uses: its memory and processes as /proc has them, the room
 * that is left in its memory file systems, and the size of a directory tree.
 */
#ifndef USAGE_H
#define USAGE_H

#include <sys/types.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct usage {
	uint64_t memory; /* bytes, without pages of files on disk */
	unsigned processes; /* and threads, without those of `root` */
	bool tmp_full, shm_full;
};

/*
 * Counts `root` and all its descendants. Memory that several processes share
 * is counted for each; usage_exact() knows better. A process that ends
 * meanwhile is not counted.
 */
void usage_read(pid_t root, struct usage *);
/* The same memory with each shared page counted once: slow. */
uint64_t usage_exact(pid_t root);

#define TREE_DEPTH 256U

/* The size of a directory tree, counted a few entries at a time. */
struct tree {
	DIR *open[TREE_DEPTH];
	unsigned depth; /* of open directories; 0: no count is under way */
	uint64_t bytes;
	bool deep; /* there are directories below the deepest that is counted */
};

/* Begins at `dir`, which is borrowed. Returns 0, or -1 with errno set. */
int tree_begin(struct tree *, int dir);
/* Looks at `entries` more. Returns true when the whole tree is counted. */
bool tree_step(struct tree *, unsigned entries);
void tree_end(struct tree *);

#endif
