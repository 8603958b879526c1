/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy propose`: turns the calls of a recording into rules. A call that
 * a person approved becomes an allow rule for exactly its values, one that was
 * denied a deny rule, and one that no rule covered a rule that asks. No rule is
 * kept that would allow a call that was not approved.
 */
#ifndef PROPOSE_H
#define PROPOSE_H

#include "common/ipc/proto.h"
#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"

#define PROPOSE_MAX_CALLS 5000U /* different ones */
#define PROPOSE_MAX_RULES 2000U
#define PROPOSE_MAX_VALUES 200U /* per role and rule */
#define PROPOSE_MAX_TOOLS 16U	/* per rule */

/* How a recorded call ended. */
enum propose_end {
	PROPOSE_APPROVED,
	PROPOSE_DENIED,	   /* by a person */
	PROPOSE_UNCOVERED, /* by no rule: default-deny */
	PROPOSE_WITHHELD,  /* it expired, or a rule denied it */
	PROPOSE_ALLOWED,   /* by a rule that was in force */
};

struct propose_call {
	struct policy_request request;
	enum propose_end end;
	unsigned times;
	bool settled; /* the same call was approved another time */
	const char *why_not; /* the reason why no rule is made of it, or NULL */
};

/* The values of some roles, each of which must be one of these. */
struct propose_dim {
	uint32_t roles;
	struct span values[PROPOSE_MAX_VALUES]; /* sorted, different */
	unsigned n;
	bool within; /* the only value is a place in the workspace */
};

struct propose_rule {
	enum proto_status then;
	struct span server;
	struct span tools[PROPOSE_MAX_TOOLS];
	unsigned ntools;
	struct propose_dim *dims;
	unsigned ndims; /* 0: the call has no argument that a rule can name */
	unsigned times; /* that such a call was made */
	bool dropped;
	char name[48];
};

struct propose {
	const struct icctl *ctl;
	struct policy_opts *opts;
	struct value_pool *pool; /* memory of calls and texts */
	struct policy_set base;	 /* the policy that the rules are added to */
	char base_name[4200];
	struct propose_call *calls;
	size_t ncalls;
	struct propose_rule rules[PROPOSE_MAX_RULES];
	size_t nrules;
	struct annots annots;
	char into[4200]; /* the directory to install in */
	bool failed;	 /* out of memory, or of room */
};

/*
 * base.c: Read the policy that the session had, found by the hash in
 * `session_dir`; or the one that --policy names. Returns 0, or -1 after an error
 * was reported.
 */
int propose_base(struct propose *, const char *session_dir);

/* take.c: A policy_call_fn that takes a call of a log. */
int propose_take(void *propose, const struct policy_call *);

/*
 * values.c: Find what the call touches, as the conditions of a rule. Returns the
 * number of conditions in `dims`, which has room for ARG_COUNT; or sets
 * `why_not`.
 */
unsigned propose_values(
    struct propose *, struct propose_call *, struct propose_dim *dims);

/* rules.c: Make rules of all calls, and merge those that differ in one value. */
void propose_rules(struct propose *);

/*
 * judge.c: Compose the policy in `text`, and drop each rule that decides a
 * recorded call otherwise than the person did. Returns 0, or -1 after an error
 * was reported.
 */
int propose_judge(struct propose *, struct buf *text);
/* Add the rule as JSON. */
void propose_put_rule(struct buf *, const struct propose_rule *);

/* show.c */
/* Print the proposal, one statement for each rule, and what was left out. */
void propose_show(const struct propose *);
/* The same as JSON. Returns 0, or -1 after an error was reported. */
int propose_show_json(const struct propose *);
/* Returns the number of rules that decide so. */
unsigned propose_count(const struct propose *, enum proto_status then);

/*
 * install.c: Check the policy, show how it differs from what is there, ask, and
 * install it. Returns the exit status.
 */
int propose_install(struct propose *, const struct buf *text);

#endif
