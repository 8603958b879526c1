/* SPDX-License-Identifier: ISC */
/*
 * The epoll loop and its timers.  Registrations belong to their owners.  A
 * removed one is also struck from the batch being handled, so that no callback
 * runs for it afterwards.  Timers are a binary heap of fixed size.
 */
#include "common/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/loop_spill.h"

static uint64_t
clock_us(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) == -1)
		fatal("clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000U + (uint64_t)ts.tv_nsec / 1000U;
}

uint64_t
clock_mono_us(void)
{
	return clock_us(CLOCK_BOOTTIME);
}

uint64_t
clock_wall_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

static void
loop_unspill(struct loop_retry *r)
{
	struct loop *l = r->arg;

	if (!loop_spill_back(l))
		loop_retry_add(l, r);
}

int
loop_init(struct loop *l, size_t timers)
{
	memset(l, 0, sizeof(*l));
	TAILQ_INIT(&l->turns);
	TAILQ_INIT(&l->polls);
	TAILQ_INIT(&l->retries);
	TAILQ_INIT(&l->spilled);
	l->unspill.fn = loop_unspill;
	l->unspill.arg = l;
	timers++; /* `retry` */
	if ((l->heap = calloc(timers + 1, sizeof(*l->heap))) == NULL)
		return -1;
	l->captimers = timers;
	if ((l->epfd = epoll_create1(EPOLL_CLOEXEC)) == -1) {
		free(l->heap);
		l->heap = NULL;
		return -1;
	}
	l->now = clock_mono_us() / 1000;
	return 0;
}

void
loop_free(struct loop *l)
{
	if (l->heap != NULL)
		close(l->epfd);
	free(l->heap);
	l->heap = NULL;
	loop_spill_free(l);
}

int
loop_add(struct loop *l, struct loop_io *io, int fd, uint32_t events,
    loop_io_fn *fn, void *arg)
{
	struct epoll_event ev = {.events = events, .data.ptr = io};

	io->spilled = epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev) == -1;
	if (io->spilled && errno != ENOSPC && errno != ENOMEM)
		return -1;
	io->fd = fd;
	io->events = events;
	io->fn = fn;
	io->arg = arg;
	if (io->spilled) {
		if (loop_spill_add(l, io) == -1) {
			io->fd = -1;
			return -1;
		}
		loop_retry_add(l, &l->unspill);
	}
	return 0;
}

int
loop_mod(struct loop *l, struct loop_io *io, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = io};

	if (io->events == events)
		return 0;
	if (!io->spilled &&
	    epoll_ctl(l->epfd, EPOLL_CTL_MOD, io->fd, &ev) == -1)
		return -1;
	io->events = events;
	return 0;
}

int
loop_watch(struct loop *l, struct loop_io *io, int fd, uint32_t events,
    loop_io_fn *fn, void *arg)
{
	if (events == 0) {
		loop_del(l, io);
		return 0;
	}
	if (io->fd == -1)
		return loop_add(l, io, fd, events, fn, arg);
	return loop_mod(l, io, events);
}

void
loop_del(struct loop *l, struct loop_io *io)
{
	if (io->fd == -1)
		return;
	if (io->spilled)
		loop_spill_del(l, io);
	else if (epoll_ctl(l->epfd, EPOLL_CTL_DEL, io->fd, NULL) == -1)
		fatal("epoll_ctl: removing descriptor %d", io->fd);
	io->fd = -1;
	for (int i = 0; i < l->nready; i++) {
		if (l->ready[i].data.ptr == io)
			l->ready[i].data.ptr = NULL;
	}
}

/* Heap slots are numbered from 1; slot 0 means that the timer is not armed. */
static void
heap_put(struct loop *l, size_t i, struct loop_timer *t)
{
	l->heap[i] = t;
	t->slot = i;
}

static void
heap_up(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];

	for (; i > 1 && l->heap[i / 2]->at > t->at; i /= 2)
		heap_put(l, i, l->heap[i / 2]);
	heap_put(l, i, t);
}

static void
heap_down(struct loop *l, size_t i)
{
	struct loop_timer *t = l->heap[i];
	size_t c;

	while ((c = 2 * i) <= l->ntimers) {
		if (c < l->ntimers && l->heap[c + 1]->at < l->heap[c]->at)
			c++;
		if (l->heap[c]->at >= t->at)
			break;
		heap_put(l, i, l->heap[c]);
		i = c;
	}
	heap_put(l, i, t);
}

void
loop_timer_clear(struct loop *l, struct loop_timer *t)
{
	size_t i = t->slot;
	struct loop_timer *last;

	if (t->at == 0)
		return;
	t->at = 0;
	t->slot = 0;
	last = l->heap[l->ntimers--];
	if (last == t)
		return;
	heap_put(l, i, last);
	heap_up(l, i);
	heap_down(l, last->slot);
}

void
loop_timer_set(struct loop *l, struct loop_timer *t, uint64_t ms,
    loop_timer_fn *fn, void *arg)
{
	loop_timer_clear(l, t);
	if (l->ntimers >= l->captimers)
		fatalx("bug: more than %zu timers", l->captimers);
	t->at = l->now + ms + 1;
	t->fn = fn;
	t->arg = arg;
	l->ntimers++;
	heap_put(l, l->ntimers, t);
	heap_up(l, l->ntimers);
}

uint64_t
loop_now(const struct loop *l)
{
	return l->now;
}

static int
loop_timeout(const struct loop *l, int ms)
{
	uint64_t left;

	if (l->ntimers == 0)
		return ms;
	left = l->heap[1]->at > l->now ? l->heap[1]->at - l->now : 0;
	if (left > 3600000)
		left = 3600000;
	return ms != -1 && (uint64_t)ms < left ? ms : (int)left;
}

void
loop_turn_add(struct loop *l, struct loop_turn *t)
{
	if (!t->queued)
		TAILQ_INSERT_TAIL(&l->turns, t, entry);
	t->queued = true;
}

void
loop_turn_del(struct loop *l, struct loop_turn *t)
{
	if (t->queued)
		TAILQ_REMOVE(&l->turns, t, entry);
	t->queued = false;
}

void
loop_turns(struct loop *l)
{
	struct loop_turn *t;

	while ((t = TAILQ_FIRST(&l->turns)) != NULL) {
		loop_turn_del(l, t);
		t->fn(t);
	}
}

void
loop_poll_add(struct loop *l, struct loop_poll *p)
{
	if (!p->queued)
		TAILQ_INSERT_TAIL(&l->polls, p, entry);
	p->queued = true;
}

void
loop_poll_del(struct loop *l, struct loop_poll *p)
{
	if (p->queued)
		TAILQ_REMOVE(&l->polls, p, entry);
	p->queued = false;
}

/* Those that fail again queue themselves behind the ones that are due. */
static void
loop_retry_due(struct loop_timer *t)
{
	struct loop *l = t->arg;
	struct loop_retry *r;
	size_t due = 0;

	TAILQ_FOREACH (r, &l->retries, entry)
		due++;
	while (due-- > 0 && (r = TAILQ_FIRST(&l->retries)) != NULL) {
		loop_retry_del(l, r);
		r->fn(r);
	}
	if (TAILQ_EMPTY(&l->retries))
		l->retry_ms = 0;
}

void
loop_retry_add(struct loop *l, struct loop_retry *r)
{
	if (r->queued)
		return;
	TAILQ_INSERT_TAIL(&l->retries, r, entry);
	r->queued = true;
	if (l->retry.at != 0)
		return;
	l->retry_ms *= 2;
	if (l->retry_ms == 0)
		l->retry_ms = LOOP_RETRY_MS;
	else if (l->retry_ms > LOOP_RETRY_MAX_MS)
		l->retry_ms = LOOP_RETRY_MAX_MS;
	loop_timer_set(l, &l->retry, l->retry_ms, loop_retry_due, l);
}

void
loop_retry_del(struct loop *l, struct loop_retry *r)
{
	if (r->queued)
		TAILQ_REMOVE(&l->retries, r, entry);
	r->queued = false;
}

/* Returns true if the loop must not wait. */
static bool
loop_busy(struct loop *l)
{
	struct loop_poll *p, *next;

	for (p = TAILQ_FIRST(&l->polls); p != NULL; p = next) {
		next = TAILQ_NEXT(p, entry);
		if (p->idle(p))
			loop_poll_del(l, p);
	}
	return !TAILQ_EMPTY(&l->polls);
}

/* Any callback may add and remove any other. */
static void
loop_polls(struct loop *l)
{
	struct loop_poll *p;

	l->turn++;
	do {
		TAILQ_FOREACH (p, &l->polls, entry) {
			if (p->turn != l->turn)
				break;
		}
		if (p != NULL) {
			p->turn = l->turn;
			p->fn(p);
		}
	} while (p != NULL);
}

int
loop_once(struct loop *l, int ms)
{
	int n;

	loop_turns(l);
	ms = loop_busy(l) ? 0 : loop_timeout(l, ms);
	n = TAILQ_EMPTY(&l->spilled)
		? epoll_wait(l->epfd, l->ready, LOOP_BATCH, ms)
		: loop_spill_wait(l, ms);
	if (n == -1 && errno != EINTR)
		return -1;
	l->now = clock_mono_us() / 1000;
	l->nready = n == -1 ? 0 : n;
	for (int i = 0; i < l->nready; i++) {
		struct loop_io *io = l->ready[i].data.ptr;

		if (io != NULL)
			io->fn(io, l->ready[i].events);
	}
	l->nready = 0;
	loop_polls(l);
	while (l->ntimers != 0 && l->heap[1]->at <= l->now) {
		struct loop_timer *t = l->heap[1];

		loop_timer_clear(l, t);
		t->fn(t);
	}
	if (l->after != NULL)
		l->after(l->after_arg);
	loop_turns(l);
	return 0;
}

int
loop_run(struct loop *l)
{
	l->stop = false;
	while (!l->stop) {
		if (loop_once(l, -1) == -1)
			return -1;
	}
	return 0;
}

void
loop_stop(struct loop *l)
{
	l->stop = true;
}
