/* SPDX-License-Identifier: ISC */
/*
 * A WebSocket of the agent. Its messages are assembled, checked as the body of
 * a POST would be, and sent on as one frame each. Frames of the provider, which
 * keyd has inspected, go to the agent as they arrive.
 */
#ifndef MITMD_WS_H
#define MITMD_WS_H

#include "mitmd.h"

#define WS_MAX_IDLE 200U /* control frames between two messages */

struct ws {
	char accept[WS_ACCEPT + 1];
	bool up;      /* 101 was sent */
	bool sending; /* x->held is a frame being sent to keyd */
	bool said;    /* mitmd's close frame was sent: nothing more is read */
	struct ws_parser in;   /* frames from the agent */
	struct ws_parser back; /* frames from keyd */
	unsigned idle;         /* control frames since the last message */
	uint8_t control[WS_MAX_CONTROL];
	size_t ncontrol;
};

/* Send a close frame, then end the connection. */
void ws_end(struct exchange *, enum ws_code, const char *reason);

#endif
