/* SPDX-License-Identifier: ISC */
/* The table of managers. */
#include "files/toolchains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "common/span.h"

static const struct toolchain toolchains[] = {
#define TOOLCHAIN(name, dir, variable, also, choice)                           \
	{name, dir, variable, also, choice},
#include "files/toolchain_rows.h"
#undef TOOLCHAIN
};

const struct toolchain *
toolchain_nth(size_t n)
{
	return n < nitems(toolchains) ? &toolchains[n] : NULL;
}

int
toolchain_path(
    const struct toolchain *t, const char *user_home, char *dst, size_t cap)
{
	const char *set = t->variable != NULL ? getenv(t->variable) : NULL;
	int n;

	n = set != NULL && set[0] == '/'
		? snprintf(dst, cap, "%s", set)
		: snprintf(dst, cap, "%s/%s", user_home, t->dir);
	if (n < 0 || (size_t)n >= cap)
		return -1;
	while (n > 1 && dst[n - 1] == '/')
		dst[--n] = '\0';
	return 0;
}
