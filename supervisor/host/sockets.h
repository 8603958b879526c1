/* SPDX-License-Identifier: ISC */
/*
 * Sockets of the host that a sandbox could connect to: a bind mount of the
 * directory that holds one does not stop connect(2).
 */
#ifndef HOST_SOCKETS_H
#define HOST_SOCKETS_H

#include "host/places.h"

/*
 * Looks for sockets that somebody listens on below one of the places, by
 * `table`, which is /proc/net/unix.  Calls `found` with the path of each.  One
 * that was bound by a relative name is recognised by that name, below
 * `dir`.  Returns how many there are, or -1 with errno set.
 */
int host_sockets(const struct places *, const char *table, int dir,
    const char *dir_path, void (*found)(const char *path));

#endif
