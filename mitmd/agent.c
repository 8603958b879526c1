/* SPDX-License-Identifier: ISC */
/*
 * A connection of the agent: watching its socket, and ending it. The limits are
 * in mitmd.h.
 */
#include "mitmd.h"

#include <sys/socket.h>

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "tls.h"

static void
agent_free(struct agent *a)
{
	exchange_reap(a);
	a->ops->free(a);
	/* A connection may end at any time: its session can be resumed. */
	if (a->ssl != NULL)
		SSL_set_shutdown(
		    a->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(a->ssl);
	buf_free(&a->in);
	buf_free(&a->out);
	free(a->wanted);
	free(a);
	trim_freed(&mitmd_env.trim, mitmd_env.nagents);
}

void
agent_hold(struct agent *a)
{
	a->busy++;
}

void
agent_leave(struct agent *a)
{
	if (--a->busy != 0)
		return;
	if (a->dead) {
		agent_free(a);
	} else {
		exchange_reap(a);
		agent_events(a);
	}
	loop_turn_add(&mitmd_env.w.loop, &mitmd_env.left);
}

/* End all requests, whatever their state. */
static void
agent_drop_exchanges(struct agent *a)
{
	struct exchange *x;

	a->x = NULL;
	while ((x = TAILQ_FIRST(&a->exchanges)) != NULL ||
	       (x = TAILQ_FIRST(&a->parked)) != NULL)
		exchange_free(x);
}

void
agent_close(struct agent *a)
{
	if (a->dead)
		return;
	a->dead = true;
	(void)mitmd_tls_push(a);
	agent_drop_exchanges(a);
	loop_timer_clear(&mitmd_env.w.loop, &a->timer);
	loop_del(&mitmd_env.w.loop, &a->io);
	out_ring_drop(&mitmd_env.ring, a->fd);
	close(a->fd);
	a->fd = -1;
	TAILQ_REMOVE(&mitmd_env.agents, a, entry);
	mitmd_env.nagents--;
	if (mitmd_env.full &&
	    loop_mod(&mitmd_env.w.loop, &mitmd_env.accept, EPOLLIN) == -1)
		fatal("epoll_ctl");
	mitmd_env.full = false;
	if (a->busy == 0)
		agent_free(a);
}

/* Send close_notify once the queue is empty. */
static void
agent_shut(struct agent *a)
{
	if (a->shut || mitmd_tls_push(a) == -1 || a->out.len != 0)
		return;
	a->shut = true;
	if (a->ssl != NULL && !a->cut && SSL_is_init_finished(a->ssl))
		(void)SSL_shutdown(a->ssl);
	/* If the socket does not take it now, it is lost. */
	buf_reset(&a->out, 0);
	/*
	 * If input is waiting here, close() would reset the connection and the
	 * agent could lose the last output.
	 */
	(void)shutdown(a->fd, SHUT_WR);
	agent_enter(a, AGENT_LINGER, MITMD_LINGER_MS);
}

void
agent_linger(struct agent *a)
{
	if (a->dead)
		return;
	if (a->state == AGENT_LINGER) {
		agent_shut(a);
		return;
	}
	agent_drop_exchanges(a);
	agent_enter(a, AGENT_LINGER, MITMD_STALL_MS);
	agent_shut(a);
}

void
agent_resume(struct agent *a)
{
	a->ops->resume(a);
}

static void
agent_expired(struct loop_timer *t)
{
	struct agent *a = t->arg;

	agent_hold(a);
	a->ops->late(a);
	agent_leave(a);
}

void
agent_enter(struct agent *a, enum agent_state state, uint64_t ms)
{
	a->state = state;
	loop_timer_set(&mitmd_env.w.loop, &a->timer, ms, agent_expired, a);
}

/*
 * Bytes that TLS has taken from the socket do not make it readable: watch for
 * writability instead, so that the loop returns here.
 */
bool
agent_pending(const struct agent *a)
{
	return a->ssl != NULL && !a->drained && a->state != AGENT_TLS &&
	       a->state != AGENT_LINGER && a->ops->reads(a) &&
	       SSL_has_pending(a->ssl) == 1;
}

void
agent_events(struct agent *a)
{
	struct exchange *x;
	uint32_t want;

	want = a->ops->reads(a) ? (uint32_t)EPOLLIN : 0;
	if (a->out.len != 0 || agent_pending(a))
		want |= EPOLLOUT;
	if (loop_mod(&mitmd_env.w.loop, &a->io, want) == -1)
		fatal("epoll_ctl");
	TAILQ_FOREACH (x, &a->exchanges, entry)
		exchange_watch(x);
}
