/* SPDX-License-Identifier: ISC */
/*
 * Troubles of a conversation: a turn failed because a quota is used up, the
 * provider is overloaded, the credential was refused, or the agent cannot go
 * on. The adapter's rules recognize them in the agent's messages (see
 * files/adapter/errors.h), and only if the turn failed; where they say nothing,
 * the status of the provider's answers does, which keyd reports.
 */
#ifndef TALK_TROUBLE_H
#define TALK_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "common/time_text.h"

/* A turn begins. */
void talk_trouble_begin(void);
/*
 * The agent has printed this; `error`: as an error, which counts more than what
 * it says.
 */
void talk_trouble_see(struct span text, bool error);
/*
 * A provider answered a model request with this status; 0: it failed in another
 * way, `count` times. `retry`: after as many seconds it may be tried again, or
 * 0. If the agent seems to wait or to try again, the person is told, once.
 */
void talk_trouble_answer(unsigned provider, struct span why, uint32_t count,
    unsigned status, uint32_t retry);
/*
 * The turn has ended. If it failed, tell the user what helps, in an event;
 * `cut`: by the person, or by a limit. Returns the trouble's name, or NULL.
 * Where the agent cannot go on with its conversation, its next turn begins
 * another.
 */
const char *talk_trouble_end(bool failed, bool cut);
/* Returns true if session.json may name a quota. */
bool talk_trouble_kept(void);
/*
 * Returns true while a quota is used up: after a turn that failed for it, or in
 * one that waits for it. `until`, unless NULL, becomes the time of its return
 * as text, "" if that is not known.
 */
bool talk_trouble_quota(char until[TIME_TEXT]);
/*
 * Returns the same of any session, at its end: without a conversation, a quota
 * is used up if the last answer of a provider said so, and until when.
 */
bool talk_trouble_left(char until[TIME_TEXT]);
/*
 * Returns the word for what refused, "gateway" or "provider": a server of the
 * user's own choice is a gateway.
 */
const char *talk_trouble_who(void);
/* Returns the milliseconds until then, or 0. */
uint64_t talk_trouble_quota_ms(void);
/* An earlier run of the session left a quota: `until` is as in session.json. */
void talk_trouble_carry(const char *until);

#endif
