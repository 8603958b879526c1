/* SPDX-License-Identifier: ISC */
/*
 * The session's first viewer, as icsupervisor sees it: a link on which it
 * passes the viewer a channel to termd, at the start and after each restart of
 * termd. `icctl start` passes the link in; an icsupervisor that was started
 * directly starts the viewer as a child. When the link closes, the person's
 * terminal is gone, and the session ends.
 */
#ifndef LINK_H
#define LINK_H

#include <sys/types.h>

#include <stdbool.h>

#include "base/fault.h"

/*
 * Set sup.terminal, the way the agent is shown. Called before the workers
 * start.
 */
int link_prepare(struct fault *);
/* Append ic-bridge's options for this. */
struct wordlist;
void link_bridge_options(struct wordlist *options);
/*
 * The session is ready: start the viewer if necessary, and connect it to termd.
 */
int link_start(struct fault *);
/*
 * Let the end of the session wait for the viewer for `ms`; -1: without limit.
 */
void link_end(int ms);
bool link_has_pid(pid_t);
/* Returns true if the agent has a full screen, and so receives every key. */
bool link_has_screen(void);

#endif
