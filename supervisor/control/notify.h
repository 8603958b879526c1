/* SPDX-License-Identifier: ISC */
/* Runs the user's notify command: a call is held, a login began in the box. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <sys/types.h>

#include "control/approvals.h"

void notify_hold(const struct hold *);
/* The same with another line. */
void notify_text(const char *);
/* Its process, or -1. */
pid_t notify_pid(void);
/* Ends one that still runs. */
void notify_kill(void);

#endif
