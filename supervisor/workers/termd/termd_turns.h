/* SPDX-License-Identifier: ISC */
/*
 * A conversation: the agent's output of each turn, as texts for icsupervisor.
 * Lines of JSON are read by rules of the agent's adapter; otherwise the output
 * is the text.
 */
#ifndef TERMD_TURNS_H
#define TERMD_TURNS_H

#include "common/ipc/proto.h"
#include "common/span.h"

#define TURNS_LINE_MAX (1U << 20)  /* a longer line is an error */
#define TURNS_TEXT_MAX (16U << 20) /* per turn; the rest is dropped */

/* Receives a text of at most PROTO_MAX_TEXT bytes. */
typedef void turns_fn(enum proto_turn, struct span);

/* Begin, with the mode of TERM_MODE. */
void turns_start(enum proto_turns, turns_fn *);
/* Returns 0, or -1 if the rule cannot be used. */
int turns_rule(const struct msg_TURN_RULE *);
void turns_bytes(unsigned stream, struct span);
/* A line is unfinished: show what there is of it, where it is text. */
void turns_flush(void);
/* A stream has ended. */
void turns_end(unsigned stream);
/* The turn has ended; all its output has come. */
void turns_over(void);
/* Returns true if turns_flush() would send something. */
bool turns_partial(void);

#endif
