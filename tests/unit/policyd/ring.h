/* SPDX-License-Identifier: ISC */
/*
 * policyd without channels: what it would send is kept, in order, as text that
 * names the message and what matters in it.  Time is the loop's, moved by hand.
 */
#ifndef POLICY_RING_H
#define POLICY_RING_H

#include "policyd/policyd.h"
#include "unit/policyd/rig.h"

#define RING_MAX 64

struct ring_sent {
	enum role role;
	enum msg_type type;
	union proto_any msg;	/* texts point into bytes */
	uint8_t *bytes;
};

struct ring {
	struct rig rig;
	struct policyd_env env;
	struct loop loop;
	struct ring_sent sent[RING_MAX];
	unsigned n;
	uint64_t id;		/* of the last call */
};

void ring_init(struct ring *, bool ask);
void ring_free(struct ring *);
/* A server that is ready, with tools of these names (separated by spaces). */
void ring_ready(struct ring *, unsigned index, const char *name,
    const char *tools);
/* The same with the list as the server gives it: a JSON array. */
void ring_ready_json(struct ring *, unsigned index, const char *name,
    const char *tools);
/* Forgets what was sent. */
void ring_clear(struct ring *);
/* The n-th message of that type since, or NULL. */
const union proto_any *ring_find(const struct ring *, enum msg_type,
    unsigned n);
/* The agent's call; its id. JSON arguments. 0: it was a violation. */
uint64_t ring_call(struct ring *, unsigned server, const char *tool,
    const char *args);
void ring_verdict(struct ring *, uint64_t id, struct span digest, bool approve,
    const char *because);
/* Approves it for the session, as somebody does to whom this was shown. */
void ring_verdict_session(struct ring *, uint64_t id, struct span digest,
    const char *offer);
/* The text of a span field, for comparing; two at a time. */
const char *ring_str(struct span);

#endif
