/* SPDX-License-Identifier: ISC */
/*
 * The addresses that a provider's name may lead to: public ones, and private or
 * loopback ones only if the user's own configuration names the target.
 * Link-local addresses and the metadata services of clouds are never allowed
 * (RFC 6890 and the IANA special-purpose registries).
 */
#ifndef DIALERD_SCREEN_H
#define DIALERD_SCREEN_H

#include <sys/socket.h>

#include "common/span.h"

/*
 * Returns NULL if a connection is allowed, or else a constant text that says
 * what the address is.
 */
const char *screen_address(const struct sockaddr *, bool private_ok);
/* Do the same for a name, before it is resolved. */
const char *screen_name(struct span name, bool private_ok);

#endif
