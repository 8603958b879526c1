/* SPDX-License-Identifier: ISC */
/*
 * What the load programs share: a clock, samples and their quantiles, the
 * processor time of other processes, and a scanner for JSON that is known to
 * be well-formed.  Shares no code with the product.
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
	const char *p; /* NULL: not there */
	size_t len;
};

/* Nanoseconds of CLOCK_MONOTONIC, the same in every process. */
uint64_t bench_now(void);

/* Exits when there is no memory. */
void bench_samples_init(struct bench_samples *);
void bench_samples_free(struct bench_samples *);
/* What does not fit is dropped. */
void bench_samples_add(struct bench_samples *, uint64_t ns);
/* Sorts; q in [0, 1]. Microseconds, 0 when there are none. */
double bench_samples_us(struct bench_samples *, double q);

/* Nanoseconds on a processor of "PID,PID,..." (NULL: none), since they began.
 * Exits when one cannot be read: a process that ended spoils the run. */
uint64_t bench_cpu_of(const char *pids);
/* Of this process. */
uint64_t bench_cpu_own(void);

/* Value of a top-level member of an object; its text, quotes included. */
struct bench_slice bench_json_member(
    struct bench_slice object, const char *name);
bool bench_json_is(struct bench_slice, const char *text);

/* A whole decimal number up to max, or exits with usage. */
uint64_t bench_number(const char *option, const char *text, uint64_t max);

#endif
