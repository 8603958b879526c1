/* SPDX-License-Identifier: ISC */
/* Composes the command of a turn, as a frame for ic-bridge. */
#ifndef COMPOSE_H
#define COMPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "common/buf.h"

#define COMPOSE_UUID 37U

struct compose {
	const char *inside; /* the agent's program, in the sandbox */
	const char *uuid;   /* the name of its conversation */
	struct span message;
	uint32_t turn;
	bool resume; /* the agent continues its conversation */
};

/* Choose a name for a conversation: a random UUID. */
void compose_uuid(char dst[COMPOSE_UUID]);
/*
 * Append the data of BRIDGE_TURN to `frame`. Returns 0, or -1 with the fault
 * set: the message cannot be given to this agent.
 */
int compose_turn(const struct compose *, struct buf *frame, struct fault *);
/* Returns true for text that termd has cleaned. */
bool compose_is_clean(struct span);

#endif
