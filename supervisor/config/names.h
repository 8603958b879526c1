/* SPDX-License-Identifier: ISC */
/*
 * The names of agents and providers: one JSON file each, in a directory of
 * the user's and in the one that is shipped.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/paths.h"

#define NAMES_MAX 256U

struct names {
	char *list[NAMES_MAX + 1]; /* sorted, each once; NULL at the end */
	size_t n;
};

/* Reads the names of "agents" or "providers". */
void names_find(struct names *, const struct paths *, const char *sub);
void names_free(struct names *);
bool names_have(const struct names *, const char *name);
/*
 * Writes "did you mean X? Known: A, B" or "known: A, B" to `dst`. Returns
 * `dst`.
 */
char *names_known(
    const struct names *, const char *word, char *dst, size_t cap);

/*
 * Returns the whole name of an agent that people call by a shorter one, or
 * `name` itself.
 */
const char *names_agent(const struct paths *, const char *name);
/* Reads the names of "agents", the shorter ones included. */
void names_find_agents(struct names *, const struct paths *);

#endif
