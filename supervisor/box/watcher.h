/* SPDX-License-Identifier: ISC */
/*
 * Watches the limits that no kernel mechanism enforces here: the memory of a
 * sandbox, the size of the agent's home directory, and the free space of the
 * disk.  Who takes more than the limit is ended, with a message that names it.
 */
#ifndef WATCHER_H
#define WATCHER_H

/* Begins, once the sandboxes are being started. */
void watcher_start(void);

#endif
