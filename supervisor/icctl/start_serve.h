/* SPDX-License-Identifier: ISC */
/* `icctl start` for a program of ours that serves requests. */
#ifndef ICCTL_START_SERVE_H
#define ICCTL_START_SERVE_H

#include "icctl/icctl.h"

/*
 * Run a session: its arguments and icsupervisor's path, in which args[1] and
 * args[2] are free, as for talk_start(). Returns the exit status.
 */
typedef int start_serve(
    struct icctl *, const char *program, const char **args);
/*
 * Do what `icctl start --detach` with these words does, but leave the session
 * to `serve`; maxConcurrentSessions does not count it. The directory that
 * --session-dir names may be one of an ended session, which then begins anew.
 */
int icctl_start_serve(struct icctl *, int argc, char **argv, start_serve *);
/*
 * Returns how many words the option of `icctl start` at argv[0] takes, or 0
 * after it said why it is none.
 */
int start_option_words(int argc, char **argv);

#endif
