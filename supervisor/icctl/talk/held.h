/* SPDX-License-Identifier: ISC */
/* Answers calls that wait during a turn, on the terminal of `icctl send`. */
#ifndef ICCTL_HELD_H
#define ICCTL_HELD_H

#include "icctl/icctl.h"

/* Returns true if there is a person at our terminal, in front of us. */
bool held_may(const struct icctl *);
/*
 * Show what waits, and take answers, until nothing waits or the person leaves.
 * Events that come from `fd` meanwhile are added to `later`.
 */
void held_run(
    struct icctl *, int fd, struct icctl_rest *, json_object *later);
/* Returns true if `later` has the end of that pending call. */
bool held_ended(json_object *later, const char *id);

#endif
