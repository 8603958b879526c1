/* SPDX-License-Identifier: ISC */
/*
 * Reads provider files for icsupervisor and icctl exactly as mitmd and keyd do,
 * so that a mistake is reported to the person who made it before it ends a
 * worker. Keeps no state.
 */
#include "provider/check.h"

#include <stdio.h>
#include <string.h>

#include "provider/provider.h"

/* Remove "file: " from the message: the caller names the file. */
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
