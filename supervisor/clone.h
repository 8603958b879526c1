/* SPDX-License-Identifier: ISC */
/* The clone that a session works on, if --clone asks for one. */
#ifndef SUP_CLONE_H
#define SUP_CLONE_H

#include <stddef.h>

#include "config/fault.h"

/* Check the command line. Returns 0, or -1 with the fault set. */
int clone_check(struct fault *);
/*
 * Make the clone in the session's sandbox/, unless there is one. Returns 0, or
 * -1 with the fault set.
 */
int clone_begin(struct fault *);
/* Write "a clone of DIR (branch B)", or "an empty directory". Returns `dst`. */
const char *clone_summary(char *dst, size_t cap);

#endif
