/* SPDX-License-Identifier: ISC */
/*
 * Headers of the frames on the stream between mitmd and keyd. Keeps no state;
 * either side may be hostile to the other.
 */
#include "wire/stream.h"

#include <errno.h>

void
stream_pack(uint8_t dst[STREAM_HEADER], const struct stream_frame *f)
{
	dst[0] = (uint8_t)f->exchange;
	dst[1] = (uint8_t)(f->exchange >> 8);
	dst[2] = (uint8_t)(f->exchange >> 16);
	dst[3] = (uint8_t)(f->exchange >> 24);
	dst[4] = (uint8_t)f->type;
	dst[5] = (uint8_t)f->len;
	dst[6] = (uint8_t)(f->len >> 8);
	dst[7] = (uint8_t)(f->len >> 16);
}

int
stream_unpack(const uint8_t src[STREAM_HEADER], struct stream_frame *f)
{
	uint32_t len;

	len = (uint32_t)src[5] | (uint32_t)src[6] << 8 | (uint32_t)src[7] << 16;
	if (src[4] < STREAM_BODY || src[4] > STREAM_FAIL ||
	    len > STREAM_MAX_FRAME) {
		errno = EBADMSG;
		return -1;
	}
	f->exchange = (uint32_t)src[0] | (uint32_t)src[1] << 8 |
		      (uint32_t)src[2] << 16 | (uint32_t)src[3] << 24;
	f->type = (enum stream_type)src[4];
	f->len = len;
	return 0;
}
