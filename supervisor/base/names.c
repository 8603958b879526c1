/* SPDX-License-Identifier: ISC */
/*
 * Lists directories of JSON files. The names are shown to a person and
 * compared; no file is opened.
 */
#include "base/names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "common/span.h"

/* clang-format off */
static const struct {
	const char *brief, *name;
} names_agents[] = {
	{"claude", "claude-code"},
	{"gemini", "gemini-cli"},
};
/* clang-format on */
#define NAMES_AGENTS nitems(names_agents)

static int
names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
names_have(const struct names *ns, const char *name)
{
	for (size_t i = 0; i < ns->n; i++)
		if (strcmp(ns->list[i], name) == 0)
			return true;
	return false;
}

static void
names_add(struct names *ns, const char *name, size_t len)
{
	char *copy;

	if (ns->n == NAMES_MAX || (copy = strndup(name, len)) == NULL)
		return;
	if (names_have(ns, copy))
		free(copy);
	else
		ns->list[ns->n++] = copy;
}

static void
names_read(struct names *ns, const char *dir, const char *sub)
{
	char path[4200];
	struct dirent *e;
	size_t len;
	DIR *d;

	if (dir == NULL)
		return;
	snprintf(path, sizeof(path), "%.4000s/%s", dir, sub);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		len = strlen(e->d_name);
		if (e->d_name[0] != '.' && len > 5 &&
		    strcmp(e->d_name + len - 5, ".json") == 0)
			names_add(ns, e->d_name, len - 5);
	}
	closedir(d);
}

void
names_find(struct names *ns, const struct paths *p, const char *sub)
{
	memset(ns, 0, sizeof(*ns));
	names_read(ns, p->home, sub);
	names_read(ns, p->datadir, sub);
	qsort(ns->list, ns->n, sizeof(ns->list[0]), names_compare);
}

void
names_free(struct names *ns)
{
	for (size_t i = 0; i < ns->n; i++)
		free(ns->list[i]);
	memset(ns, 0, sizeof(*ns));
}

void
names_drop(struct names *ns, size_t i)
{
	free(ns->list[i]);
	/* With the NULL at the end. */
	memmove(&ns->list[i], &ns->list[i + 1],
	    (ns->n - i) * sizeof(ns->list[0]));
	ns->n--;
}

char *
names_known(const struct names *ns, const char *word, char *dst, size_t cap)
{
	const char *near = near_name(word, (const char *const *)ns->list);
	size_t len;

	if (near != NULL)
		snprintf(dst, cap, "did you mean %s? Known: ", near);
	else
		snprintf(dst, cap, "known: ");
	for (size_t i = 0; i < ns->n; i++) {
		len = strlen(dst);
		snprintf(dst + len, cap - len, "%s%s", i == 0 ? "" : ", ",
		    ns->list[i]);
	}
	return dst;
}

void
names_find_agents(struct names *ns, const struct paths *p)
{
	names_find(ns, p, "agents");
	for (size_t i = 0; i < NAMES_AGENTS; i++)
		names_add(
		    ns, names_agents[i].brief, strlen(names_agents[i].brief));
	qsort(ns->list, ns->n, sizeof(ns->list[0]), names_compare);
}

const char *
names_agent(const struct paths *p, const char *name)
{
	struct names ns;
	bool own;

	names_find(&ns, p, "agents");
	own = names_have(&ns, name);
	names_free(&ns);
	for (size_t i = 0; !own && i < NAMES_AGENTS; i++)
		if (strcmp(name, names_agents[i].brief) == 0)
			return names_agents[i].name;
	return name;
}
