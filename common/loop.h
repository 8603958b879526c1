/* SPDX-License-Identifier: ISC */
/*
 * One epoll loop per process, level-triggered.  Registrations and timers are
 * structs of their owners: no allocation, no table to overflow.  A descriptor
 * is removed BEFORE it is closed, always: an epoll entry outlives close()
 * while another process holds a duplicate, and we pass duplicates around.
 * Callbacks may add, change and remove any registration, their own included.
 */
#ifndef LOOP_H
#define LOOP_H

#include <sys/epoll.h>
#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_io;
struct loop_timer;
typedef void loop_io_fn(struct loop_io *, uint32_t events);
typedef void loop_timer_fn(struct loop_timer *);

struct loop_io {
	int fd;			/* -1: not registered */
	uint32_t events;	/* EPOLLIN | EPOLLOUT */
	loop_io_fn *fn;
	void *arg;
};

struct loop_timer {
	uint64_t at;		/* loop_now() ms; 0: not armed */
	size_t slot;		/* place in the heap */
	loop_timer_fn *fn;
	void *arg;
};

/* Something to do once, before the loop waits again. */
struct loop_turn {
	TAILQ_ENTRY(loop_turn) entry;
	bool queued;
	void (*fn)(struct loop_turn *);
	void *arg;
};

#define LOOP_BATCH 64

struct loop {
	int epfd;
	bool stop;
	uint64_t now;		/* CLOCK_BOOTTIME ms, of this wake-up */
	struct epoll_event ready[LOOP_BATCH];
	int nready;
	struct loop_timer **heap;
	size_t ntimers, captimers;
	void (*after)(void *);	/* called after each batch, may be NULL */
	void *after_arg;
	TAILQ_HEAD(, loop_turn) turns;
};

#define LOOP_IO_INIT {.fd = -1}

/* -1 with errno. Allocates the timer heap for `timers` entries at most. */
int loop_init(struct loop *, size_t timers);
void loop_free(struct loop *);

int loop_add(struct loop *, struct loop_io *, int fd, uint32_t events,
    loop_io_fn *, void *arg);
int loop_mod(struct loop *, struct loop_io *, uint32_t events);
/*
 * The same, but registered only while events are wanted: a hang-up of one that
 * is merely masked would be reported for ever.
 */
int loop_watch(struct loop *, struct loop_io *, int fd, uint32_t events,
    loop_io_fn *, void *arg);
/* No-op when not registered. Does not close. */
void loop_del(struct loop *, struct loop_io *);

/* (Re)arm for ms from now; fatal (a bug) when more timers than declared. */
void loop_timer_set(struct loop *, struct loop_timer *, uint64_t ms,
    loop_timer_fn *, void *arg);
void loop_timer_clear(struct loop *, struct loop_timer *);

/* Call t->fn before the loop waits again, after `after`. */
void loop_turn_add(struct loop *, struct loop_turn *);
void loop_turn_del(struct loop *, struct loop_turn *);
/* Do now what loop_turn_add() has put off: before an exit. */
void loop_turns(struct loop *);

/* ms of CLOCK_BOOTTIME at the last wake-up. */
uint64_t loop_now(const struct loop *);
/* Until loop_stop() was called; -1 only if epoll itself fails. */
int loop_run(struct loop *);
/* One turn: waits at most `ms` (-1: no limit) for events, runs callbacks. */
int loop_once(struct loop *, int ms);
void loop_stop(struct loop *);

/* CLOCK_BOOTTIME in microseconds; CLOCK_REALTIME likewise. */
uint64_t clock_mono_us(void);
uint64_t clock_wall_us(void);

#endif
