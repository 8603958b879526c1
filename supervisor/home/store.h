/* SPDX-License-Identifier: ISC */
/*
 * IRONCURTAIN_HOME/homes: the homes of agents that stay from session to session
 * of one workspace. homes/ID/ has the agent's directory "home", which is all
 * that a sandbox sees; "home.json", which says whose it is; and "lock", which a
 * session holds and names itself in.
 */
#ifndef HOME_STORE_H
#define HOME_STORE_H

#include <stdbool.h>
#include <stddef.h>

#define HOMES "homes"
#define HOME_LOCK "lock"
#define HOME_FILE "home.json"
/* An id: 32 hexadecimal digits and a NUL. */
#define HOME_ID 33U
#define HOME_USER_MAX 4097U

/* Write the id of the home of this agent in this workspace. */
void home_id(const char *workspace, const char *agent, char id[HOME_ID]);
/* Returns true if this can be an id. */
bool home_id_ok(const char *id);
/*
 * Take the lock of homes/ID, which is open as `dirfd`. Returns the lock, or -1
 * with errno set: EWOULDBLOCK if a session has it, ESTALE if the home was
 * removed at the same time.
 */
int home_take(int dirfd);
/* Write who holds the lock to it. Returns 0, or -1 with errno set. */
int home_sign(int lock, const char *user);
/* Read who holds the lock, or held it last; "" if that is not known. */
void home_user(int dirfd, char user[HOME_USER_MAX]);

#endif
