/* SPDX-License-Identifier: ISC */
/*
 * Functions that the load programs share: a clock, samples and their quantiles,
 * the processor time of other processes, and a scanner for well-formed JSON.
 * Shares no code with the product.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_SAMPLES (1U << 22)

struct bench_samples {
	uint32_t *ns;
	size_t n;
};

struct bench_slice {
	const char *p; /* NULL: absent */
	size_t len;
};

/* Returns nanoseconds of CLOCK_MONOTONIC, the same in every process. */
uint64_t bench_now(void);

/* Exits if memory runs out. */
void bench_samples_init(struct bench_samples *);
void bench_samples_free(struct bench_samples *);
/* Samples that do not fit are dropped. */
void bench_samples_add(struct bench_samples *, uint64_t ns);
/*
 * Sort the samples. Returns the quantile q in [0, 1] in microseconds, or 0
 * without samples.
 */
double bench_samples_us(struct bench_samples *, double q);

/*
 * Returns the total processor time of "PID,PID,..." (or NULL) in nanoseconds.
 * Exits if one cannot be read: the end of a process invalidates the run.
 */
uint64_t bench_cpu_of(const char *pids);
/* Returns the processor time of this process. */
uint64_t bench_cpu_own(void);

/* Returns the text of an object's top-level member, quotes included. */
struct bench_slice bench_json_member(
    struct bench_slice object, const char *name);
bool bench_json_is(struct bench_slice, const char *text);

/* Parse a decimal number up to `max`. Exits with usage otherwise. */
uint64_t bench_number(const char *option, const char *text, uint64_t max);

#endif
