/* SPDX-License-Identifier: ISC */
/* Lowers limits of the process (RLIMIT_...). */
#ifndef CONFINE_LIMIT_H
#define CONFINE_LIMIT_H

#include <stdint.h>

/*
 * Lower both the soft and the hard limit; a hard limit that is lower already
 * stays. Returns 0, or -1.
 */
int confine_lower(int which, uint64_t value);

#endif
