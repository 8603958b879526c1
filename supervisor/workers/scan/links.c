/* SPDX-License-Identifier: ISC */
/*
 * Follows links as text: this program has no way to files by absolute paths. A
 * walk begins anew behind each link, so that the kernel follows none.
 */
#include "workers/scan/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"

#define LINKS_MAX 40U

/*
 * Read the link that the first `n` bytes of `path` may be. Returns its length;
 * 0 if it is none; -1 if nothing is there.
 */
static ssize_t
links_read(const struct scan_tree *t, const char *path, size_t n, char *text,
    size_t cap)
{
	const size_t top = strlen(t->path);
	char below[PATH_MAX];
	ssize_t len;

	if (n <= top + 1)
		return 0;
	snprintf(
	    below, sizeof(below), "%.*s", (int)(n - top - 1), path + top + 1);
	if ((len = readlinkat(t->fd, below, text, cap - 1)) == -1)
		return errno == EINVAL ? 0 : -1;
	text[len] = '\0';
	return len;
}

bool
links_end(const struct scan_tree *t, char *path, size_t cap)
{
	char text[PATH_MAX], whole[2 * PATH_MAX + 2];
	unsigned links = 0;
	size_t n = strlen(t->path);
	ssize_t len;

	paths_plain(path);
	while (paths_under(path, t->path) && path[n] != '\0') {
		n += 1 + strcspn(path + n + 1, "/");
		if ((len = links_read(t, path, n, text, sizeof(text))) == -1)
			return false;
		if (len == 0)
			continue;
		if (++links > LINKS_MAX)
			return false;
		if (text[0] == '/')
			snprintf(whole, sizeof(whole), "%s%s", text, path + n);
		else
			snprintf(whole, sizeof(whole), "%.*s/../%s%s", (int)n,
			    path, text, path + n);
		paths_plain(whole);
		if (strlcpy(path, whole, cap) >= cap)
			return false;
		n = strlen(t->path);
	}
	return true;
}
