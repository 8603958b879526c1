/* SPDX-License-Identifier: ISC */
/*
 * Enforces the limits for which the kernel has no mechanism here: the memory of
 * a sandbox, the size of the agent's home directory, and the free space of the
 * disk. A sandbox that exceeds a limit is ended, with a message that names the
 * limit.
 */
#ifndef WATCHER_H
#define WATCHER_H

/* Start watching; called when the sandboxes are being started. */
void watcher_start(void);

#endif
