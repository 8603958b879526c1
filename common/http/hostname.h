/* SPDX-License-Identifier: ISC */
/*
 * Host names that a person or an agent names as a destination: public DNS
 * names, and nothing that only looks like one.  Reads outside text; holds
 * nothing.  What a name leads to is screened elsewhere, address by address.
 */
#ifndef HOSTNAME_H
#define HOSTNAME_H

#include "common/span.h"

#define HOSTNAME_MAX 253U

/*
 * Lower case into dst (HOSTNAME_MAX + 1 bytes, NUL-terminated): labels of
 * letters, digits and inner hyphens, at least two, names in other scripts only
 * as xn--, no address in any spelling.  -1: *why is constant text that goes
 * behind the name ("is an address: ...").
 */
int hostname_read(struct span, char *dst, const char **why);
/*
 * Is it a name for public use?  Else *why says what it is: this machine's,
 * a local network's, a container engine's, reserved.
 */
int hostname_public(const char *name, const char **why);

#endif
