/* SPDX-License-Identifier: ISC */
/*
 * Counts that the kernel keeps for a user, over all processes and sandboxes:
 * descriptors in flight in sockets, and descriptors in epoll sets. No limit of
 * a sandbox keeps an agent from using them up. So if they are used up, and this
 * session's agent holds a large share, its session ends; each session looks
 * after its own agent.
 */
#ifndef HOARD_H
#define HOARD_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Look at both, and raise an alarm once if one is used up. Returns true if the
 * processes from `root` on, if that is not 0, hold a large share of it, with
 * the reason for the end of the session in `why`.
 */
bool hoard_look(pid_t root, char *why, size_t cap);

#endif
