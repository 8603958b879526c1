/* SPDX-License-Identifier: ISC */
/*
 * What a session may cost and what it did cost.  Tokens and models are told
 * by mitmd through auditd; requests, bytes and calls by those that enforce
 * the limits, from their own count.
 */
#ifndef BUDGET_H
#define BUDGET_H

#include <json-c/json.h>

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "config/fault.h"
#include "config/paths.h"

/* Founding names: maxTotalTokens, maxSteps, ... */
enum budget_key {
	BUDGET_TOKENS,
	BUDGET_STEPS, /* tool calls and model requests */
	BUDGET_SECONDS,
	BUDGET_USD,
	BUDGET_KEYS,
};

struct budget_limits {
	bool on[BUDGET_KEYS];
	double max[BUDGET_KEYS];
	unsigned warn; /* percent */
};

extern const struct budget_limits budget_dflt;
/* budget_keys.c */
const char *budget_name(enum budget_key);
const char *budget_unit(enum budget_key);
/* -1: no such key. */
int budget_find(const char *name);
/* May this key have this value? */
bool budget_value_ok(enum budget_key, double);
/* "maxSteps must be ...": what it may have. */
const char *budget_wants(enum budget_key, char *dst, size_t cap);

/* Reads prices; from now on everything counts. */
int budget_open(
    const struct budget_limits *, const struct paths *, struct fault *);
/* Tells keyds and policyd; before START. */
void budget_start(void);

/* What workers tell. */
void budget_usage(const struct msg_USAGE_SHOW *);
void budget_spent(unsigned provider, const struct msg_SPENT *);
void budget_calls(uint64_t calls);

/*
 * Stops the clock of maxSessionSeconds while `waiting`, that is, while at least
 * one call waits for a person, and lets it run again afterwards.
 */
void budget_waiting(bool waiting);

/* A person changes a limit; off: none. */
void budget_change(enum budget_key, bool on, double max);
struct json_object *budget_json(void);
/* Prometheus text. */
void budget_metrics(struct buf *);

#endif
