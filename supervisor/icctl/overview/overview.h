/* SPDX-License-Identifier: ISC */
/*
 * The full screen of `icctl watch`: every session of this user and what waits
 * in them on the left, the chosen one on the right.
 */
#ifndef ICCTL_OVERVIEW_H
#define ICCTL_OVERVIEW_H

#include <stdbool.h>

#include "icctl/icctl.h"

/* Returns true if standard input and output are a terminal that can show it. */
bool overview_can(void);
/*
 * Show the sessions, or the one in `ctl->dir` if that is not empty, until the
 * user leaves. Returns the exit status.
 */
int overview_run(struct icctl *ctl);

#endif
