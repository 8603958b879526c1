/* SPDX-License-Identifier: ISC */
/* Declarations shared by the parts of ic-locate. */
#ifndef LOCATE_PRIV_H
#define LOCATE_PRIV_H

#include <stddef.h>

#include "box/locate.h"

/* locate_tree.c */
/*
 * Resolve links in a path of the user's. Returns allocated memory, or NULL with
 * errno.
 */
char *locate_real(const char *path);
/*
 * Add the tree of `file`, and those of its #! interpreter. Returns 0, or -1
 * with errno.
 */
int locate_add_tree(
    const struct locate *, struct program *, const char *file, unsigned depth);
/*
 * Add a tree and take ownership of it; NULL means that memory ran out. Returns
 * 0, or -1 with errno.
 */
int locate_put_tree(struct program *, char *tree);
bool locate_has(const char *dir, const char *name);

/* locate_npm.c */
/* Returns the object in a directory's package.json, or NULL. */
struct json_object *locate_package_json(const char *dir);
/* Resolve `npx ARGS`: sets path, argv and trees. */
int locate_npx(
    const struct locate *, char *const *args, struct program *, struct fault *);

/* locate_find.c */
/*
 * Resolve a command with its arguments; if `plain`, no command but a file or a
 * name in PATH. Returns 0, or -1 with a fault that says what to install.
 */
int locate_program(const struct locate *, const char *command, bool plain,
    char *const *args, struct program *, struct fault *);

/* locate_code.c */
/*
 * Returns "DIGEST NAME VERSION" of the code of a program that was found, in
 * allocated memory, or NULL if it is the system's or cannot be told.
 */
char *locate_code(const struct locate *, const struct program *);

#endif
