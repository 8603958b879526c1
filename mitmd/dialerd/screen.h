/* SPDX-License-Identifier: ISC */
/*
 * Which addresses a provider's name may lead to: public ones, and private or
 * loopback ones only where the user's own configuration names the target.
 * Link-local addresses and the clouds' metadata services never
 * (original.md 4.6; RFC 6890 and the IANA special-purpose registries).
 */
#ifndef DIALERD_SCREEN_H
#define DIALERD_SCREEN_H

#include <sys/socket.h>

#include "common/span.h"

/* NULL when it may be connected to, else what it is, constant text. */
const char *screen_address(const struct sockaddr *, bool private_ok);
/* The same for a name, before it is resolved. */
const char *screen_name(struct span name, bool private_ok);

#endif
