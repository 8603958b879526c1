/* SPDX-License-Identifier: ISC */
/*
 * The parts of /var to which links of /usr and /etc lead. ic-survey looks for
 * the links when packages have changed; the list is kept in the store.
 */
#ifndef BOX_SYSTEM_VAR_H
#define BOX_SYSTEM_VAR_H

#include <stdbool.h>
#include <stddef.h>

#include "box/system/survey.h"

struct var_list {
	char *paths[SURVEY_MAX_VAR];
	size_t n;
};

/* Read the list. Returns false if it is not there, or too old. */
bool var_load(int store, struct var_list *);
/* Keep the list for later sessions. */
void var_save(int store, const struct var_list *);
/*
 * Add a path, unless the list has it or a directory above it. Returns 0, or -1
 * with errno ENOMEM.
 */
int var_add(struct var_list *, const char *path);
/*
 * Returns an O_PATH descriptor of the path if a sandbox may see it: a directory
 * or a file below /var that all users may read. Returns -1 otherwise.
 */
int var_open(const char *path);

#endif
