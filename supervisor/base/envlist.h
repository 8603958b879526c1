/* SPDX-License-Identifier: ISC */
/* Environments of programs, composed of another one and of variables to set. */
#ifndef ENVLIST_H
#define ENVLIST_H

#include <stddef.h>

/*
 * Returns the variables of `from` with those of `set` added or put in their
 * places. `set` has `n` texts NAME=VALUE. The texts are borrowed; the caller
 * frees the array. Returns NULL with errno set.
 */
char **envlist_with(char *const *from, const char *const *set, size_t n);

#endif
