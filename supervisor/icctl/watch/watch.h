/* SPDX-License-Identifier: ISC */
/* `icctl watch` for sessions that nobody named. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

#include "icctl/icctl.h"

/*
 * Print the events of all sessions of this user as they come, also of those
 * that start later, each with the session's id as "session". Returns only if
 * the kernel refuses to wait.
 */
int watch_all_json(const struct icctl *);
/*
 * Wait until a session of this user runs, and set `dir` to it. With `keys`, q
 * on standard input ends the wait. Returns false if it did, or on a failure.
 */
bool watch_wait(struct icctl *, bool keys);

#endif
