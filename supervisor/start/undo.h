/* SPDX-License-Identifier: ISC */
/* Undo in a running session: its operations on the control socket. */
#ifndef START_UNDO_H
#define START_UNDO_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct value;
struct value_pool;

/* READY: begin to make checkpoints. */
void undo_open(void);
/*
 * The person has said something to the agent by a prompt, or perhaps by the
 * Enter key, in a session without conversation. Make a checkpoint.
 */
void undo_person(bool prompt);
/* The agent has done something: the next Enter begins another turn. */
void undo_worked(void);
/* Returns the number of the turn that runs, or that was the last one. */
uint32_t undo_turn(void);
/*
 * Send the record of what the client asks for, an undo or a paste. Its reply is
 * composed here, and waits until auditd has written that very record. Takes
 * `detail` and its pool; `detail` may be NULL, which refuses the request.
 */
void undo_record(struct client *, const char *event, struct value_pool *,
    struct value *detail);
/*
 * auditd has written the next record of an undo or a paste: they come back in
 * the order in which they were sent. Or it can write no more.
 */
void undo_logged(void);

#endif
