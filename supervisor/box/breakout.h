/* SPDX-License-Identifier: ISC */
/*
 * The break-out test: before the agent runs, ic-bridge tries inside its sandbox
 * what an escape would try (docker/bridge/attempts.h), and ic-outsider tries to
 * reach into the workers from outside (box/outside.h).  The agent is started
 * only if every attempt fails as it must.
 */
#ifndef BREAKOUT_H
#define BREAKOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "box/box.h"
#include "config/fault.h"

#define BREAKOUT_OPTION 32U

/* The result, once the test has passed. */
struct breakout {
	bool passed;
	unsigned attempts; /* inside the sandbox */
	unsigned outside;  /* on workers; 0: not made, as root */
	unsigned micros;   /* from the sandbox's start to the last report */
	uint8_t table[32]; /* SHA-256 of the table of attempts */
};

/*
 * Adds the test's two pipes to the sandbox, and writes the value of ic-bridge's
 * option --probe to `option`.  Returns 0, or -1 with the fault set.
 */
int breakout_add(struct box *, char option[BREAKOUT_OPTION], struct fault *);
/*
 * The sandbox runs: asks for the test.  Once it has passed, the agent is let
 * start and `passed` is called; otherwise the session ends, and the layer of
 * the sandbox that does not hold is named.
 */
int breakout_begin(void (*passed)(void), struct fault *);
/* Without a sandbox: only the attempts from outside, in the same way. */
int breakout_begin_outside(void (*passed)(void), struct fault *);
/* Ends the session: the test did not pass. */
void breakout_refuse(const char *why);
/* The sandbox is gone: gives the test up. */
void breakout_free(void);
const struct breakout *breakout_result(void);
/* The result for status and session.json, or NULL: none has passed. */
struct json_object *breakout_json(void);

/*
 * outside.c: start the attempts from outside.  `over` is called with their
 * number, and with what got through, or "".
 */
typedef void outside_fn(unsigned attempts, const char *why);
int outside_begin(outside_fn *over, struct fault *);
void outside_free(void);

#endif
