/* SPDX-License-Identifier: ISC */
/*
 * Base64 (RFC 4648 section 4) for those who do not link OpenSSL.  Keeps no
 * copy of what it encodes: both sides may be secret memory.
 */
#ifndef BASE64_H
#define BASE64_H

#include "common/span.h"

/* What n bytes become, without a NUL. */
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* Into dst, which has room for BASE64_LEN(in.len). */
void base64_put(uint8_t *dst, struct span in);

#endif
