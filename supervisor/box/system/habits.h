/* SPDX-License-Identifier: ISC */
/* Variables by which programs print and ask as the user is used to. */
#ifndef BOX_HABITS_H
#define BOX_HABITS_H

#include <stddef.h>

#include "base/fault.h"

/*
 * Append the user's time zone, language, colours, editor and pager to env[*n],
 * of which there are at most `max`. `path` is the agent's PATH=... Returns 0, or
 * -1 with the fault set.
 */
int habits_environment(
    const char *path, char **env, size_t *n, size_t max, struct fault *);

#endif
