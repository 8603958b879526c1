/* SPDX-License-Identifier: ISC */
/*
 * An address that an MCP server wants a person to open in a browser. It is
 * never fetched; a person sees all of it, and the host first.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include "common/http/hostname.h"

#define ADDRESS_MAX 2048U

/*
 * Check the address, and write its host into `host`. `foreign` is set if the
 * host has letters of other scripts (xn--), which may look like another one.
 * Returns NULL, or why a person is not asked to open it, as the end of a
 * sentence that begins with "the address".
 */
const char *address_check(
    struct span url, char host[HOSTNAME_MAX + 1], bool *foreign);

#endif
