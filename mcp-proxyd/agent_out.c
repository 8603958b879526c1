/* SPDX-License-Identifier: ISC */
/*
 * Output to the agent: one write per turn, and the end of a connection that
 * leaves too much unread. And what keeps a connection from being read: it is at
 * a limit, or slowed down.
 */
#include "proxy.h"

#include <sys/socket.h>

#include <errno.h>

#include "common/log.h"

/*
 * Output beyond this is written before the end of a turn, to bound its memory.
 */
#define EARLY_WRITE ((size_t)256 << 10)

/* Set the events to wait for; epoll reports a hang-up in any case. */
void
agent_watch(struct agent *a)
{
	uint32_t events = 0;

	if (!a->blocked && !a->eof && a->closing == 0 &&
	    !worker_is_behind(&a->p->w))
		events |= EPOLLIN;
	if (a->out.len != 0)
		events |= EPOLLOUT;
	if (loop_mod(&a->p->w.loop, &a->io, events) == -1)
		fatal("epoll_ctl");
}

/*
 * Write what there is.  Marks the connection as doomed if the agent has closed
 * it.
 */
void
agent_flush(struct agent *a)
{
	struct span out = buf_span(&a->out);
	ssize_t n;

	a->dirty = false;
	if (out.len != 0) {
		n = send(a->fd, out.p, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno != EAGAIN && errno != EINTR) {
			a->doomed = true;
			return;
		}
		if (n > 0)
			buf_drain(&a->out, (size_t)n);
	}
	if (a->out.len == 0) {
		buf_reset(&a->out, EARLY_WRITE);
		/*
		 * Everything is written, and the agent will ask for nothing
		 * more.
		 */
		if (a->closing != 0 ||
		    (a->eof && !a->blocked && TAILQ_EMPTY(&a->calls)))
			a->doomed = true;
	}
	agent_watch(a);
}

void
agent_wrote(struct agent *a)
{
	a->dirty = true;
	if (a->doomed)
		return;
	if (a->out.failed) {
		log_warnx(
		    "agent connection %u: an answer is too large", a->number);
		a->doomed = true;
		return;
	}
	if (a->out.len >= EARLY_WRITE)
		agent_flush(a);
	if (a->out.len > PROXY_MAX_UNREAD) {
		log_warnx("agent connection %u leaves more than %u bytes "
			  "unread: closed",
		    a->number, PROXY_MAX_UNREAD);
		a->doomed = true;
	}
}

/* Read the connections again whose time is over, and wait for the next one. */
static void
slow_due(struct loop_timer *t)
{
	struct proxy *p = t->arg;
	uint64_t now = loop_now(&p->w.loop), next = UINT64_MAX;

	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;) {
		if (a->slow == 0)
			continue;
		if (now >= a->slow) {
			a->slow = 0;
			p->ended = true;
		} else if (a->slow < next) {
			next = a->slow;
		}
	}
	if (next != UINT64_MAX)
		loop_timer_set(&p->w.loop, t, next - now, slow_due, p);
}

void
agent_slow(struct agent *a)
{
	struct proxy *p = a->p;
	uint64_t now = loop_now(&p->w.loop);

	if (a->slow < now)
		a->slow = now;
	a->slow += PROXY_SLOW_MS;
	if (a->slow > now + PROXY_SLOW_MAX_MS)
		a->slow = now + PROXY_SLOW_MAX_MS;
	a->blocked = a->dirty = true;
	if (p->slow.at == 0)
		loop_timer_set(
		    &p->w.loop, &p->slow, PROXY_SLOW_MS, slow_due, p);
}

void
agent_cancelled(struct agent *a)
{
	if (!bucket_take(&a->cancels, loop_now(&a->p->w.loop)))
		agent_slow(a);
}

void
agents_tick(struct proxy *p)
{
	uint64_t now = loop_now(&p->w.loop);

	for (struct agent *a = NULL; (a = agents_next(p, a)) != NULL;)
		if ((a->closing != 0 && now >= a->closing) ||
		    (a->full != 0 && now >= a->full))
			a->doomed = true;
}

void
proxy_count(uint64_t *counter, const char *what)
{
	uint64_t n = ++*counter, ten = 1;

	while (ten < n)
		ten *= 10;
	if (ten == n)
		log_info("%llu %s dropped", (unsigned long long)n, what);
}
