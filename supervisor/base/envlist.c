/* SPDX-License-Identifier: ISC */
/* Composes environments as arrays of borrowed texts. */
#include "base/envlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if one of the texts sets this variable. */
static bool
envlist_set(const char *const *set, size_t n, const char *variable)
{
	const size_t name = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < n; i++)
		if (strncmp(set[i], variable, name) == 0)
			return true;
	return false;
}

char **
envlist_with(char *const *from, const char *const *set, size_t n)
{
	size_t have = 0, at = 0;
	char **env;

	while (from[have] != NULL)
		have++;
	if ((env = calloc(have + n + 1, sizeof(*env))) == NULL)
		return NULL;
	for (size_t i = 0; i < have; i++)
		if (!envlist_set(set, n, from[i]))
			env[at++] = from[i];
	for (size_t i = 0; i < n; i++)
		env[at++] = (char *)(uintptr_t)set[i];
	return env;
}
