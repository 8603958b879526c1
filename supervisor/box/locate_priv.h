/* SPDX-License-Identifier: ISC */
/* Shared by locate.c and locate_npm.c. */
#ifndef LOCATE_PRIV_H
#define LOCATE_PRIV_H

#include <stddef.h>

#include "box/locate.h"

/* Links resolved, of the user's own files; fresh memory, NULL with errno. */
char *locate_real(const char *path);
/* name in the directories of PATH, executable; fresh memory or NULL. */
char *locate_in_path(const struct locate *, const char *name);
/* Adds path's tree, and those of its #! interpreter. -1 with errno. */
int locate_add_tree(
    const struct locate *, struct program *, const char *file, unsigned depth);
/* argv of head[] and then tail[]; fresh memory. */
char **locate_argv(const char *const *head, char *const *tail);

/* npx ARGS: fills path, argv and trees. */
int locate_npx(
    const struct locate *, char *const *args, struct program *, struct fault *);

#endif
