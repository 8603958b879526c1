/* SPDX-License-Identifier: ISC */
/* Runs the user's notify command when a call is held. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <sys/types.h>

#include "approvals.h"

void notify_hold(const struct hold *);
/* Its process, or -1. */
pid_t notify_pid(void);
/* Ends one that still runs. */
void notify_kill(void);

#endif
