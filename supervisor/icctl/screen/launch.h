/* SPDX-License-Identifier: ISC */
/* `icctl start` and `icctl attach` become viewers. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <sys/types.h>

#include "relay/viewer_how.h"

struct icctl;

/*
 * Take the viewer's key from config.json, or from `file`. If that cannot be
 * read, the key stays; the reason is printed if `say`, or else icsupervisor
 * does it.
 */
void launch_key(struct viewer_how *, const struct icctl *, const char *file,
    const char *profile, bool say);
/*
 * Start icsupervisor (`program`) and become its viewer. args[0] is its name,
 * args[1] and args[2] are set here, and its other arguments follow. `dir` is
 * the session's directory, whose last part is its name. Returns only on
 * failure: -1 with errno set.
 */
int launch_session(const char *program, const char **args,
    const struct viewer_how *, const char *dir);
/*
 * Become the viewer of a session. `supervisor` is our child that signals are
 * passed on to, or 0. `link` is the link to it, or termd's channel if
 * how->attached. `said` is the pipe of its messages, or -1. Returns only on
 * failure: -1 with errno set.
 */
int launch_viewer(pid_t supervisor, const struct viewer_how *, const char *name,
    const char *dir, int link, int said);

#endif
