/* SPDX-License-Identifier: ISC */
/*
 * The top of a channel: its events.  An eventfd is registered edge-triggered,
 * so that nobody has to read it; a ring with messages is looked at in every
 * turn of the loop until it is empty.
 */
#include "common/ipc/chan_priv.h"

#include <sys/socket.h>

#include <errno.h>

/*
 * The most messages received with one call where they may carry descriptors,
 * which count against the limit of the process before the first is handled.
 */
#define CHAN_BATCH_FDS 8U

/* Messages processed per turn and channel; more wait for the next turn. */
#define CHAN_RING_BATCH 16

/* Process one message.  Returns 1, 0 if there is none yet, or -1. */
static int
chan_ring_next(struct chan *c)
{
	static uint8_t in[RING_MAX];
	struct chan_ring *r = c->ring;
	uint32_t len;
	int rv;

	if (r->bad)
		return chan_violation(c, "an impossible index in its ring");
	if (r->elsewhere) {
		if ((rv = chan_socket_next(c)) == 1 && c->ring != NULL)
			c->ring->elsewhere = false;
		return rv;
	}
	if ((rv = ring_take(&r->in, in, &len)) == -1)
		return chan_violation(c, "nonsense in its ring");
	if (rv == 0)
		return 0;
	if (len == RING_ELSEWHERE) {
		r->elsewhere = true;
		return 1;
	}
	return chan_dispatch(c, in, len, -1) == -1 ? -1 : 1;
}

/* Process messages, and end the channel if one breaks the protocol. */
static void
chan_ring_drain(struct chan *c)
{
	int rv = 1;

	for (size_t n = 0; n < CHAN_RING_BATCH && rv == 1 && !c->broken; n++)
		rv = chan_ring_next(c);
	if (!c->broken && ring_release(&c->ring->in))
		chan_ring_wake(c->ring);
	if (rv == -1 && !c->freed)
		chan_ended(c);
}

/*
 * The socket can be read, and the ring does not say that a message is there:
 * see whether it is the end.  A message would be announced in the ring by now.
 */
static void
chan_ring_look(struct chan *c)
{
	char byte;
	ssize_t n;

	n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == -1 && errno == ECONNRESET && !c->reset) {
		c->reset = true;
		return;
	}
	/*
	 * The peer sent the messages in the ring before this: they come first.
	 */
	if (!ring_is_empty(&c->ring->in))
		return;
	if (n > 0)
		chan_violation(c, "a message beside its ring");
	chan_ended(c);
}

/* The channel's socket is ready. */
static void
chan_ring_ready(struct chan *c)
{
	loop_poll_add(c->loop, &c->ring->poll);
	chan_ring_drain(c);
	if (!c->broken && !c->ring->elsewhere)
		chan_ring_look(c);
}

static bool
chan_ring_idle(struct loop_poll *p)
{
	struct chan *c = p->arg;

	if (c->ring->bad)
		return false;
	/* The next message is on the socket, which wakes by itself. */
	return c->ring->elsewhere || ring_arm(&c->ring->in);
}

static void
chan_ring_polled(struct loop_poll *p)
{
	struct chan *c = p->arg;

	c->busy++;
	chan_ring_drain(c);
	chan_leave(c);
}

/* The peer has written, or has made room. */
static void
chan_ring_event(struct loop_io *io, uint32_t events)
{
	struct chan *c = io->arg;

	loop_poll_add(c->loop, &c->ring->poll);
	if (c->ring->full) {
		c->busy++;
		chan_flush(c);
		chan_relax(c);
		chan_leave(c);
	}
}

static int
chan_ring_open(struct chan *c)
{
	c->ring->poll = (struct loop_poll){.idle = chan_ring_idle,
	    .fn = chan_ring_polled,
	    .arg = c};
	loop_poll_add(c->loop, &c->ring->poll);
	return loop_add(c->loop, &c->ring->io, c->ring->event,
	    EPOLLIN | (uint32_t)EPOLLET, chan_ring_event, c);
}

static void
chan_ready(struct loop_io *io, uint32_t events)
{
	struct chan *c = io->arg;

	c->busy++;
	if ((events & EPOLLOUT) != 0) {
		chan_flush(c);
		chan_relax(c);
	}
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !c->broken) {
		if (c->ring != NULL)
			chan_ring_ready(c);
		else
			chan_drain(c);
	}
	chan_leave(c);
}

/* Returns true if the peer may send a descriptor, other than of a memfd. */
static bool
chan_gets_fds(const struct chan *c)
{
	for (size_t i = 0; i < proto_nmsgs; i++) {
		const struct proto_msg *m = &proto_msgs[i];

		if (m->nfds != 0 && (m->from & (1U << c->peer)) != 0 &&
		    (m->to & (1U << c->self)) != 0)
			return true;
	}
	return false;
}

int
chan_open(struct chan *c)
{
	c->batch = chan_gets_fds(c) ? CHAN_BATCH_FDS : CHAN_BATCH;
	/* Each word in the ring is for one message of the socket. */
	if (c->ring != NULL)
		c->batch = 1;
	if (loop_add(c->loop, &c->io, c->fd,
		EPOLLIN | (TAILQ_EMPTY(&c->out) ? 0 : (uint32_t)EPOLLOUT),
		chan_ready, c) == -1)
		return -1;
	c->opened = true;
	if (c->ring != NULL)
		return chan_ring_open(c);
	return 0;
}
