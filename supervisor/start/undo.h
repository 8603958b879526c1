/* SPDX-License-Identifier: ISC */
/* Undo in a running session: its operations on the control socket. */
#ifndef START_UNDO_H
#define START_UNDO_H

/* READY: begin to make checkpoints. */
void undo_open(void);
/* auditd has written the record of an undo, or can write no more. */
void undo_logged(void);

#endif
