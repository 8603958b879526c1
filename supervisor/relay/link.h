/* SPDX-License-Identifier: ISC */
/*
 * The session's first viewer, as icsupervisor sees it: a link over which it is
 * handed a channel to termd, at the start and after each restart of termd.
 * `icctl start` brings the link along; an icsupervisor that was started by
 * itself starts the viewer as a child.  When the link closes, the person's
 * terminal is gone, and the session ends.
 */
#ifndef LINK_H
#define LINK_H

#include <sys/types.h>

#include <stdbool.h>

#include "config/fault.h"

/* Before the workers: how the agent is shown, for sup.terminal. */
int link_prepare(struct fault *);
/* How ic-bridge is told of it: its options, until NULL. At most 4. */
void link_bridge_options(const char *options[4]);
/* The session is ready: starts the viewer if need be, and hands it termd. */
int link_start(struct fault *);
/* How many ms the end of the session may wait for the viewer; -1: for ever. */
void link_end(int ms);
bool link_has_pid(pid_t);
/* Is the agent on a full screen, so that its keys are its own? */
bool link_has_screen(void);

#endif
