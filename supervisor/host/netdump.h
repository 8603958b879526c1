/* SPDX-License-Identifier: ISC */
/* Lists of sockets, as the kernel gives them (sock_diag(7), netlink(7)). */
#ifndef HOST_NETDUMP_H
#define HOST_NETDUMP_H

#include <stddef.h>

/* Take one socket of the list. Returns 0, or -1 with errno set to stop. */
typedef int netdump_take(void *arg, const void *p, size_t len);

/* Returns a socket for requests, on which an answer has 5 s, or -1. */
int netdump_open(void);
/*
 * Send a request, a whole message with its header, and take each socket of the
 * answer. Returns 0, or -1 with errno set: EAGAIN if sockets came or went
 * meanwhile, so that the list is not complete.
 */
int netdump_list(
    int fd, const void *request, size_t len, netdump_take *, void *arg);

#endif
