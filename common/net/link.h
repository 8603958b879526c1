/* SPDX-License-Identifier: ISC */
/*
 * An address that an agent asks a person to open in a browser. The address
 * itself can carry data to its host.
 */
#ifndef NET_LINK_H
#define NET_LINK_H

#include "common/span.h"

#define LINK_MAX 2048U

/*
 * Returns true for https://HOST..., and for http:// to this machine's loopback:
 * printable ASCII, at most LINK_MAX bytes, without a user or a password.
 */
bool link_ok(struct span);
/* Returns the host with its port, within an address that link_ok() accepts. */
struct span link_host(struct span);

#endif
