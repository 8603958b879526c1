/* SPDX-License-Identifier: ISC */
/*
 * Judges paths in a server's view by their text: what the sandbox has of its
 * own there. icctl asks the same before it writes an entry.
 */
#include "box/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/span.h"

char *
view_clean(const char *path)
{
	char *out, *o;
	size_t n;

	if (path[0] != '/' || (out = malloc(strlen(path) + 2)) == NULL) {
		if (path[0] != '/')
			errno = EINVAL;
		return NULL;
	}
	o = out;
	while (*path != '\0') {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0)
			break;
		if ((n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.')) {
			free(out);
			errno = EINVAL;
			return NULL;
		}
		*o++ = '/';
		memcpy(o, path, n);
		o += n;
		path += n;
	}
	if (o == out)
		*o++ = '/';
	*o = '\0';
	return out;
}

bool
view_taken_tree(const char *path)
{
	static const char *const trees[] = {"/proc", "/dev", "/sys",
	    "/workspace", "/run/ironcurtain", "/etc/ironcurtain", "/opt/agent",
	    "/opt/ironcurtain"};

	for (size_t i = 0; i < nitems(trees); i++)
		if (paths_under(path, trees[i]))
			return true;
	return false;
}

/* Returns true for places in the sandbox that are its own. */
bool
view_taken(const char *path)
{
	static const char *const dirs[] = {"/", "/tmp", "/usr", "/etc", "/bin",
	    "/sbin", "/lib", "/lib64", "/run", "/var", "/opt"};

	if (view_taken_tree(path))
		return true;
	for (size_t i = 0; i < nitems(dirs); i++)
		if (strcmp(path, dirs[i]) == 0)
			return true;
	return false;
}
