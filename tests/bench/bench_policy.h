/* SPDX-License-Identifier: ISC */
/* What the two halves of bench_policy share. */
#ifndef BENCH_POLICY_H
#define BENCH_POLICY_H

#include "bench.h"
#include "policyd/engine/eval.h"

#define POLICY_VARIANTS 64U /* of each case's arguments */
#define POLICY_NCASES 10U

/* %02x: a number that differs; @: the directory that is protected. */
struct policy_case {
	const char *name, *server, *tool, *args;
	enum proto_status want;
};

extern const struct policy_case policy_cases[POLICY_NCASES];
extern struct engine policy_engine;
extern struct value_pool *policy_pool;

/* Servers, annotations and lists; no rules yet. */
void policy_engine_new(
    const char *dir, const char *workspace, const char *secret);
/* The text of a file, the caller's to free; and text put in force. */
char *policy_text(const char *dir, const char *name);
void policy_load(enum proto_rules, const char *name, const char *text);
/* One decision about encoded arguments. */
void policy_decide(
    const struct policy_case *, struct span wire, struct decision *);
/* Nanoseconds of processor time. */
uint64_t policy_now(void);
/* Sorts the list. */
double bench_policy_median(double *list, size_t n);
/* Nanoseconds a decision, over that long. */
double policy_measure(
    const struct policy_case *, const char *secret, uint64_t span);

/* bench_policy_sizes.c: prints members of the result, from "rules" on. */
void policy_sizes(const char *dir, const char *workspace, const char *secret);

#endif
