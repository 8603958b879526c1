/* SPDX-License-Identifier: ISC */
/* Guesses the known name that an unknown word was meant to be. */
#ifndef NEAR_H
#define NEAR_H

#include <stddef.h>

/*
 * Returns the one of `names`, a list that ends with NULL, that `word` was
 * probably meant to be, or NULL.  Differences in case, a few letters added,
 * omitted or exchanged, and an incomplete name are tolerated.
 */
const char *near_name(const char *word, const char *const *names);

#define NEAR_HINT 96U

/*
 * Write " (did you mean X?)" into `dst`, which has NEAR_HINT bytes, or "" if no
 * name is near.  Returns `dst`.
 */
char *near_hint(const char *word, const char *const *names, char *dst);

#endif
