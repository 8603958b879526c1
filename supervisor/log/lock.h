/* SPDX-License-Identifier: ISC */
/*
 * The lock of an audit log: at any time one description of it is written to.
 * auditd outlives an icsupervisor that is killed, because it writes the last
 * record, while the locks of the session directory end with icsupervisor. The
 * description that auditd has is therefore locked with flock(2), which lasts as
 * long as a process has that description, or it is on its way in a message. (A
 * lock of fcntl(2) would end with icsupervisor.) A reader takes no lock.
 */
#ifndef AUDITLOCK_H
#define AUDITLOCK_H

#include "base/fault.h"

/* How long to wait for an auditd that still writes. */
#define AUDITLOCK_MS 5000

/*
 * Lock this description, which is about to be written to. Returns 0, or -1 with
 * errno set: EWOULDBLOCK if another one is locked. A file system without locks
 * is no error.
 */
int auditlock_take(int fd);
/*
 * Wait until no auditd of an earlier run can write to the log, at most
 * AUDITLOCK_MS. The caller holds the session directory, so that none can begin
 * to. Returns 0, or -1 with the fault set: FAULT_BUSY if one still can. Warns
 * if the file system has no locks.
 */
int auditlock_wait(int dirfd, const char *dir, struct fault *);

#endif
