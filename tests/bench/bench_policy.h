/* SPDX-License-Identifier: ISC */
/* Declarations shared by bench_policy.c and bench_policy_sizes.c. */
#ifndef BENCH_POLICY_H
#define BENCH_POLICY_H

#include "bench.h"
#include "policyd/engine/eval.h"

#define POLICY_VARIANTS 64U /* variants of each case's arguments */
#define POLICY_NCASES 10U

/* In `args`, %02x is a number that differs, @ is the protected directory. */
struct policy_case {
	const char *name, *server, *tool, *args;
	enum proto_status want;
};

extern const struct policy_case policy_cases[POLICY_NCASES];
extern struct engine policy_engine;
extern struct value_pool *policy_pool;

/* Set up an engine with servers, annotations and lists, without rules. */
void policy_engine_new(
    const char *dir, const char *workspace, const char *secret);
/* Read a file, for the caller to free; put text in force. */
char *policy_text(const char *dir, const char *name);
void policy_load(enum proto_rules, const char *name, const char *text);
/* Decide once about encoded arguments. */
void policy_decide(
    const struct policy_case *, struct span wire, struct decision *);
/* Returns nanoseconds of processor time. */
uint64_t policy_now(void);
/* Sorts the list. */
double bench_policy_median(double *list, size_t n);
/* Returns nanoseconds per decision, measured for `span` nanoseconds. */
double policy_measure(
    const struct policy_case *, const char *secret, uint64_t span);

/* bench_policy_sizes.c: print the members of the result from "rules" on. */
void policy_sizes(const char *dir, const char *workspace, const char *secret);

#endif
