/* SPDX-License-Identifier: ISC */
/*
 * Where a program really is and what it needs to be seen for: its own tree is
 * found before launch and bound read-only, the rest of the user's files is
 * not.  What lies in the system directories is in every view anyway.
 */
#ifndef LOCATE_H
#define LOCATE_H

#include "config/fault.h"
#include "config/paths.h"

#define LOCATE_MAX_TREES 8U

struct program {
	char *path;  /* what to execute: absolute host path */
	char **argv; /* whole, argv[0] included */
	/* Host paths to bind read-only at their own places. */
	char *trees[LOCATE_MAX_TREES];
	unsigned ntrees;
	bool ours; /* icfs */
};

struct locate {
	const struct paths *paths;
	const char *path_env; /* PATH to search */
	const char *base;     /* directory for relative FILEs */
};

/*
 * Resolves command and args (`npx -y PKG`, `node FILE`, a name in PATH, a
 * path). -1 with what to install.
 */
int locate_program(const struct locate *, const char *command,
    char *const *args, struct program *, struct fault *);
void program_free(struct program *);
/* Is it below /usr, /bin, /sbin or /lib*, which every view has? */
bool locate_is_system(const char *path);
/*
 * An agent's program (locate.h: trees[0] holds it); in *inside where it is
 * when that tree stands at /opt/agent. Fresh memory.
 */
int locate_agent(const struct locate *, const char *command, struct program *,
    char **tree, char **mount, char **inside, struct fault *);

#endif
