/* SPDX-License-Identifier: ISC */
/*
 * The stream between keyd and the process that reads its answers: a SOCK_STREAM
 * pair that keyd creates. For mitmd it belongs to one agent connection and
 * carries one exchange after the other; for mcp-backd, which only reads, to one
 * POST to a remote MCP server. In both
 * directions it carries frames: u32 exchange, u8 type, u24 length
 * (little-endian), then that many bytes.
 *
 * mitmd -> keyd: BODY (at most STREAM_MAX_FRAME bytes), only while the exchange
 * that auditd released is open, and in total exactly the announced length.
 *
 * keyd -> mitmd: HEAD once (u16 status, u8 framing: 0 no body, 1 length, 2
 * chunked or until close; u64 length; then headers as in REQUEST), BODY, then
 * END or FAIL. FAIL says in its first byte whether the whole request was sent
 * to the provider, which may then have begun to answer it; the rest is for the
 * agent, if no HEAD was sent: a three-digit status, a space and a constant
 * reason. The stream closes after FAIL. END may come before the whole body was
 * read: keyd then still counts the rest, but discards it.
 *
 * In both directions AT may take the place of BODY: the bytes are in a slot of
 * the arena of mitmd and this keyd (common/ipc/arena.h), and the frame has u32
 * slot, u32 round, u32 length. The receiver copies them out, piece by piece,
 * before anything reads them, and gives the slot back; if the slot was written
 * again, which happens only after the sender has closed the stream, the stream
 * is over. A sender without a free slot sends BODY. The approver has no arena.
 *
 * keyd -> mitmd: FOLLOW, without content and in the place of HEAD, says that
 * the answer is a file elsewhere, which followd will send on a stream of its
 * own. mitmd takes no answer of followd for an exchange without it. Nothing
 * follows it in its exchange.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "common/ipc/arena.h"
#include "common/span.h"

#define STREAM_HEADER 8U
#define STREAM_MAX_FRAME 65536U

enum stream_type {
	STREAM_BODY = 1,
	STREAM_HEAD = 2,
	STREAM_END = 3,
	STREAM_FAIL = 4,
	STREAM_AT = 5,
	STREAM_FOLLOW = 6,
};

#define STREAM_AT_LEN 12U

/* The first byte of FAIL. */
#define STREAM_UNSENT 0U
#define STREAM_SENT 1U

struct stream_frame {
	uint32_t exchange;
	enum stream_type type;
	uint32_t len;
};

/* The fixed part of HEAD, before the headers. */
#define STREAM_HEAD_LEN 11U

void stream_pack(uint8_t dst[STREAM_HEADER], const struct stream_frame *);
/* Returns 0, or -1 with EBADMSG for an unknown type or an impossible length. */
int stream_unpack(const uint8_t src[STREAM_HEADER], struct stream_frame *);
/* Pack an AT frame, with its header. */
void stream_at_pack(uint8_t dst[STREAM_HEADER + STREAM_AT_LEN],
    uint32_t exchange, const struct arena_piece *);
/*
 * Returns 0, or -1 with EBADMSG if there is no such slot, or the length is 0 or
 * excessive.
 */
int stream_at_unpack(const uint8_t src[STREAM_AT_LEN], struct arena_piece *);
/*
 * Take the next header off the front of `rest`. Returns 1, 0 at the end, or -1
 * with EBADMSG.
 */
int stream_field(struct span *rest, struct span *name, struct span *value);

#endif
