/* SPDX-License-Identifier: ISC */
/*
 * Base64 (RFC 4648 section 4) for programs that do not link OpenSSL.  Keeps no
 * copy of its input: both `dst` and `in` may be secret memory.
 */
#ifndef BASE64_H
#define BASE64_H

#include <sys/types.h>

#include "common/span.h"

/* The encoded length of `n` bytes, without a NUL. */
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

/* Returns the value of a digit, or -1. */
static inline int
base64_digit(uint8_t c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Encode `in` into `dst`, which must have room for BASE64_LEN(in.len) bytes. */
void base64_put(uint8_t *dst, struct span in);
/*
 * Decode `in` into `dst`, which must have room for in.len bytes. The padding may
 * be missing. Returns the length, or -1 if this is no base64.
 */
ssize_t base64_take(uint8_t *dst, struct span in);

#endif
