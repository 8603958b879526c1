/* SPDX-License-Identifier: ISC */
/* Numbers of 32 bits in messages: the lowest byte comes first. */
#ifndef LE32_H
#define LE32_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void
le32_put(uint8_t dst[4], uint32_t v)
{
	v = htole32(v);
	memcpy(dst, &v, sizeof(v));
}

static inline uint32_t
le32_get(const uint8_t src[4])
{
	uint32_t v;

	memcpy(&v, src, sizeof(v));
	return le32toh(v);
}

#endif
