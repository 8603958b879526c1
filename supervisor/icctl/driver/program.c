/* SPDX-License-Identifier: ISC */
/* Finds programs and files that a person names. */
#include "icctl/driver/places.h"

#include <sys/syscall.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
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

int
places_open(const char *path, const char **why)
{
	const struct open_how how = {
	    .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd == -1)
		*why = errno == ELOOP ? "a link leads there, and none is "
					"followed; name the file itself"
				      : strerror(errno);
	return fd;
}
