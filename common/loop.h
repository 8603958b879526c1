/* SPDX-License-Identifier: ISC */
/*
 * One epoll loop per process, level-triggered unless a registration has
 * EPOLLET.  Registrations and timers live
 * in structures of their owners, so the loop allocates nothing for them and has
 * no table to overflow.  Remove a descriptor BEFORE closing it, always: an
 * epoll entry outlives close() while another process holds a duplicate, and
 * duplicates are passed around here.  Callbacks may add, change and remove any
 * registration, including their own.
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
	int fd;			/* -1 if not registered */
	uint32_t events;	/* EPOLLIN, EPOLLOUT, EPOLLET */
	loop_io_fn *fn;
	void *arg;
	TAILQ_ENTRY(loop_io) entry;	/* if `spilled` */
	bool spilled;			/* not in the epoll set: loop_spill.h */
};

struct loop_timer {
	uint64_t at;		/* in loop_now() ms; 0 if not armed */
	size_t slot;		/* index in the heap */
	loop_timer_fn *fn;
	void *arg;
};

/* A task to run once, before the loop waits again. */
struct loop_turn {
	TAILQ_ENTRY(loop_turn) entry;
	bool queued;
	void (*fn)(struct loop_turn *);
	void *arg;
};

/*
 * Memory that another process may change, and that fn() looks at once in every
 * turn.  Before the loop waits it calls idle(), which returns true if an event
 * will come when there is something to do; the loop then no longer calls fn().
 */
struct loop_poll {
	TAILQ_ENTRY(loop_poll) entry;
	bool queued;
	unsigned turn; /* the last in which it was looked at */
	bool (*idle)(struct loop_poll *);
	void (*fn)(struct loop_poll *);
	void *arg;
};

/*
 * Something that failed for a reason that ends without an event, and is tried
 * again after a while: soon at first, less often while it fails.
 */
struct loop_retry {
	TAILQ_ENTRY(loop_retry) entry;
	bool queued;
	void (*fn)(struct loop_retry *);
	void *arg;
};

#define LOOP_BATCH 64

struct loop {
	int epfd;
	bool stop;
	uint64_t now;		/* CLOCK_BOOTTIME in ms, at the last wake-up */
	struct epoll_event ready[LOOP_BATCH];
	int nready;
	struct loop_timer **heap;
	size_t ntimers, captimers;
	void (*after)(void *);	/* called after each batch; may be NULL */
	void *after_arg;
	TAILQ_HEAD(, loop_turn) turns;
	TAILQ_HEAD(, loop_poll) polls;
	unsigned turn;
	TAILQ_HEAD(, loop_retry) retries;
	struct loop_timer retry;
	uint64_t retry_ms; /* the last delay; 0 if nothing failed */
	TAILQ_HEAD(, loop_io) spilled;
	size_t nspilled, capspilled;
	struct pollfd *spill;
	struct loop_retry unspill;
};

#define LOOP_IO_INIT {.fd = -1}

/*
 * Initialise the loop with room for `timers` timers.  Returns 0, or -1 with
 * errno set.
 */
int loop_init(struct loop *, size_t timers);
void loop_free(struct loop *);

int loop_add(struct loop *, struct loop_io *, int fd, uint32_t events,
    loop_io_fn *, void *arg);
int loop_mod(struct loop *, struct loop_io *, uint32_t events);
/*
 * Register, change or remove `io`, so that it is registered only while `events`
 * is not 0: the hang-up of a registration that merely masks its events would be
 * reported over and over.
 */
int loop_watch(struct loop *, struct loop_io *, int fd, uint32_t events,
    loop_io_fn *, void *arg);
/*
 * Remove a registration; does nothing if there is none.  Does not close the
 * descriptor.
 */
void loop_del(struct loop *, struct loop_io *);

/*
 * Arm the timer, or re-arm it, for `ms` from now.  More timers than loop_init()
 * was given are a bug, and fatal.
 */
void loop_timer_set(struct loop *, struct loop_timer *, uint64_t ms,
    loop_timer_fn *, void *arg);
void loop_timer_clear(struct loop *, struct loop_timer *);

/* Call t->fn once before the loop waits again, after `after`. */
void loop_turn_add(struct loop *, struct loop_turn *);
void loop_turn_del(struct loop *, struct loop_turn *);
/* Call p->fn in every turn until p->idle returns true. */
void loop_poll_add(struct loop *, struct loop_poll *);
void loop_poll_del(struct loop *, struct loop_poll *);
/* Call r->fn once, LOOP_RETRY_MS to LOOP_RETRY_MAX_MS from now. */
#define LOOP_RETRY_MS 10U
#define LOOP_RETRY_MAX_MS 640U
void loop_retry_add(struct loop *, struct loop_retry *);
void loop_retry_del(struct loop *, struct loop_retry *);
/* Run everything that loop_turn_add() has queued; for use before exiting. */
void loop_turns(struct loop *);

/* Returns the time of the last wake-up: CLOCK_BOOTTIME in milliseconds. */
uint64_t loop_now(const struct loop *);
/* Run until loop_stop() is called.  Returns 0, or -1 if epoll itself fails. */
int loop_run(struct loop *);
/* Wait at most `ms` (-1: no limit) for events and run the callbacks once. */
int loop_once(struct loop *, int ms);
void loop_stop(struct loop *);

/* Return CLOCK_BOOTTIME and CLOCK_REALTIME in microseconds. */
uint64_t clock_mono_us(void);
uint64_t clock_wall_us(void);

#endif
