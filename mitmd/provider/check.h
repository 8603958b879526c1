/* SPDX-License-Identifier: ISC */
/*
 * Checks a provider file for programs that have their own, different struct
 * provider.
 */
#ifndef PROVIDER_CHECK_H
#define PROVIDER_CHECK_H

#include "common/span.h"

/*
 * Read the text of a provider file as mitmd and keyd do, and discard it. Sets
 * `*routes` to its number of routes. Returns 0, or -1 with "where: what is
 * wrong" in err[cap].
 */
int provider_check(struct span text, unsigned *routes, char *err, size_t cap);

#endif
