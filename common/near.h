/* SPDX-License-Identifier: ISC */
/*
 * Guesses which of the names that are known was meant by one that is not.
 */
#ifndef NEAR_H
#define NEAR_H

#include <stddef.h>

/*
 * Returns the one of `names`, which ends with NULL, that `word` was probably
 * meant to be, or NULL. Case, a few letters more or less or exchanged, and a
 * name that is only begun are forgiven.
 */
const char *near_name(const char *word, const char *const *names);

#define NEAR_HINT 96U

/*
 * Writes " (did you mean X?)" to `dst`, of NEAR_HINT bytes, or "" if no name
 * is near. Returns `dst`.
 */
char *near_hint(const char *word, const char *const *names, char *dst);

#endif
