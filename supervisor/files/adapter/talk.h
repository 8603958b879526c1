/* SPDX-License-Identifier: ISC */
/*
 * The part of an adapter that is about conversations: how a turn is given its
 * message, how the agent continues its own conversation, and what of its output
 * becomes an event.
 */
#ifndef ADAPTER_TALK_H
#define ADAPTER_TALK_H

#include <stdbool.h>

#include "base/jsonfile.h"
#include "common/ipc/proto.h"

struct adapter_rule {
	enum proto_turn kind;
	bool whole;
	char *when, *each, *part, *text; /* none is NULL */
};

struct adapter_talk {
	char **turn;   /* arguments of a conversation's first turn; NULL: none */
	char **resume; /* those of later ones; NULL: as the first */
	char **on;     /* with the full screen, to go on with the last one;
			  NULL: it cannot */
	bool argument; /* {message} is among them; else it is standard input */
	bool background; /* processes may outlive their turn */
	enum proto_turns format;
	struct adapter_rule rules[PROTO_MAX_TURN_RULES];
	unsigned nrules;
};

/*
 * In ic-reader: Read the members "turn", "resume", "continue", "message",
 * "output" and "background". Returns 0, or -1 with the fault set.
 */
int adapter_talk_read(
    struct adapter_talk *, const struct jsonfile *, struct json_object *root);

#endif
