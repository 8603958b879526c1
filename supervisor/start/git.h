/* SPDX-License-Identifier: ISC */
/* The user's git in the sandbox. */
#ifndef START_GIT_H
#define START_GIT_H

/*
 * Have ic-repo find out what the user's own git would do in the place of the
 * workspace, and fill in gitbox_user. Says what is different inside, and what
 * cannot be found out.
 */
void git_begin(void);

#endif
