/* SPDX-License-Identifier: ISC */
/*
 * Reads provider files for icsupervisor and icctl exactly as mitmd and keyd do,
 * so that a mistake is reported to the person who made it before it ends a
 * worker, and nobody understands a file otherwise than they do.
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

/* As provider_parse(), with a message that does not name the file. */
static struct provider *
check_parse(struct span text, char *err, size_t cap)
{
	struct provider *p;

	if ((p = provider_parse(text, err, cap)) == NULL) {
		if (err[0] == '\0')
			snprintf(err, cap, "out of memory");
		check_strip_name(err);
	}
	return p;
}

int
provider_facts_read(
    struct provider_facts *f, struct span text, char *err, size_t cap)
{
	struct provider *p;

	*f = (struct provider_facts){.owner = NULL};
	if ((p = check_parse(text, err, cap)) == NULL)
		return -1;
	f->owner = p;
	f->name = p->name;
	f->hosts = p->hosts;
	f->nhosts = p->nhosts;
	f->env = p->env;
	f->sentinel = p->sentinel;
	f->parts = p->parts;
	for (unsigned i = 0; i < p->nlogins; i++)
		f->logins[f->nlogins++] = &p->logins[i].place;
	return 0;
}

void
provider_facts_free(struct provider_facts *f)
{
	provider_free(f->owner);
	*f = (struct provider_facts){.owner = NULL};
}
