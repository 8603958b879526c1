/* SPDX-License-Identifier: ISC */
/*
 * Learning: the narrowest rules for what a person approved.
 */
#ifndef ICCTL_POLICY_LEARN_H
#define ICCTL_POLICY_LEARN_H

#include "icctl/policy/policy.h"
#include "policyd/engine/annot.h"

#define LEARN_MAX_RULES 2000U
#define LEARN_MAX_CALLS 100000U

/* One call that was held, copied out of its log. */
struct learn_call {
	struct policy_request request;
	const char *file;
	size_t line;
	bool approved;
	bool session; /* the approval named directories and hosts */
	bool several; /* different values of several arguments */
	const char *why_not; /* it cannot be learned */
};

/* A proposed rule: one server, one tool, and one condition. */
struct learn_rule {
	struct span server, tool;
	struct span cond; /* JSON members behind server and tool */
	unsigned evidence;
	bool dropped; /* would also allow what was not approved */
	char name[64];
};

struct learn {
	struct value_pool *pool; /* calls, texts */
	struct learn_call *calls;
	size_t ncalls;
	struct learn_rule rules[LEARN_MAX_RULES];
	size_t nrules;
	struct annots annots;
	bool failed;
};

/* icctl/policy/propose.c: rules for one approved call, or why not. */
void learn_propose(struct learn *, struct learn_call *);
/* A rule as JSON. */
void learn_put_rule(struct buf *, const struct learn_rule *);

#endif
