/* SPDX-License-Identifier: ISC */
/*
 * Writes the session's state into its log, for the run that may go on with it
 * (carry.h): what was spent, limits that a person set, providers that are
 * locked, and approvals of more than one call.
 */
#ifndef STATE_H
#define STATE_H

#include <stdint.h>

/*
 * Write everything: after the first record of a run, and before its last. Also
 * begins to write what changes in between.
 */
void state_all(void);
/* Write what was spent, and which providers are locked, now. */
void state_spent(void);
/* Call `noted` after each record of what was spent, at most once a second. */
void state_noted(void (*noted)(void));

#endif
