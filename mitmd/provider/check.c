/* SPDX-License-Identifier: ISC */
/*
 * The locks' reader of provider files, for icsupervisor and icctl: a mistake
 * is told to the person who made it, before a worker dies of it.  Holds
 * nothing.
 */
#include "provider/check.h"

#include <stdio.h>
#include <string.h>

#include "provider/provider.h"

/* Who calls names the file itself. */
static void
check_strip_name(char *err)
{
	static const char file[] = "file: ";
	const size_t n = sizeof(file) - 1;

	if (strncmp(err, file, n) == 0)
		memmove(err, err + n, strlen(err + n) + 1);
}

int
provider_check(struct span text, unsigned *routes, char *err, size_t cap)
{
	struct provider *p;

	if ((p = provider_parse(text, err, cap)) == NULL) {
		if (err[0] == '\0')
			snprintf(err, cap, "out of memory");
		check_strip_name(err);
		return -1;
	}
	*routes = p->nroutes;
	provider_free(p);
	return 0;
}
