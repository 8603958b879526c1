/* SPDX-License-Identifier: ISC */
/* The root certificates of this machine. */
#ifndef FILES_ROOTS_H
#define FILES_ROOTS_H

#include <stddef.h>

/*
 * Returns the system's root certificates followed by `more`, which may be NULL,
 * as PEM that the caller frees, with its length in bytes; or NULL if there are
 * none.
 */
char *roots_system(const char *more, size_t nmore, size_t *len);

#endif
