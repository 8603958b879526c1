/* SPDX-License-Identifier: ISC */
/*
 * Runs policyd without channels: the messages that it would send are recorded
 * in order, as text with their name and main fields. The clock is the loop's,
 * set by the test.
 */
#ifndef POLICY_RING_H
#define POLICY_RING_H

#include "policyd/policyd.h"
#include "unit/policyd/rig.h"

#define RING_MAX 256

struct ring_sent {
	enum role role;
	enum msg_type type;
	union proto_any msg;	/* texts point into `bytes` */
	uint8_t *bytes;
};

struct ring {
	struct rig rig;
	struct policyd_env env;
	struct loop loop;
	struct ring_sent sent[RING_MAX];
	unsigned n;
	uint64_t id;		/* id of the last call */
};

void ring_init(struct ring *, bool ask);
void ring_free(struct ring *);
/*
 * Add a server that is ready, with tools of these names, separated by spaces.
 */
void ring_ready(struct ring *, unsigned index, const char *name,
    const char *tools);
/* The same with the list as the server sends it: a JSON array. */
void ring_ready_json(struct ring *, unsigned index, const char *name,
    const char *tools);
/* Forget the recorded messages. */
void ring_clear(struct ring *);
/* Returns the n-th message of that type since then, or NULL. */
const union proto_any *ring_find(const struct ring *, enum msg_type,
    unsigned n);
/*
 * Make a call as the agent, with JSON arguments. Returns its id, or 0 after a
 * violation.
 */
uint64_t ring_call(struct ring *, unsigned server, const char *tool,
    const char *args);
void ring_verdict(struct ring *, uint64_t id, struct span digest, bool approve,
    const char *because);
/* Approve the call for the session with this offer, as it was shown. */
void ring_verdict_session(struct ring *, uint64_t id, struct span digest,
    const char *offer);
/* Returns the text of a span, for comparison; valid for two calls. */
const char *ring_str(struct span);

#endif
