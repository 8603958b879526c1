/* SPDX-License-Identifier: ISC */
/*
 * The ends of English words that follow a count: "1 call was", "2 calls were".
 */
#ifndef PLURAL_H
#define PLURAL_H

#include <stdint.h>

/* Returns "s", or "" for 1. */
static inline const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns "s are", or " is" for 1. */
static inline const char *
plural_are(uint64_t n)
{
	return n == 1 ? " is" : "s are";
}

/* Returns "s were", or " was" for 1. */
static inline const char *
plural_were(uint64_t n)
{
	return n == 1 ? " was" : "s were";
}

#endif
