/* SPDX-License-Identifier: ISC */
/* Undo in a running session: its operations on the control socket. */
#ifndef START_UNDO_H
#define START_UNDO_H

#include <stdbool.h>
#include <stdint.h>

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
/* auditd has written the record of an undo, or can write no more. */
void undo_logged(void);

#endif
