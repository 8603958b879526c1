/* SPDX-License-Identifier: ISC */
/* Verification: policyd decides, and a model judges the decisions. */
#ifndef COMPILE_VERIFY_H
#define COMPILE_VERIFY_H

#include "icctl/policy/compile/compile.h"

enum verdict { VERDICT_NONE, VERDICT_RULE, VERDICT_SCENARIO };

/* A scenario of a server, with its outcome in this round. */
struct tried {
	const struct value *scenario;
	struct policy_decided got;
	bool passed;	/* the decision is the expected one */
	bool stricter;	/* it is not, but on the safe side */
	bool before;	/* it had passed in an earlier round */
	bool corrected; /* the expectation is the stricter decision now */
	bool agrees;	/* the judge finds the decision right */
	enum verdict blame;
	struct span why; /* by the judge */
	struct span rule;
};

struct trial_run {
	struct tried *list;
	size_t n;
};

/* judge.c: Ask the judge about a server's outcomes. Returns 0, or -1. */
int judge_ask(struct compile *, struct compile_server *, struct trial_run *,
    struct fault *);
/* Describe a scenario and its outcome, for a prompt. */
void judge_put(struct buf *, size_t index, const struct tried *);

#endif
