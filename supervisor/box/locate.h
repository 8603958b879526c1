/* SPDX-License-Identifier: ISC */
/*
 * Finds the real location of a program and the files that it needs. Its own
 * tree is found before it starts and bound read-only; the user's other files
 * are not. The system directories are in every view anyway.
 */
#ifndef LOCATE_H
#define LOCATE_H

#include "base/fault.h"
#include "base/paths.h"

#define LOCATE_MAX_TREES 8U

struct program {
	char *path;  /* absolute host path to execute */
	char **argv; /* complete, including argv[0] */
	/* Host paths to bind read-only at the same paths. */
	char *trees[LOCATE_MAX_TREES];
	unsigned ntrees;
	bool ours; /* shipped with IronCurtain: icfs */
	/* "DIGEST NAME VERSION" of its code; NULL: the system's, or not known */
	char *code;
};

struct locate {
	const struct paths *paths;
	const char *path_env; /* PATH to search */
	const char *base;     /* directory for relative FILEs */
};

/* A program that is asked about. */
struct locate_ask {
	const char *command;
	char *const *args;
	bool
	    plain; /* a file or a name in PATH, also if it is "npx" or "node" */
	struct program *program;
	char why[512]; /* why it was not found, and what to install; or "" */
};

/*
 * Resolve commands with their arguments (`npx -y PKG`, `node FILE`, a name in
 * PATH, a path). Returns 0 with `program` or `why` of each set, or -1 with the
 * fault set.
 */
int locate_programs(
    const struct locate *, struct locate_ask *, size_t n, struct fault *);
/* locate_text.c */
void program_free(struct program *);
/*
 * Returns true for programs that are installed with ours, so that they need not
 * be in PATH.
 */
bool locate_is_own(const char *command);
/*
 * Returns true for paths below /usr, /bin, /sbin and /lib*, which are in every
 * view.
 */
bool locate_is_system(const char *path);
/* Find an executable in PATH. Returns allocated memory, or NULL. */
char *locate_in_path(const struct locate *, const char *name);
/* Returns argv made of head[] and tail[], in allocated memory. */
char **locate_argv(const char *const *head, char *const *tail);
/*
 * locate.c: Find an agent's program. `tree` is the host path that holds it, to
 * be bound at `mount` (below /opt/agent); `inside` is the program's path there.
 * The caller frees all three. Returns 0, or -1.
 */
int locate_agent(const struct locate *, const char *command, struct program *,
    char **tree, char **mount, char **inside, struct fault *);

#endif
