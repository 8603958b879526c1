/* SPDX-License-Identifier: ISC */
/*
 * Output to the agent: one write per turn, and the end of a connection that
 * leaves too much unread.
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

void
agents_tick(struct proxy *p)
{
	uint64_t now = loop_now(&p->w.loop);

	for (size_t i = 0; i < PROXY_MAX_AGENTS; i++) {
		struct agent *a = &p->agents[i];

		if (a->fd != -1 && a->closing != 0 && now >= a->closing)
			a->doomed = true;
	}
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
