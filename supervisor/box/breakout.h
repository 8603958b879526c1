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
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* The result, once the test has passed. */
struct json_object;

struct breakout {
	bool passed;
	unsigned attempts; /* inside the sandbox */
	unsigned outside;  /* on workers; 0: not made, as root */
	unsigned micros;   /* from the sandbox's start to the last report */
	uint8_t table[32]; /* SHA-256 of the table of attempts */
};

/*
 * The sandbox runs: request the test. Once it has passed, ic-bridge may start
 * the agent and `passed` is called; otherwise the session ends with a message
 * that names the faulty layer of the sandbox.
 */
int breakout_begin(void (*passed)(void), struct fault *);
/* The same without a sandbox: only the attempts from outside. */
int breakout_begin_outside(void (*passed)(void), struct fault *);
/*
 * Judge the report of ic-bridge. `first`: it came from process 1 of the
 * sandbox.
 */
void breakout_report(const uint8_t *, size_t len, bool first);
/* End the session: the test did not pass. */
void breakout_refuse(const char *why);
/* The sandbox has ended: abandon the test. */
void breakout_free(void);
const struct breakout *breakout_result(void);
/*
 * Returns the result for status and session.json, or NULL if none has passed.
 */
struct json_object *breakout_json(void);

/*
 * outside.c: start the attempts from outside. `over` is called with their
 * number, and with the one that succeeded, or "".
 */
typedef void outside_fn(unsigned attempts, const char *why);
int outside_begin(outside_fn *over, struct fault *);
void outside_free(void);
/* Returns every attempt of the last test and its answer. */
struct json_object *outside_json(void);

#endif
