/* SPDX-License-Identifier: ISC */
/*
 * A conversation: a session that a person sends messages to. Each message is a
 * turn, which runs the agent's command once in the sandbox that stays; one runs
 * at a time. icsupervisor composes the command from the adapter and starts it
 * through ic-bridge; the texts come from termd.
 */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "common/ipc/proto.h"
#include "common/span.h"

/* Returns true if this session is a conversation. */
bool conversation_on(void);
/*
 * Open the record of events. `turned` is called when a turn begins, with true,
 * and when it has ended. Returns 0, or -1 with the fault set.
 */
int conversation_open(void (*turned)(bool begins), struct fault *);
/* compose.c: Send termd the rules of the agent's output, before START. */
void conversation_rules(void);
/*
 * The sandbox has been tested: messages can be taken. `inside` is the agent's
 * program in the sandbox.
 */
void conversation_ready(const char *inside);
/* Returns a word for people: "ready", "processing" and so on. */
const char *conversation_state(void);
/* Returns the number of the turn that runs, or of the last one. */
uint32_t conversation_turn(void);
bool conversation_runs(void);
/*
 * Begin a turn. Returns NULL, or the reason why it did not begin, with an error
 * code in `*code`.
 */
const char *conversation_send(struct span message, const char **code);
/* Interrupt the turn. Returns false if none runs. */
bool conversation_interrupt(void);
/*
 * A provider answered a model request, or failed `count` times; see
 * talk_trouble_answer().
 */
void conversation_answer(unsigned provider, struct span why, uint32_t count,
    unsigned status, uint32_t retry);
/* The session ends: so does the turn, and the conversation. */
void conversation_close(const char *why);

/* ic-bridge reports the end of the command. Returns -1 if it is another's. */
int conversation_ended(const uint8_t *, size_t);
/* termd: a text; the end of a turn's output. Return -1 if impossible. */
int conversation_text(const struct msg_TURN_TEXT *);
void conversation_printed(uint32_t turn);
/* termd has ended: what it had of the turn's output is lost. */
void conversation_unprinted(void);

#endif
