/* SPDX-License-Identifier: ISC */
/*
 * Remembers for an hour the verdicts about the versions that a registry's
 * metadata listed. Bounded: the oldest package is dropped first.
 */
#ifndef PACKAGE_CACHE_H
#define PACKAGE_CACHE_H

#include "registry/filter.h"

#define PACKAGE_CACHE_MS 3600000U
#define PACKAGE_CACHE_MAX 4096U       /* packages */
#define PACKAGE_CACHE_ENTRIES 524288U /* all packages together */

/*
 * Store the entries and take ownership of them (allocated with malloc). `now`
 * is in milliseconds.
 */
void package_cache_put(
    const char *package, struct registry_entry *, unsigned n, uint64_t now);
/*
 * Set the verdict about this id, UNLISTED if the metadata did not have it.
 * Returns 1, or 0 if the package is not in the cache.
 */
int package_cache_get(const char *package, const char *id, uint64_t now,
    struct registry_verdict *);
void package_cache_clear(void);

#endif
