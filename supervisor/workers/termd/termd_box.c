/* SPDX-License-Identifier: ISC */
/* The meaning of the frames that ic-bridge in the sandbox sends to termd. */
#include "workers/termd/termd.h"

#include <sys/socket.h>

#include <string.h>

#include "common/bridge_frames.h"
#include "common/log.h"

/* Passed on in pieces, to check the viewers' queues in between. */
#define BOX_PIECE 1024U

static bool
box_reads(void)
{
	if (termd_env.mode.wait && !termd_env.watched && !termd_env.stopping)
		return false;
	if (termd_env.mode.turns != PROTO_TURNS_NONE &&
	    chan_queued(termd_env.w.sup) > TERMD_AHEAD)
		return false;
	return !viewers_behind();
}

/* Send the size, the first of all frames; a new connection has room for it. */
static void
box_begin(int fd)
{
	uint8_t frame[BOX_HEADER + BOX_SIZE_DATA];

	if (termd_env.screen == NULL)
		return;
	box_header_put(frame, BOX_SIZE, BOX_SIZE_DATA);
	screen_size_put(termd_env.screen, frame + BOX_HEADER);
	if (send(fd, frame, sizeof(frame), MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
		log_warn("the size of the terminal");
}

static int
box_frame(enum box_kind kind)
{
	if (kind == BOX_TURN_END && termd_env.mode.turns == PROTO_TURNS_NONE)
		return -1;
	if (kind == BOX_STOPPED)
		viewers_stopped();
	if (kind == BOX_OUT_END || kind == BOX_ERR_END)
		output_end(kind == BOX_ERR_END);
	return 0;
}

static void
box_data(enum box_kind kind, struct span s, uint32_t left)
{
	if (kind != BOX_TURN_END) {
		output_bytes(kind == BOX_ERR, s);
		return;
	}
	memcpy(termd_env.turn + (BOX_TURN_DATA - left - s.len), s.p, s.len);
	if (left == 0)
		output_turn(bridge_get32(termd_env.turn));
}

static void
box_closed(void)
{
	viewers_taken();
	output_end(0);
	output_end(1);
}

const struct box_conn_ops termd_box_ops = {.piece = BOX_PIECE,
    .last = BOX_STOPPED,
    .reads = box_reads,
    .begin = box_begin,
    .frame = box_frame,
    .data = box_data,
    .taken = viewers_taken,
    .closed = box_closed};
