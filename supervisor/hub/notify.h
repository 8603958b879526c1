/* SPDX-License-Identifier: ISC */
/*
 * Runs the user's notify command when a call is pending or a login began, and
 * when something else has happened of which the user wants to hear.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <sys/types.h>

#include "hub/approvals.h"

void notify_hold(const struct hold *);
/* Run the command if "notifyOn" has `what` and the time is not quiet. */
void notify_event(uint32_t what, const char *text);
/* Run the command with this text. */
void notify_text(const char *);
/* Returns the command's process id, or -1. */
pid_t notify_pid(void);
/* Kill the command if it still runs. */
void notify_kill(void);

#endif
