/* SPDX-License-Identifier: ISC */
#include "base/paths.h"

#include <string.h>

void
paths_plain(char *path)
{
	const char *p = path;
	char *to = path;
	size_t n;

	for (; *p != '\0'; p += n) {
		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.'))
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (to > path && *--to != '/')
				;
			continue;
		}
		*to++ = '/';
		memmove(to, p, n);
		to += n;
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}
