/* SPDX-License-Identifier: ISC */
/*
 * The user behind a TCP connection from this machine: loopback is open to every
 * user of it, and an accepted connection carries no credentials.  The kernel
 * reports the owner of the socket at the other end (sock_diag(7)).
 */
#ifndef PEER_UID_H
#define PEER_UID_H

#include <netinet/in.h>

#include <stdint.h>

/*
 * Make the socket that asks.  It asks about the network namespace and in the
 * user namespace of the process that made it, wherever it is used.  Returns -1
 * with errno set on failure.
 */
int peer_uid_open(void);
/*
 * Get the user who owns the socket at `peer`, which is connected to `local`.
 * Never waits.  Returns 0, or -1 with errno set; ENOTCONN if no process has
 * that socket any more.
 */
int peer_uid(int diag, const struct sockaddr_in *peer,
    const struct sockaddr_in *local, uint32_t *uid);
/* The same for IPv6. */
int peer_uid6(int diag, const struct sockaddr_in6 *peer,
    const struct sockaddr_in6 *local, uint32_t *uid);

#endif
