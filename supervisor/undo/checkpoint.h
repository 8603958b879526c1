/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints of the workspace while a session runs: icsupervisor starts
 * ic-snap for each, takes its report, and records it. One runs at a time, and
 * others wait. A session goes on without checkpoints that cannot be made.
 */
#ifndef UNDO_CHECKPOINT_H
#define UNDO_CHECKPOINT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

enum checkpoint_kind {
	CHECKPOINT_START,
	CHECKPOINT_TURN,  /* before a turn */
	CHECKPOINT_ENTER, /* before what may be one; kept if files changed */
	CHECKPOINT_AFTER, /* after one */
	CHECKPOINT_NAMED, /* a person asked for it */
	CHECKPOINT_UNDO,  /* before an undo */
	CHECKPOINT_END
};

/* Returns true if this session is to make checkpoints. */
bool undo_wanted(void);
/* Returns true if it makes them. */
bool undo_on(void);
/* READY: make the first one, before that turn. `done` gets the ticket of each
 * that is over. */
void undo_begin(
    uint32_t turn, void (*done)(uint32_t ticket, struct json_object *report));
/*
 * Make one. `name` is for named ones; `to` is the one that an undo wants back.
 * Returns a ticket, or 0 if there are no checkpoints or too many wait.
 */
uint32_t undo_checkpoint(
    enum checkpoint_kind, uint32_t turn, const char *name, uint32_t to);
/*
 * Make one before a turn, and call `go` when it is over, or after two seconds.
 * Returns false, without calling it, if there is nothing to wait for.
 */
bool undo_before(uint32_t turn, void (*go)(void));
/* Nobody waits for it any more. */
void undo_forget_turn(void);
/* The agent has ended: make the last one, in two seconds or not at all. */
void undo_end(uint32_t turn);
/* For `icctl status`; NULL without checkpoints. */
struct json_object *undo_json(void);

/* notice.c: what the agent is told with the next message. */
/* Returns a line to put before it, or "". */
const char *undo_notice(void);
void undo_notice_set(uint32_t turn, const char *what);
void undo_notice_told(void);
/* Returns true if a person is putting the workspace back. */
bool undo_runs(void);

#endif
