/* SPDX-License-Identifier: ISC */
/*
 * The names of agents and providers: each is a JSON file in a directory of the
 * user's or in the shipped one.
 */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/paths.h"

#define NAMES_MAX 256U

struct names {
	char *list[NAMES_MAX + 1]; /* sorted, without duplicates; NULL at the
				      end */
	size_t n;
};

/* Read the names of "agents" or "providers"; names_free() frees them. */
void names_find(struct names *, const struct paths *, const char *sub);
void names_free(struct names *);
/* Remove the name at `i`. */
void names_drop(struct names *, size_t i);
bool names_have(const struct names *, const char *name);
/*
 * Write "did you mean X? Known: A, B" or "known: A, B" to `dst`. Returns `dst`.
 */
char *names_known(
    const struct names *, const char *word, char *dst, size_t cap);

/*
 * Returns the full name of an agent that has a shorter one, or `name` itself.
 */
const char *names_agent(const struct paths *, const char *name);
/* Read the names of "agents", including the shorter ones. */
void names_find_agents(struct names *, const struct paths *);

#endif
