/* SPDX-License-Identifier: ISC */
/*
 * The stream between ic-bridge, as process 1 of the agent's sandbox, and
 * icsupervisor, over the one connection that ic-bridge makes to bridge.sock
 * before anything of the agent runs.  Both directions carry frames: a kind,
 * three zero bytes, the length of the data as 32 bits, then the data.  Numbers
 * are little-endian.  Only libc is needed, because ic-bridge has nothing else.
 *
 * ic-bridge runs in the sandbox: icsupervisor believes nothing that it says
 * without a check, and ends the session at a frame that this header does not
 * allow, or that was not asked for.
 */
#ifndef BRIDGE_FRAMES_H
#define BRIDGE_FRAMES_H

#include <stdint.h>

#define BRIDGE_VERSION 1U
#define BRIDGE_HEADER 8U
#define BRIDGE_MAX_REPORT 65536U

enum bridge_kind {
	/* ic-bridge to icsupervisor */
	BRIDGE_HELLO = 0x01,  /* version: 32 bits; the first frame */
	BRIDGE_PROBED = 0x02, /* the break-out test's report: attempts.h */
	BRIDGE_ENDED = 0x03,  /* turn, exit status, processes that it left */
	/* icsupervisor to ic-bridge */
	BRIDGE_PROBE = 0x11, /* struct attempt_ask: make the test, and report */
	BRIDGE_GO = 0x12,    /* it has passed: start the agent; no data */
	BRIDGE_TURN = 0x13,  /* run a command: struct bridge_turn, and more */
	BRIDGE_SIGNAL = 0x14, /* turn, signal: for the turn's command */
};

#define BRIDGE_HELLO_DATA 4U
#define BRIDGE_ENDED_DATA 12U
#define BRIDGE_SIGNAL_DATA 8U
#define BRIDGE_MAX_ARGV (512U << 10)
#define BRIDGE_MAX_MESSAGE (1U << 20)
#define BRIDGE_MAX_TURN (BRIDGE_TURN_DATA + BRIDGE_MAX_ARGV + BRIDGE_MAX_MESSAGE)

/*
 * Before the data of BRIDGE_TURN: the turn, its flags, the number of arguments
 * and their length, each 32 bits.  The arguments follow, each with its NUL;
 * then the message.
 */
#define BRIDGE_TURN_DATA 16U
#define BRIDGE_TURN_INPUT 1U /* the message is the command's standard input */
#define BRIDGE_TURN_KEEP 2U  /* its processes may outlive it */

static inline void
bridge_put32(uint8_t dst[4], uint32_t n)
{
	for (unsigned i = 0; i < 4; i++)
		dst[i] = (uint8_t)(n >> (8 * i));
}

static inline uint32_t
bridge_get32(const uint8_t src[4])
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 4; i++)
		n |= (uint32_t)src[i] << (8 * i);
	return n;
}

static inline void
bridge_header_put(
    uint8_t dst[BRIDGE_HEADER], enum bridge_kind kind, uint32_t len)
{
	dst[0] = (uint8_t)kind;
	dst[1] = dst[2] = dst[3] = 0;
	bridge_put32(dst + 4, len);
}

/*
 * Decode a header of a frame from ic-bridge.  Returns 0, or -1 if no such frame
 * exists or its length is not one that its kind can have.
 */
static inline int
bridge_header_get(
    const uint8_t src[BRIDGE_HEADER], enum bridge_kind *kind, uint32_t *len)
{
	uint32_t n = bridge_get32(src + 4);

	if (src[1] != 0 || src[2] != 0 || src[3] != 0)
		return -1;
	switch (src[0]) {
	case BRIDGE_HELLO:
		if (n != BRIDGE_HELLO_DATA)
			return -1;
		break;
	case BRIDGE_PROBED:
		/* The judge compares its length. */
		if (n > BRIDGE_MAX_REPORT)
			return -1;
		break;
	case BRIDGE_ENDED:
		if (n != BRIDGE_ENDED_DATA)
			return -1;
		break;
	default:
		return -1;
	}
	*kind = (enum bridge_kind)src[0];
	*len = n;
	return 0;
}

#endif
