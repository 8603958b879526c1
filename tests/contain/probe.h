/* SPDX-License-Identifier: ISC */
/*
 * Functions that the linker puts between a worker and common/ in hostile
 * builds.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdarg.h>

#include "common/ipc/worker.h"

/* Read the order into attempt_env. */
void probe_load(enum role);
/* Before the lock-down: get the resources of the ordered attempt. */
void probe_give(void);
/* Afterwards: make the attempt, log it, and end unless its receiver decides. */
void probe_attempt(const char *who);
void probe_say(const char *, ...) __attribute__((format(printf, 1, 2)));

struct chan *__real_chan_new(struct loop *, int, enum role, enum role, unsigned,
    const struct chan_ops *, void *);
struct chan *__wrap_chan_new(struct loop *, int, enum role, enum role, unsigned,
    const struct chan_ops *, void *);
void __real_worker_init(
    struct worker *, enum role, const struct confine *, void (*)(void), size_t);
void __wrap_worker_init(
    struct worker *, enum role, const struct confine *, void (*)(void), size_t);
void __real_worker_serve(struct worker *, const struct chan_handler *, size_t)
    __attribute__((noreturn));
void __wrap_worker_serve(struct worker *, const struct chan_handler *, size_t)
    __attribute__((noreturn));

/* layers.c and resolver.c */
void __real_confine_early(void);
void __wrap_confine_early(void);
int __real_confine_apply(const struct confine *, struct confine_state *);
int __wrap_confine_apply(const struct confine *, struct confine_state *);

#endif
