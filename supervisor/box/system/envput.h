/* SPDX-License-Identifier: ISC */
/* The environment of a sandbox while it is composed. */
#ifndef BOX_ENVPUT_H
#define BOX_ENVPUT_H

#include <stddef.h>

#include "base/fault.h"

/*
 * Append NAME=VALUE in allocated memory to env[*n], of which there are at most
 * `max`. Returns 0, or -1 with the fault set.
 */
int env_put(char **env, size_t *n, size_t max, const char *name,
    const char *value, struct fault *);

#endif
