/* SPDX-License-Identifier: ISC */
/* Shared by limits.c and members/limits.c. */
#ifndef LIMITS_PRIV_H
#define LIMITS_PRIV_H

#include "files/limits.h"

/*
 * Files in /tmp and /dev/shm are memory of the sandbox. By default they never
 * use it up; what the user chooses (`tmp`, `shm`) may.
 */
void limits_bound(struct limits *, uint64_t memory, bool tmp, bool shm);

#endif
