/* SPDX-License-Identifier: ISC */
/* How `icctl start` and `icctl attach` become viewers. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <sys/types.h>

#include "relay/viewer_how.h"

/*
 * Starts icsupervisor (`program`) and becomes its viewer. args[0] is its name,
 * args[1] and args[2] are set here, and its other arguments follow. Returns
 * only on failure: -1 with errno.
 */
int launch_session(const char *program, const char **args,
    const struct viewer_how *, const char *name);
/*
 * Becomes the viewer of a session. supervisor: our child that signals are
 * passed on to, or 0. link: its link, or termd's channel if how->attached.
 * said: its messages, or -1. Returns only on failure: -1 with errno.
 */
int launch_viewer(pid_t supervisor, const struct viewer_how *, const char *name,
    int link, int said);

#endif
