/* SPDX-License-Identifier: ISC */
/*
 * A turn waits for the checkpoint that is made before it: its frame is kept
 * until then, and sent to ic-bridge.
 */
#ifndef TALK_WAIT_H
#define TALK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "common/buf.h"
#include "conversation/compose.h"

/* Compose a turn; the notice of an undo stands before its message. */
int talk_wait_compose(struct compose *, struct buf *frame, struct fault *);
/*
 * Send the frame of a turn, now or when its checkpoint is made; takes it. In
 * the second case `go` is called first, and the turn is dropped if it returns
 * false; `gone` is called if it was not sent. Returns 0, or -1 with the fault
 * set if it cannot be sent now.
 */
int talk_wait_send(struct buf *frame, uint32_t turn, bool (*go)(void),
    void (*gone)(bool dropped), struct fault *);
/* Returns true while a turn waits. */
bool talk_waits(void);
/* The session ends: nothing is sent any more. */
void talk_wait_end(void);

#endif
