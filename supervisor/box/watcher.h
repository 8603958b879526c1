/* SPDX-License-Identifier: ISC */
/*
 * Enforces the limits for which the kernel has no mechanism here: the memory of
 * a sandbox, the size of the agent's home directory, and the free space of the
 * disk. A sandbox that exceeds a limit is ended, with a message that names the
 * limit.
 */
#ifndef WATCHER_H
#define WATCHER_H

#include <stdbool.h>

/* Start watching; called when the sandboxes are being started. */
void watcher_start(void);
/*
 * A turn of a conversation begins, or has ended: a limit that its processes
 * reach is told in that turn, even if it was told before.
 */
void watcher_turn(bool begins);

#endif
