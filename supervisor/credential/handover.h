/* SPDX-License-Identifier: ISC */
/*
 * Passes a descriptor over the control socket, together with the request that
 * it belongs to: icctl can give a session a key without sending its value.
 */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Send the request and the descriptor, under this process's hard limit on open
 * files where the kernel refuses it under the soft one: it compares that with
 * the user's descriptors in flight. Returns like send(2).
 */
ssize_t handover_send(int sock, const void *, size_t, int fd);
/* The same, under the soft limit. */
ssize_t handover_once(int sock, const void *, size_t, int fd);
/*
 * Receive data. `*fd` is the descriptor that came with it, close-on-exec, or
 * -1. Returns like recv(2).
 */
ssize_t handover_receive(int sock, void *, size_t, int *fd);

#endif
