/* SPDX-License-Identifier: ISC */
/* Files of a tool's directory that may hold the user's credentials. */
#ifndef SURVEY_TREE_SECRET_H
#define SURVEY_TREE_SECRET_H

#include <sys/stat.h>

#include <stdbool.h>

/*
 * Returns true if a directory's name says that it holds keys or credentials.
 */
bool tree_secret_dir(const char *name);
/*
 * Returns true if the file dirfd/name is to be covered. `path` is its path
 * below the directory that is shown, and `depth` the number of directories in
 * it.
 */
bool tree_secret_file(
    int dirfd, const char *name, const char *path, unsigned depth);

#endif
