/* SPDX-License-Identifier: ISC */
/*
 * Calls outside the views. Each gets a process of its own: an instance of its
 * server that sees the objects of this call and none of the user's other files.
 * policyd requests it through the log, initialises it like any server, rebuilds
 * and sends the call, and ends the instance with the call.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "approval/hold.h"

#define INSTANCE_WAITING	24U	/* in addition to the running ones */
#define INSTANCE_MAX		(PROTO_MAX_INSTANCES + INSTANCE_WAITING)
#define INSTANCE_MS		10000U	/* from the request for an instance
					   to the call */
#define INSTANCE_ANSWERS	100U	/* answers to its own requests */

enum instance_state {
	INSTANCE_NONE,
	INSTANCE_QUEUED,	/* waiting for others to end */
	INSTANCE_ASKED,
	INSTANCE_GREETED,	/* initialize was sent */
	INSTANCE_READY,
	INSTANCE_CALLED,	/* the call was sent */
};

struct instance {
	enum instance_state state;
	struct hold hold;	/* the call, to be rebuilt */
	enum proto_hold how;	/* approved, or PROTO_HOLD_NONE */
	uint16_t index;		/* index of the process, once it runs */
	uint16_t moved;		/* index under which mcp-proxyd expects the
				   result */
	unsigned answers;
	uint64_t asked;		/* loop ms; also the order of the queue */
};

#endif
