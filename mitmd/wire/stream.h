/* SPDX-License-Identifier: ISC */
/*
 * The stream between mitmd and keyd: a SOCK_STREAM pair that keyd makes for
 * one agent connection and that serves exchange after exchange.  Both ways
 * it carries frames: u32 exchange, u8 type, u24 length (little-endian), then
 * that many bytes.
 *
 * mitmd -> keyd: BODY (at most STREAM_MAX_FRAME bytes), only while the
 * exchange that auditd released is open, in total exactly the announced
 * length.  keyd -> mitmd: HEAD once (u16 status, u8 framing: 0 no body, 1
 * length, 2 chunked or until close; u64 length; then headers as in REQUEST),
 * BODY, then END or FAIL.  FAIL's text is the status that the agent may be
 * told when no HEAD came yet, three digits, a space and a constant reason.
 * After FAIL the stream closes.  END may come before the body was read whole:
 * keyd then still counts its rest, but drops it.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stddef.h>
#include <stdint.h>

#define STREAM_HEADER 8U
#define STREAM_MAX_FRAME 65536U

enum stream_type {
	STREAM_BODY = 1,
	STREAM_HEAD = 2,
	STREAM_END = 3,
	STREAM_FAIL = 4,
};

struct stream_frame {
	uint32_t exchange;
	enum stream_type type;
	uint32_t len;
};

void stream_pack(uint8_t dst[STREAM_HEADER], const struct stream_frame *);
/* -1 EBADMSG: unknown type or over-long. */
int stream_unpack(const uint8_t src[STREAM_HEADER], struct stream_frame *);

#endif
