/* SPDX-License-Identifier: ISC */
/*
 * Looks through a directory of the host that a sandbox is to see, read-only: a
 * read-only mount stops neither connect(2) nor writing to a FIFO, and the
 * directory of a tool may also hold the tool's credentials.
 */
#ifndef SURVEY_TREE_LOOK_H
#define SURVEY_TREE_LOOK_H

#include <stdbool.h>

#define TREE_MAX_DEPTH 100U
#define TREE_MAX_PATH 4096U

struct tree_look {
	/* Called with the path, below the directory, of a file to cover. */
	void (*cover)(const char *path);
	char path[TREE_MAX_PATH];
	unsigned depth, covers, entries;
	const char *bad; /* the reason to refuse it, at `path`; or NULL */
};

/*
 * Look through the directory of `fd`. Returns 0, or -1 if the sandbox may not
 * see it; `bad` and `path` say why.
 */
int tree_look(struct tree_look *, int fd);

#endif
