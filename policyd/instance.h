/* SPDX-License-Identifier: ISC */
/*
 * Calls outside of the views.  Each gets a process of its own: an instance of
 * its server that sees the objects of this call and nothing else of the
 * user's.  policyd asks for it through the log, greets it as any server, makes
 * the call again, and has it ended with the call.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "hold.h"

#define INSTANCE_WAITING	24U	/* beyond those that run */
#define INSTANCE_MAX		(PROTO_MAX_INSTANCES + INSTANCE_WAITING)
#define INSTANCE_MS		10000U	/* from being asked for to the call */
#define INSTANCE_ANSWERS	100U	/* to its own requests */

enum instance_state {
	INSTANCE_NONE,
	INSTANCE_QUEUED,	/* others have to end first */
	INSTANCE_ASKED,
	INSTANCE_GREETED,	/* initialize was sent */
	INSTANCE_READY,
	INSTANCE_CALLED,	/* the call is out */
};

struct instance {
	enum instance_state state;
	struct hold hold;	/* the call, to be made again */
	enum proto_hold how;	/* approved, or not held at all */
	uint16_t index;		/* once it runs */
	uint16_t moved;		/* where mcp-proxyd takes the result from */
	unsigned answers;
	uint64_t asked;		/* loop ms; order of the queue, too */
};

#endif
