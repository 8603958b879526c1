/* SPDX-License-Identifier: ISC */
/* The user's git in the sandbox. */
#ifndef START_GIT_H
#define START_GIT_H

#include <stdbool.h>

/* Returns true if git runs in one of the session's sandboxes. */
bool git_wanted(void);
/*
 * Have ic-repo find out what the user's own git would do in the place of the
 * workspace, and fill in gitbox_user. Says what is different inside, and what
 * cannot be found out; and, with `lacks`, what a clone will lack.
 */
void git_begin(bool lacks);

#endif
