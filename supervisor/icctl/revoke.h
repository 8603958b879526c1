/* SPDX-License-Identifier: ISC */
/* Keys of a session that a gateway still has to take back. */
#ifndef ICCTL_REVOKE_H
#define ICCTL_REVOKE_H

#include "icctl/icctl.h"

/*
 * Run what revoke.json of the session directory `dirfd` still names: the session
 * was killed, or a command failed. Warns of each that fails. Returns 0, also if
 * there is nothing to do, or -1 if something remains to be done.
 */
int revoke_left(const struct icctl *, int dirfd);

#endif
