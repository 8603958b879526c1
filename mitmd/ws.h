/* SPDX-License-Identifier: ISC */
/*
 * A WebSocket of the agent.  Its messages are put together, checked as a
 * POST's body would be, and go on as one frame each; frames of the provider,
 * which keyd has looked through, go to the agent as they come.
 */
#ifndef MITMD_WS_H
#define MITMD_WS_H

#include "mitmd.h"

#define WS_MAX_IDLE 200U /* control frames between two messages */

struct ws {
	char accept[WS_ACCEPT + 1];
	bool up;               /* 101 is out */
	bool sending;          /* x->held is a frame on its way to keyd */
	bool said;             /* our close is out: nothing is read */
	struct ws_parser in;   /* what the agent sends */
	struct ws_parser back; /* what keyd sends */
	unsigned idle;         /* control frames since the last message */
	uint8_t control[WS_MAX_CONTROL];
	size_t ncontrol;
};

/* A close frame of ours, then the end of the connection. */
void ws_end(struct exchange *, enum ws_code, const char *reason);

#endif
