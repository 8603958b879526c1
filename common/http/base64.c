/* SPDX-License-Identifier: ISC */
#include "common/http/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_put(uint8_t *dst, struct span in)
{
	size_t left;
	uint32_t w = 0;

	for (size_t i = 0; i < in.len; i += 3) {
		left = in.len - i;
		w = (uint32_t)in.p[i] << 16;
		if (left > 1)
			w |= (uint32_t)in.p[i + 1] << 8;
		if (left > 2)
			w |= in.p[i + 2];
		*dst++ = (uint8_t)digits[w >> 18];
		*dst++ = (uint8_t)digits[w >> 12 & 63];
		*dst++ = left > 1 ? (uint8_t)digits[w >> 6 & 63] : '=';
		*dst++ = left > 2 ? (uint8_t)digits[w & 63] : '=';
	}
	explicit_bzero(&w, sizeof(w));
}

ssize_t
base64_take(uint8_t *dst, struct span in)
{
	uint8_t *to = dst;
	uint32_t w = 0;
	size_t n = 0;
	int digit;

	for (; in.len != 0 && in.p[in.len - 1] == '=' && n < 2; n++)
		in.len--;
	if (in.len % 4 == 1 || (n != 0 && (in.len + n) % 4 != 0))
		return -1;
	for (size_t i = 0; i < in.len; i++) {
		if ((digit = base64_digit(in.p[i])) == -1)
			return -1;
		w = w << 6 | (uint32_t)digit;
		if (i % 4 != 0)
			*to++ = (uint8_t)(w >> (6 - i % 4 * 2));
	}
	return to - dst;
}
