/* SPDX-License-Identifier: ISC */
/* Names files of the workspace in which a key or a password lies. */
#ifndef START_SECRETS_H
#define START_SECRETS_H

/* Look at the workspace of a session in place, and say what the agent can read. */
void secrets_say(void);

#endif
