/* SPDX-License-Identifier: ISC */
/*
 * Sockets of the host that a sandbox could connect to: a bind mount of a
 * directory does not stop connect(2) to a socket in it.
 */
#ifndef HOST_SOCKETS_H
#define HOST_SOCKETS_H

#include "host/places.h"

struct sockets_seen {
	unsigned found;
	bool known; /* the kernel told which sockets are in use; otherwise every
		       socket file was taken for one */
	int error;  /* the errno of that question, if not `known` */
	bool cut;   /* there were too many files to look at all of them */
};

/*
 * Look for sockets below the places of this session on which a program listens,
 * and call `found` with the path of each. They are recognised by device and
 * inode, whatever their names were when they were bound. Unless `ask`, do as if
 * the kernel did not tell. A program in another network namespace is not seen.
 */
void host_sockets(struct sockets_seen *, const struct places *, bool ask,
    void (*found)(const char *path));

#endif
