/* SPDX-License-Identifier: ISC */
/* Learning: the narrowest rules for calls that a person approved. */
#ifndef ICCTL_POLICY_LEARN_H
#define ICCTL_POLICY_LEARN_H

#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"

#define LEARN_MAX_RULES 2000U
#define LEARN_MAX_CALLS 100000U

/* A call that was held, copied from its log. */
struct learn_call {
	struct policy_request request;
	struct policy_request named; /* with paths as the agent named them */
	const struct value *links;   /* how links led to paths; or NULL */
	const char *file;
	size_t line;
	bool approved;
	bool session; /* the approval named directories and hosts */
	bool several; /* several arguments have different values */
	const char *why_not; /* the reason why it cannot be learned, or NULL */
};

/* A proposed rule: one server, one tool, and one condition. */
struct learn_rule {
	struct span server, tool;
	struct span cond; /* JSON members after server and tool */
	unsigned evidence;
	bool dropped; /* it would also allow calls that were not approved */
	char name[64];
};

struct learn {
	struct value_pool *pool; /* memory of calls and texts */
	struct learn_call *calls;
	size_t ncalls;
	struct learn_rule rules[LEARN_MAX_RULES];
	size_t nrules;
	struct annots annots;
	bool failed;
};

/* learn.c: memory for calls and texts; without it, icctl ends. */
void learn_init(struct learn *);
void learn_end(struct learn *);
/* Read the annotations. Returns 0, or -1 after an error was reported. */
int learn_annots(struct learn *, const struct policy_file *);
/* A policy_call_fn: take a call of a log, if it was held. */
int learn_call(void *learn, const struct policy_call *);
/* Propose rules for all approved calls, each with a name that `base` lacks. */
void learn_rules(struct learn *, const struct policy_file *base);
/*
 * Compose the policy with these rules in `text`, and drop each that would allow
 * a call that was not approved. Returns 0, or -1 after an error was reported.
 */
int learn_refine(struct learn *, const struct icctl *,
    const struct policy_opts *, struct policy_set *, struct buf *text);
/*
 * Write the policy in readable form, all or nothing. Returns 0, or -1 after an
 * error was reported.
 */
int learn_write(const char *path, const struct buf *text);
/* propose.c: Propose rules for an approved call, or set `why_not`. */
void learn_propose(struct learn *, struct learn_call *);
/* Add the rule as JSON. */
void learn_put_rule(struct buf *, const struct learn_rule *);

#endif
