/* SPDX-License-Identifier: ISC */
/* Finds the programs that a person's files name. */
#include "icctl/driver/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
places_program(const char *name, char path[4096])
{
	const char *dirs = getenv("PATH"), *end;
	char found[4096];

	if (strchr(name, '/') != NULL)
		return name[0] == '/' && realpath(name, path) != NULL;
	for (; dirs != NULL && *dirs != '\0'; dirs = *end ? end + 1 : end) {
		end = dirs + strcspn(dirs, ":");
		snprintf(found, sizeof(found), "%.*s/%.200s", (int)(end - dirs),
		    dirs, name);
		if (dirs[0] == '/' && access(found, X_OK) == 0 &&
		    realpath(found, path) != NULL)
			return true;
	}
	return false;
}
