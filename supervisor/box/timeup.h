/* SPDX-License-Identifier: ISC */
/* Ends a session whose time is used up, and gives its agent time to stop. */
#ifndef TIMEUP_H
#define TIMEUP_H

/*
 * Send SIGTERM to every process of the agent's sandbox, and end the session
 * when the agent has ended, or after five seconds, with status 124. `why` is
 * for the person and for the log.
 */
void timeup_begin(const char *why);
/* Returns the reason if the time is used up, or NULL. */
const char *timeup_why(void);

#endif
