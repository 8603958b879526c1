/* SPDX-License-Identifier: ISC */
/*
 * Meters the usage in answers as they pass. Reports go to auditd for
 * icsupervisor, which may end an answer.
 */
#ifndef MITMD_USAGE_H
#define MITMD_USAGE_H

#include "mitmd.h"

/* The request is being sent: note the model that its path names. */
void usage_named(struct exchange *);
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
/* A turn of a WebSocket begins: report the usage of the last one. */
void usage_turn(struct exchange *);
/*
 * For struct front's farewell: report the reason in an event, if the agent can
 * read one here.
 */
bool usage_farewell(struct exchange *, enum refusal, const char *detail);
/* The exchange is over, successfully or not: report. */
void usage_end(struct exchange *);

#endif
