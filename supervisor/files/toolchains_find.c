/* SPDX-License-Identifier: ISC */
/* Finds a toolchain, for programs other than icsupervisor. */
#include "files/toolchains.h"

#include <sys/stat.h>

#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "common/span.h"

int
toolchain_found(
    const struct toolchain *t, const char *user_home, char *dst, size_t cap)
{
	struct stat st;

	return toolchain_path(t, user_home, dst, cap) == 0 &&
		       lstat(dst, &st) == 0 && S_ISDIR(st.st_mode)
		   ? 0
		   : -1;
}

bool
toolchain_wide(const char *dir, const char *user_home)
{
	static const char *const wide[] = {"/.local", "/.local/share",
	    "/.local/state", "/.config", "/.cache", "/.var", "/.var/app"};
	const size_t n = strlen(user_home);

	if (paths_under(user_home, dir))
		return true;
	for (size_t i = 0; i < nitems(wide); i++)
		if (paths_under(dir, user_home) &&
		    strcmp(dir + n, wide[i]) == 0)
			return true;
	return false;
}

const struct toolchain *
toolchain_of(const char *path, const char *user_home, char *dst, size_t cap)
{
	const struct toolchain *t;

	for (size_t i = 0; (t = toolchain_nth(i)) != NULL; i++)
		if (toolchain_path(t, user_home, dst, cap) == 0 &&
		    paths_under(path, dst))
			return t;
	snprintf(dst, cap, "%s", path);
	return NULL;
}
