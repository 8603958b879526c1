/* SPDX-License-Identifier: ISC */
/*
 * How --workspace names a directory: DIR, or DIR:ro for one that is mounted
 * read-only. A directory whose own name ends in ":ro" has a slash behind it.
 */
#ifndef WORKSPACE_OPTION_H
#define WORKSPACE_OPTION_H

#include <stddef.h>

/* Returns the length of the name without ":ro" at its end. */
size_t workspace_option_len(const char *);
/*
 * Append a slash to the name of a directory that ends in ":ro". The array must
 * have room for it. Returns `dir`.
 */
char *workspace_option_dir(char *dir);

#endif
