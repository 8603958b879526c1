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
/* Returns where the clone comes from, for `icctl status`; NULL: no clone. */
struct json_object *clone_json(void);
/*
 * Look for work that the user does not have, when the agent has ended; note it
 * in clone.json, and write a line about it for the user. Returns `dst`, or NULL
 * if there is no clone.
 */
const char *clone_end(char *dst, size_t cap);

#endif
