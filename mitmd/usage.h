/* SPDX-License-Identifier: ISC */
/*
 * Meters the usage in answers as they pass. Reports go to auditd for
 * icsupervisor, which may end an answer. Each request that the provider may
 * have begun to answer is reported once as complete, whoever ends it; counts
 * that its answer does not have are estimated.
 */
#ifndef MITMD_USAGE_H
#define MITMD_USAGE_H

#include "mitmd.h"

/* The request is being sent. */
void usage_sent(struct exchange *);
/* The answer's head arrived: choose the meter. */
void usage_begin(struct exchange *, struct span headers);
void usage_feed(struct exchange *, struct span);
/*
 * Pass metered bytes to the agent; of an event stream only whole messages, so
 * that mitmd's own message can follow at any cut. Returns -1 as in struct
 * front.
 */
int usage_pass(struct exchange *, struct span);
/* No more input follows: pass the rest. */
int usage_rest(struct exchange *);
/*
 * A message of a WebSocket is being sent: report the usage of the one before
 * it.
 */
void usage_turn(struct exchange *);
/*
 * For struct front's farewell: report the reason in an event, if the agent can
 * read one here.
 */
bool usage_farewell(struct exchange *, enum refusal, const char *detail);
/* The exchange is over: report. `complete`: its answer was read to its end. */
void usage_end(struct exchange *, bool complete);
/* The request did not reach the provider: it costs nothing. */
void usage_drop(struct exchange *);

#endif
