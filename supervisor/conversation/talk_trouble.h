/* SPDX-License-Identifier: ISC */
/*
 * Troubles of a conversation: a turn failed because a quota is used up, the
 * provider is overloaded, the credential was refused, or the agent cannot go
 * on. The adapter's rules recognize them in the agent's messages (see
 * config/adapter_errors.h), and only if the turn failed.
 */
#ifndef TALK_TROUBLE_H
#define TALK_TROUBLE_H

#include <stdbool.h>

#include "common/span.h"

#define TALK_UNTIL 32U

/* A turn begins. */
void talk_trouble_begin(void);
/*
 * The agent has printed this; `error`: as an error, which counts more than what
 * it says.
 */
void talk_trouble_see(struct span text, bool error);
/*
 * The turn has ended. If it failed, tell the user what helps, in an event.
 * Returns the trouble's name, or NULL.
 */
const char *talk_trouble_end(bool failed);
/*
 * Returns true while a quota is used up. `until`, unless NULL, becomes the time
 * of its return as text, "" if that is not known.
 */
bool talk_trouble_quota(char until[TALK_UNTIL]);

#endif
