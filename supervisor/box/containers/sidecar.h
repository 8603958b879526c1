/* SPDX-License-Identifier: ISC */
/*
 * The TCP transport, for an engine whose containers reach no Unix socket of this
 * machine: a second container, the sidecar, shares a volume of sockets with the
 * agent's, which has no network, and alone stands on a network of its own. It
 * runs `ic-bridge forward`, and reaches gated.
 */
#ifndef BOX_SIDECAR_H
#define BOX_SIDECAR_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* A name of the host, in a sidecar whose network's gateway is not here. */
#define SIDECAR_HOST "ironcurtain-host"

/* Find out whether this transport is possible. */
int sidecar_check(struct fault *);
/* Make network, volume, listeners and sidecar. Blocks. */
int sidecar_begin(struct fault *);
/*
 * Returns true if there is no sidecar, or its check has passed; otherwise `then`
 * is called when it has. A check that fails ends the session.
 */
bool sidecar_ready(void (*then)(void));
/*
 * Returns the process of this machine that is the first one of the agent's
 * container, or 0 if it is on another one.
 */
pid_t sidecar_agent(void);
/* Remove everything that sidecar_begin() made. */
void sidecar_remove(void);

/* sidecar_check.c: the answers of the sidecar on its connection. */
/*
 * Prepare them. A default route may only lead to `dead`, which no machine has;
 * gated listens at `address`. All are in host byte order.
 */
int sidecar_check_begin(uint32_t gateway, uint32_t dead, uint32_t address,
    struct fault *);
void sidecar_checked(int fd);
/* Write which directory has the sockets. */
void sidecar_place(uint64_t *dev, uint64_t *ino);
void sidecar_check_free(void);

#endif
