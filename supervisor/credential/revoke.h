/* SPDX-License-Identifier: ISC */
/*
 * Takes keys back that were made for this session: a gateway deletes them by the
 * session's name, which is all that the command `revoke` of a credential gets.
 * revoke.json in the session directory says what remains to be done, so that
 * `icctl close` and `icctl gc` do it after a crash.
 */
#ifndef REVOKE_H
#define REVOKE_H

#include "base/fault.h"

#define REVOKE_FILE "revoke.json"

/*
 * Find the commands and write the file, before any key is made. Returns 0, or
 * -1 with the fault set.
 */
int revoke_begin(struct fault *);
/* Run the commands; remove the file if all of them have succeeded. */
void revoke_end(void);
/* Returns the name of the session, by which a gateway knows its keys. */
const char *revoke_session(void);

#endif
