/* SPDX-License-Identifier: ISC */
/*
 * Flow control of a server: its stdout is not read while a peer is behind, nor
 * for a while after too many unrequested answers.  Also the rate limits and
 * counts.
 */
#include "backd/backd.h"

#include <unistd.h>

#include "common/log.h"
#include "common/plural.h"

bool
backd_may(struct backd *b, struct bucket *k)
{
	return bucket_take(k, loop_now(&b->w.loop));
}

void
backd_drop(struct backd *b, const char *what)
{
	uint64_t n = ++b->dropped, ten = 1;

	while (ten < n)
		ten *= 10;
	if (ten == n)
		log_info("%llu message%s dropped, the last one %s",
		    (unsigned long long)n, plural(n), what);
}

void
backd_close(struct backd *b, unsigned which)
{
	loop_del(&b->w.loop, &b->io[which]);
	if (b->fd[which] != -1)
		close(b->fd[which]);
	b->fd[which] = -1;
}

/*
 * Without EPOLLIN the pipe is not registered at all: its hang-up would be
 * reported over and over.
 */
void
backd_watch(struct backd *b)
{
	bool reads = !worker_is_behind(&b->w) && b->pause.at == 0;

	if (b->afar != NULL)
		b->afar->watch(b);
	if (b->fd[0] != -1 &&
	    loop_watch(&b->w.loop, &b->io[0], b->fd[0],
		reads ? (uint32_t)EPOLLIN : 0, b->readable, b) == -1)
		fatal("epoll_ctl");
}

static void
unpause(struct loop_timer *t)
{
	backd_watch(t->arg);
}

void
backd_pause(struct backd *b, uint64_t ms)
{
	if (b->gone)
		return;
	loop_timer_set(&b->w.loop, &b->pause,
	    ms < BACKD_PAUSE_MS ? ms : BACKD_PAUSE_MS, unpause, b);
	backd_watch(b);
}

void
backd_unasked(struct backd *b, uint32_t n)
{
	uint64_t ms = (uint64_t)n * BACKD_UNASKED_MS;

	while (n != 0 && backd_may(b, &b->unasked)) {
		ms -= BACKD_UNASKED_MS;
		n--;
	}
	if (n == 0)
		return;
	backd_drop(b, "an answer to nothing it was asked");
	backd_pause(b, ms);
}
