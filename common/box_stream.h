/* SPDX-License-Identifier: ISC */
/*
 * The stream between ic-bridge in the agent's sandbox and termd on the host,
 * over one connection that ic-bridge makes to terminal.sock.  Both directions
 * carry frames: a kind, the length of the data as 32 bits little-endian, then
 * the data.  Only libc is needed, because ic-bridge has nothing else.
 *
 * The bytes of OUT and ERR are the agent's and may be anything.  termd closes
 * the connection at a frame that this header does not allow; ic-bridge does
 * the same.
 */
#ifndef BOX_STREAM_H
#define BOX_STREAM_H

#include <stdint.h>

#define BOX_HEADER 5U
#define BOX_MAX_DATA 65536U /* per frame */

enum box_kind {
	/* ic-bridge to termd */
	BOX_OUT = 0x01,	    /* the pseudo-terminal, or standard output */
	BOX_ERR = 0x02,	    /* standard error, where it is a pipe */
	BOX_OUT_END = 0x03, /* no more BOX_OUT; no data */
	BOX_ERR_END = 0x04, /* no more BOX_ERR; no data */
	BOX_TURN_END = 0x05, /* that was the output of a turn: 32 bits */
	/* the command has stopped, and waits for BOX_CONTINUE; no data */
	BOX_STOPPED = 0x06,
	/* termd to ic-bridge */
	BOX_DATA = 0x11, /* typed, or standard input */
	BOX_EOF = 0x12,  /* end of standard input; no data */
	BOX_SIZE = 0x13, /* rows, columns: 16 bits little-endian each */
	/* its reader is gone: data 0 for BOX_OUT, 1 for BOX_ERR */
	BOX_SHUT = 0x14,
	BOX_CONTINUE = 0x15, /* after BOX_STOPPED; no data */
};

#define BOX_SIZE_DATA 4U
#define BOX_SHUT_DATA 1U
#define BOX_TURN_DATA 4U

static inline void
box_header_put(uint8_t dst[BOX_HEADER], enum box_kind kind, uint32_t len)
{
	dst[0] = (uint8_t)kind;
	for (unsigned i = 0; i < 4; i++)
		dst[1 + i] = (uint8_t)(len >> (8 * i));
}

/*
 * Decode a header.  Returns 0, or -1 if no such frame exists or its length
 * exceeds the maximum for its kind.  The caller checks that the kind belongs to
 * the direction.
 */
static inline int
box_header_get(
    const uint8_t src[BOX_HEADER], enum box_kind *kind, uint32_t *len)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n |= (uint32_t)src[1 + i] << (8 * i);
	switch (src[0]) {
	case BOX_OUT:
	case BOX_ERR:
	case BOX_DATA:
		if (n == 0 || n > BOX_MAX_DATA)
			return -1;
		break;
	case BOX_OUT_END:
	case BOX_ERR_END:
	case BOX_EOF:
	case BOX_STOPPED:
	case BOX_CONTINUE:
		if (n != 0)
			return -1;
		break;
	case BOX_SIZE:
		if (n != BOX_SIZE_DATA)
			return -1;
		break;
	case BOX_TURN_END:
		if (n != BOX_TURN_DATA)
			return -1;
		break;
	case BOX_SHUT:
		if (n != BOX_SHUT_DATA)
			return -1;
		break;
	default:
		return -1;
	}
	*kind = (enum box_kind)src[0];
	*len = n;
	return 0;
}

#endif
