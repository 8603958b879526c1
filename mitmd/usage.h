/* SPDX-License-Identifier: ISC */
/*
 * What answers cost, as they pass; told to icsupervisor, which may end them.
 */
#ifndef MITMD_USAGE_H
#define MITMD_USAGE_H

#include "mitmd.h"

/* The request goes: its path may be the only one that names the model. */
void usage_named(struct exchange *);
/* The answer's head came. */
void usage_begin(struct exchange *, struct span headers);
void usage_feed(struct exchange *, struct span);
/*
 * What was fed goes to the agent; of an event stream whole messages, so that
 * one of ours can follow wherever it is cut.  -1: as struct front.
 */
int usage_pass(struct exchange *, struct span);
/* No more will come: so does what is left. */
int usage_rest(struct exchange *);
/* A turn of a WebSocket begins: what the latest one cost is told. */
void usage_turn(struct exchange *);
/* For struct front: say it in an event of its own, if one can be read. */
bool usage_farewell(struct exchange *, enum refusal, const char *detail);
/* The exchange is over, well or not. */
void usage_end(struct exchange *);

#endif
