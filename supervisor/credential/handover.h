/* SPDX-License-Identifier: ISC */
/*
 * One descriptor over the control socket, with the request that it belongs
 * to: how icctl gives a session a key that it does not tell.
 */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <stddef.h>
#include <sys/types.h>

/* What send() and recv() return. */
ssize_t handover_send(int sock, const void *, size_t, int fd);
/* *fd: what came along, close-on-exec; -1: nothing did. */
ssize_t handover_receive(int sock, void *, size_t, int *fd);

#endif
