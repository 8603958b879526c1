/* SPDX-License-Identifier: ISC */
/*
 * For a program that only asks whether both checks will take a file: its
 * own struct provider is another one.
 */
#ifndef PROVIDER_CHECK_H
#define PROVIDER_CHECK_H

#include "common/span.h"

/*
 * Reads the text of a provider file as mitmd and keyd do, and forgets it. How
 * many routes it has in *routes; -1 with "where: what is wrong" in err[cap].
 */
int provider_check(struct span text, unsigned *routes, char *err, size_t cap);

#endif
