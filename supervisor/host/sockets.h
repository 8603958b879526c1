/* SPDX-License-Identifier: ISC */
/*
 * Sockets of the host that a sandbox could connect to: a bind mount of a
 * directory does not stop connect(2) to a socket in it.
 */
#ifndef HOST_SOCKETS_H
#define HOST_SOCKETS_H

#include "host/places.h"

/*
 * Look for sockets below one of the places that a process listens on, and call
 * `found` with the path of each. `table` is /proc/net/unix. A socket that was
 * bound by a relative name is recognised by that name below `dir`. Returns the
 * number of sockets, or -1 with errno set.
 */
int host_sockets(const struct places *, const char *table, int dir,
    const char *dir_path, void (*found)(const char *path));

#endif
