/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor's side of the agent's terminal: termd, the socket at which
 * ic-bridge reaches it, and the channels of its viewers.  termd stands in no
 * ring, so its death does not end the session: an alarm is recorded and it is
 * started again with nothing on its screen.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include "common/loop.h"
#include "config/fault.h"

/* So many starts in so many ms; then it waits for the first to be old enough.
 */
#define TERMINAL_AGAIN 3U
#define TERMINAL_AGAIN_MS 60000U

struct child;

struct terminal {
	/* As in TERM_MODE; set before the session's workers are told. */
	bool screen, wait, raw_out, raw_err;
	uint16_t rows, cols;
	/* A new termd runs and has no viewers yet; NULL: nobody asks. */
	void (*again)(void);
	/* It ended after terminal_stop(); NULL: nobody asks. */
	void (*left)(void);
	/* These are terminal.c's own. */
	int listener;     /* terminal.sock; termd has a duplicate */
	uint32_t viewers; /* so many there were */
	struct child *child;
	bool leaving;
	uint64_t begun[TERMINAL_AGAIN]; /* loop_now() of restarts, or 0 */
	unsigned nbegun;
	struct loop_timer timer;
};

void terminal_init(void);
/* Makes terminal.sock. */
int terminal_open(struct fault *);
/* Tells termd its mode, before START. */
void terminal_setup(void);
/*
 * A viewer's channel: returns the end that the viewer shall get, or -1 if
 * there is no termd at the moment.  types, waits: see VIEWER in proto.h.
 */
int terminal_viewer(bool types, bool waits, struct fault *);
/*
 * Tells termd to pass on what it has and end.  terminal_left() says whether it
 * has ended; it takes as long as a viewer that it waits for.
 */
void terminal_stop(void);
bool terminal_left(void);

/* handlers.c: a termd that was started again is confined. */
void terminal_hello(struct child *);
/* Its channel closed; why: it broke the protocol. */
void terminal_closed(struct child *, const char *why);

#endif
