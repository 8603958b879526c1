/* SPDX-License-Identifier: ISC */
/* Shared by locate.c, locate_npm.c and locate_tree.c. */
#ifndef LOCATE_PRIV_H
#define LOCATE_PRIV_H

#include <stddef.h>

#include "box/locate.h"

/* locate_tree.c */
/* Links resolved, of the user's own files; fresh memory, NULL with errno. */
char *locate_real(const char *path);
/* name in the directories of PATH, executable; fresh memory or NULL. */
char *locate_in_path(const struct locate *, const char *name);
/* Adds path's tree, and those of its #! interpreter. -1 with errno. */
int locate_add_tree(
    const struct locate *, struct program *, const char *file, unsigned depth);
/* Adds one tree, which is taken; NULL: none is left. -1 with errno. */
int locate_put_tree(struct program *, char *tree);
bool locate_has(const char *dir, const char *name);
/* argv of head[] and then tail[]; fresh memory. */
char **locate_argv(const char *const *head, char *const *tail);

/* locate_npm.c */
/* npx ARGS: fills path, argv and trees. */
int locate_npx(
    const struct locate *, char *const *args, struct program *, struct fault *);

#endif
