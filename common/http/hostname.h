/* SPDX-License-Identifier: ISC */
/*
 * Host names that a person or an agent gives as a destination: public DNS
 * names, and nothing that only looks like one.  The addresses that a name
 * resolves to are screened elsewhere, one by one.
 */
#ifndef HOSTNAME_H
#define HOSTNAME_H

#include "common/span.h"

#define HOSTNAME_MAX 253U

/*
 * Write the name in lower case into `dst` (HOSTNAME_MAX + 1 bytes,
 * NUL-terminated).  A name has at least two labels of letters, digits and inner
 * hyphens; names in other scripts must be written as xn--; an address is
 * refused in any spelling.  Returns 0, or -1 with `*why` set to a constant text
 * that continues a message after the name ("is an address: ...").
 */
int hostname_read(struct span, char *dst, const char **why);
/*
 * Check that the name is for public use.  Returns 0, or -1 with `*why` set if
 * it belongs to this machine, a local network or a container engine, or is
 * reserved.
 */
int hostname_public(const char *name, const char **why);

#endif
