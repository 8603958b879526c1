/* SPDX-License-Identifier: ISC */
/* Encodes only; nothing is decoded here. */
#include "common/http/base64.h"

void
base64_put(uint8_t *dst, struct span in)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
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
