/* SPDX-License-Identifier: ISC */
/*
 * The state that a session carries on from its earlier runs, read from the log,
 * whose chain was verified: how the last run ended, what was spent, providers
 * that are locked, approvals of more than one call, and calls that nobody
 * waits for any more. Each run records its state ("state") at its start, while
 * it spends, and at its end, so that only what follows has to be added up.
 */
#ifndef CARRY_H
#define CARRY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "budget/budget.h"
#include "common/sha256.h"
#include "files/prices.h"
#include "log/checkpoint.h"

#define CARRY_HOLDS 72U
#define CARRY_GRANTS 64U
#define CARRY_LOCKED 48U

/* Spent up to a state, and since. */
struct carry_spent {
	uint64_t tokens, micro_usd, steps;
	uint64_t calls, requests;     /* since */
	double more_tokens, more_usd; /* since */
};

struct carry_hold {
	uint64_t id;
	char server[65], tool[257];
};

struct carry_grant {
	uint64_t key;  /* with PROTO_KEPT_ID, from the number of its record */
	uint64_t call; /* its id in the run that made it; 0: an earlier run */
	int64_t made;  /* seconds since 1970 */
	struct json_object *text;  /* as people are shown it */
	struct json_object *bound; /* the rule, the tool and the objects */
};

struct carry {
	const struct prices *prices; /* NULL: nothing has a price */
	bool any;                    /* there was an earlier run */
	bool closed;                 /* its last record is a closing record */
	bool orphan; /* and auditd wrote it, because icsupervisor was gone */
	char why[1025];
	int64_t status;
	char worker[97], how[129]; /* a worker whose end was recorded */
	char boot[40], host[65];   /* the last run's machine */
	char policy[65];           /* its policy's hash, in hexadecimal */
	/*
	 * Counted from the last state, from one that is at least a second
	 * older, and from the first of the run. icsupervisor hears of calls,
	 * requests and tokens up to 100 ms after their records, so that a state
	 * may lack some that stand before it, but not before an older state.
	 * The first state lacks nothing, nor does the one of an orderly end.
	 */
	struct carry_spent last, older, run;
	bool orderly;   /* the last run ended in order */
	bool whole_run; /* the run was read from its start */
	bool messages;  /* some steps have no record: messages of WebSockets */
	/* Tokens and cost of answers that had no record at the last state. */
	bool open_known;
	uint64_t open_tokens, open_micro_usd;
	/*
	 * The routes whose requests count as steps, by the number of their
	 * provider, or NULL: all count.
	 */
	struct json_object *routes;
	uint64_t ms;
	bool paused; /* no time was spent at the last state */
	bool begun;  /* a run has begun, and has no state yet */
	uint64_t mono_state, mono_last; /* microseconds */
	bool limited[BUDGET_KEYS]; /* a person set this limit in the session */
	double limits[BUDGET_KEYS];
	char locked[CARRY_LOCKED][65];
	unsigned nlocked;
	struct carry_hold holds[CARRY_HOLDS];
	unsigned nholds;
	struct carry_grant grants[CARRY_GRANTS];
	unsigned ngrants;
	uint32_t turn; /* the last one that began */
};

/*
 * Read the log in the directory. `from` is not NULL if the caller has verified
 * what follows this checkpoint (offset 0: everything), up to the end `upto`;
 * else the log is verified here. Returns 0, or -1 with the fault set.
 */
int carry_load(struct carry *, const struct prices *, int dirfd,
    const char *dir, const struct checkpoint *from,
    const struct checkpoint *upto, struct fault *);
void carry_free(struct carry *);
/* carry_grants.c: Returns one of a grant's objects as text, which it owns. */
const char *carry_grant_json(struct json_object *);
/* Write the digest of a grant as it was recorded, and a NUL. */
void carry_grant_hash(const struct carry_grant *, char hex[SHA256_HEX]);
/* Forget the i-th grant; those after it move up. */
void carry_grant_drop(struct carry *, unsigned i);
/* Returns the milliseconds that were spent. */
uint64_t carry_ms(const struct carry *);
/*
 * Returns the evidence of a death that a person should look at before the
 * session is resumed, in `dst`; or NULL if the last run ended in order, or with
 * the machine. `boot` is this machine's.
 */
const char *carry_evidence(
    const struct carry *, const char *boot, char *dst, size_t cap);

#endif
