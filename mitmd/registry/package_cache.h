/* SPDX-License-Identifier: ISC */
/*
 * What registries' metadata said, for an hour: which versions of a package
 * there are and which of them may be had.  Bounded: the oldest goes first.
 */
#ifndef PACKAGE_CACHE_H
#define PACKAGE_CACHE_H

#include "registry/filter.h"

#define PACKAGE_CACHE_MS 3600000U
#define PACKAGE_CACHE_MAX 4096U       /* packages */
#define PACKAGE_CACHE_ENTRIES 524288U /* of all of them */

/* Takes the entries, which are of malloc; now: milliseconds. */
void package_cache_put(
    const char *package, struct registry_entry *, unsigned n, uint64_t now);
/*
 * 1 and the verdict about that id, UNLISTED if it was not among them; 0: the
 * package is not known, or not any more.
 */
int package_cache_get(const char *package, const char *id, uint64_t now,
    struct registry_verdict *);
void package_cache_clear(void);

#endif
