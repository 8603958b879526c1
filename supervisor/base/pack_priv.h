/* SPDX-License-Identifier: ISC */
/* Shared by pack.c and pack_put.c. */
#ifndef BASE_PACK_PRIV_H
#define BASE_PACK_PRIV_H

#include "base/pack.h"

#define PACK_NONE UINT32_MAX /* the length of a text that is NULL */

/* Read a member that is an unsigned number of that many bytes. */
uint64_t pack_number(const void *, size_t size);
/* Returns how many there are of a row's member. */
uint64_t pack_count(const struct pack_row *, const char *base);

#endif
