/* SPDX-License-Identifier: ISC */
/* Runs the user's notify command when a call is pending or a login began. */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <sys/types.h>

#include "hub/approvals.h"

void notify_hold(const struct hold *);
/* Run the command with this text. */
void notify_text(const char *);
/* Returns the command's process id, or -1. */
pid_t notify_pid(void);
/* Kill the command if it still runs. */
void notify_kill(void);

#endif
