/* SPDX-License-Identifier: ISC */
/*
 * The events of a conversation (ironcurtain-events(5)): each is a line of
 * SESSION/events.jsonl, and is sent to everyone who follows.
 */
#ifndef TALK_EVENTS_H
#define TALK_EVENTS_H

#include <json-c/json.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Open the file. `cut` tells how an earlier run left it, for talk_cut_free();
 * a line that was cut is taken back. Returns 0, or -1 with the fault set.
 */
struct talk_cut;
int talk_events_open(struct talk_cut *cut, struct fault *);
void talk_events_close(void);
/* The turn that runs, for events that do not know it; 0: none. */
void talk_events_turn(uint32_t turn);
/*
 * Tell of a pending call: `state` is how it ended, or NULL if it begins to
 * wait. Does nothing if the session is no conversation.
 */
void talk_event_hold(const char *id, const char *server, const char *tool,
    const char *state);
/* Tell of an event; `turn` 0: of none. Takes the object. */
void talk_event(const char *name, uint32_t turn, struct json_object *);
/*
 * Tell of an event of the turn that runs, if one does. Does nothing if the
 * session is no conversation. Takes the object.
 */
void talk_event_now(const char *name, struct json_object *);

#endif
