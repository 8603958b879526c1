/* SPDX-License-Identifier: ISC */
/* The clone that a session works on, if --clone asks for one. */
#ifndef SUP_CLONE_H
#define SUP_CLONE_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* Check the command line. Returns 0, or -1 with the fault set. */
int clone_check(struct fault *);
/*
 * Begin to make the clone in the session's sandbox/, unless there is one, while
 * the caller goes on. With `tells`, that says what the clone lacks; otherwise
 * git_begin() does. Returns 0, or -1 with the fault set.
 */
int clone_begin(bool tells, struct fault *);
/* Wait for it, while the event loop runs. Returns 0, or -1 with the fault set. */
int clone_finish(struct fault *);
/* Returns the process that makes it, or -1. */
pid_t clone_pid(void);
/* Make none, since the session does not begin. */
void clone_abandon(void);
/* Returns true if the user is to be told what the new clone lacks. */
bool clone_lacks(void);
/*
 * clone_fetch.c: Returns true if there is a clone, or none is wanted. If it is
 * to come from a URL, begin to get it, and call `then` when it is there; without
 * it, the session ends.
 */
bool clone_fetched(void (*then)(void));
void clone_fetch_kill(void);
/* Returns true if this process makes the clone, or fetches it. */
bool clone_has_pid(pid_t);
/* Returns the URL that is to be fetched, or NULL. */
const char *clone_wanted(void);
/* Take a report about clone.json; base/helper.h. */
int clone_take(int letter, const char *text, struct fault *);
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
