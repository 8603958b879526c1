/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's side of the agent's terminal: termd, the socket on which
 * ic-bridge reaches it, and the channels of its viewers. The session does not
 * depend on termd: if it dies, an alarm is recorded and it is started again
 * with an empty screen.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "base/fault.h"
#include "common/ipc/proto.h"
#include "common/loop.h"

/* At most this many restarts in this many ms; then wait. */
#define TERMINAL_AGAIN 3U
#define TERMINAL_AGAIN_MS 60000U

struct child;

struct terminal {
	/* As in TERM_MODE; set before the workers are configured. */
	bool screen, wait, raw_out, raw_err;
	enum proto_turns turns;
	uint16_t rows, cols;
	/* Called when a new termd runs, without viewers yet; may be NULL. */
	void (*again)(void);
	/* Called before a termd gets its START; may be NULL. */
	void (*rules)(void);
	/* Called when a termd has ended; may be NULL. */
	void (*lost)(void);
	/* Called when termd ended after terminal_stop(); may be NULL. */
	void (*left)(void);
	/* Private to terminal.c. */
	int listener;     /* terminal.sock; termd has a duplicate */
	uint32_t viewers; /* number of viewers so far */
	struct child *child;
	bool leaving;
	uint64_t begun[TERMINAL_AGAIN]; /* loop_now() of each restart, or 0 */
	unsigned nbegun;
	struct loop_timer timer;
};

void terminal_init(void);
/* Create terminal.sock. */
int terminal_open(struct fault *);
/* Send termd its mode, before START. */
void terminal_setup(void);
/*
 * Create a viewer's channel. Returns the viewer's end, or -1 if termd does not
 * run at the moment. `types` and `waits`: see VIEWER in proto.h.
 */
int terminal_viewer(bool types, bool waits, struct fault *);
/*
 * Tell termd to pass on what it has and end, which takes as long as a viewer
 * that it waits for. terminal_left() returns true once it has ended.
 */
void terminal_stop(void);
bool terminal_left(void);

/* handlers.c: a restarted termd is confined. */
void terminal_hello(struct child *);
/* termd's channel closed; `why`: it broke the protocol, or NULL. */
void terminal_closed(struct child *, const char *why);

#endif
