/* SPDX-License-Identifier: ISC */
#include "files/workspace_option.h"

#include <string.h>

size_t
workspace_option_len(const char *value)
{
	const size_t n = strlen(value);

	return n >= 3 && strcmp(value + n - 3, ":ro") == 0 ? n - 3 : n;
}

char *
workspace_option_dir(char *dir)
{
	const size_t n = strlen(dir);

	if (workspace_option_len(dir) != n)
		(void)memcpy(dir + n, "/", 2);
	return dir;
}
