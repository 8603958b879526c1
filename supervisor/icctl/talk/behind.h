/* SPDX-License-Identifier: ISC */
/*
 * The rest of a turn whose connection icsupervisor has closed because its events
 * were not read fast enough: the session's own record has them all.
 */
#ifndef BEHIND_H
#define BEHIND_H

#include "icctl/icctl.h"

/* Take an event. Returns the exit status once it is known, else -1. */
typedef int behind_event(const struct icctl *, json_object *);

/*
 * Hand over the events from the first one of the turn to its last, without the
 * first `seen`.
 * Returns the exit status, or -1 if the session does not run or has no such
 * record.
 */
int behind_follow(
    struct icctl *, int64_t turn, uint64_t seen, behind_event *);

#endif
