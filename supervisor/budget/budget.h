/* SPDX-License-Identifier: ISC */
/*
 * The budget of a session and its use so far. mitmd reports tokens and models
 * through auditd; the workers that enforce the limits report requests, bytes
 * and calls from their own counts.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <json-c/json.h>

#include "base/fault.h"
#include "base/paths.h"
#include "common/buf.h"
#include "common/ipc/proto.h"

/* Named as in the TypeScript IronCurtain: maxTotalTokens, maxSteps, ... */
enum budget_key {
	BUDGET_TOKENS,
	BUDGET_STEPS, /* tool calls and model requests */
	BUDGET_SECONDS,
	BUDGET_TURN, /* seconds of the agent's turn */
	BUDGET_USD,
	/* the same, in one turn */
	BUDGET_TURN_TOKENS,
	BUDGET_TURN_STEPS,
	BUDGET_TURN_USD,
	BUDGET_KEYS,
};

struct budget_limits {
	bool on[BUDGET_KEYS];
	double max[BUDGET_KEYS];
	unsigned warn; /* percent */
};

extern const struct budget_limits budget_dflt;
/* files/budget_keys.c */
const char *budget_name(enum budget_key);
/* Returns true if the limit is one of a turn. */
bool budget_is_turn(enum budget_key);
/* Returns the session's limit that counts the same. */
enum budget_key budget_of_session(enum budget_key);
const char *budget_unit(enum budget_key, double n);
/* Returns the limit of that name, or -1. */
int budget_find(const char *name);
/* Returns true if the limit may have this value. */
bool budget_value_ok(enum budget_key, double);
/*
 * Write a text about the limit's range: "maxSteps must be ...". Returns `dst`.
 */
const char *budget_wants(enum budget_key, char *dst, size_t cap);

/* Read the prices and start counting. Returns 0, or -1 with the fault set. */
int budget_open(
    const struct budget_limits *, const struct paths *, struct fault *);
/* Tell keyds and policyd their limits; called before START. */
void budget_start(void);

/* Handle the workers' reports. */
void budget_usage(const struct msg_USAGE_SHOW *);
void budget_spent(unsigned provider, const struct msg_SPENT *);
void budget_calls(uint64_t calls);

/*
 * Returns true if no turn can begin, because tokens, steps or money are used
 * up; the reason is in `why`.
 */
bool budget_refusal_text(char *why, size_t cap);
/* turn.c */
/* The agent begins a turn, or its only one, which has limits of its own. */
void budget_turn(void);
/* The turn has ended: nothing counts for one until the next. */
void budget_turn_over(void);
/* Call this function instead of ending the session when a turn's limit is reached. */
void budget_turn_ends(void (*over)(const char *why));
/* Returns true if the question with that id still waits for its answer. */
bool budget_asks(uint64_t id);
/* Handle the recorded answer to a question about a limit. */
void budget_verdict(const struct msg_VERDICT_GO *);

/*
 * Stop the clocks of maxSessionSeconds and maxTurnSeconds while `waiting`, that
 * is, while at least one call is pending; let it run again afterwards.
 */
void budget_waiting(bool waiting);

/* Returns how much of the limit is used. */
double budget_used(enum budget_key);
/* Returns the milliseconds of the session in which no call was pending. */
uint64_t budget_elapsed(void);
/* Returns what answers have used of which there is no record yet. */
void budget_open_answers(double *tokens, double *usd);
/* Returns true while no time is counted. */
bool budget_paused(void);
/* Returns true if a person set this limit in the session, and it is in force. */
bool budget_person_set(enum budget_key, double *max);
/* Call this function whenever more is spent, or a limit is changed. */
void budget_watch(void (*changed)(void));
/* Returns the prices, once budget_open() has read them. */
const struct prices *budget_prices(void);
/* Count what earlier runs of the session spent; called before budget_start(). */
struct carry;
void budget_carry(const struct carry *);

/* Change a limit, or remove it if not `on`. */
void budget_change(enum budget_key, bool on, double max);
struct json_object *budget_json(void);
/* Add the metrics in Prometheus's text format. */
void budget_metrics(struct buf *);

#endif
