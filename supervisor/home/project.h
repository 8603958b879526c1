/* SPDX-License-Identifier: ISC */
/*
 * --home project: the session uses the home that earlier sessions of the same
 * agent left for this workspace, instead of one of its own.
 */
#ifndef HOME_PROJECT_H
#define HOME_PROJECT_H

#include <stdbool.h>

#include "base/fault.h"

/*
 * Take the home for this workspace and agent, once both are known, in place of
 * the session's own. Does nothing without --home project. Returns 0, or -1 with
 * the fault set.
 */
int home_open(struct fault *);
/* Returns true if the session's home stays for the next one. */
bool home_stays(void);
/*
 * A file could not be written to the home: add what helps, if an earlier
 * session may be the reason. Always returns -1.
 */
int home_blocked(struct fault *);
/* Remove the home if it was new and no agent was started in it. */
void home_close(void);

#endif
