/* SPDX-License-Identifier: ISC */
#include "box/system/envput.h"

#include <errno.h>
#include <stdio.h>

int
env_put(char **env, size_t *n, size_t max, const char *name,
    const char *value, struct fault *fault)
{
	if (*n >= max) {
		errno = E2BIG;
		return fault_errno(fault, "environment");
	}
	if (asprintf(&env[*n], "%s=%s", name, value) == -1) {
		env[*n] = NULL;
		return fault_errno(fault, "environment");
	}
	(*n)++;
	return 0;
}
