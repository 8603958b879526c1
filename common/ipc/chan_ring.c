/* SPDX-License-Identifier: ISC */
/*
 * Channels whose messages travel in two rings of shared memory, one for each
 * direction.  The socket carries what a ring cannot: messages with a
 * descriptor, long ones, and the end.  Before such a message, a word in the
 * ring announces it, so everything arrives in the order in which it was sent.
 * Each end has an eventfd, which the other writes to only while it sleeps.
 */
#include "common/ipc/chan_priv.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "common/log.h"

_Static_assert(RING_MAP == PLEDGE_RING_BYTES, "a worker may map rings");

int
chan_ring_give(const int pair[2])
{
	int fds[RING_FDS] = {-1, -1, -1}, other[RING_FDS], rv = -1;

	if ((fds[RING_FD_MAP] = chan_shared_new(RING_MAP)) == -1 ||
	    (fds[RING_FD_EVENT] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) ==
		-1 ||
	    (fds[RING_FD_WAKE] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) == -1)
		goto out;
	other[RING_FD_MAP] = fds[RING_FD_MAP];
	other[RING_FD_EVENT] = fds[RING_FD_WAKE];
	other[RING_FD_WAKE] = fds[RING_FD_EVENT];
	/* A message sent to one end is received from the other. */
	if (chan_first_send(pair[1], 0, fds, RING_FDS) == 0 &&
	    chan_first_send(pair[0], 1, other, RING_FDS) == 0)
		rv = 0;
out:
	chan_first_close(fds, RING_FDS);
	return rv;
}

void
chan_ring_free(struct chan *c)
{
	struct chan_ring *r = c->ring;

	if (r == NULL)
		return;
	loop_poll_del(c->loop, &r->poll);
	loop_del(c->loop, &r->io);
	close(r->event);
	close(r->wake);
	munmap(r->map, RING_MAP);
	free(r);
	c->ring = NULL;
}

/* Only a peer that has filled its own eventfd is not woken. */
void
chan_ring_wake(const struct chan_ring *r)
{
	const uint64_t one = 1;

	if (write(r->wake, &one, sizeof(one)) == -1 && errno != EAGAIN)
		log_warn("eventfd");
}

static void
chan_ring_publish(struct chan_ring *r)
{
	r->published = r->out.at;
	r->unseen = 0;
	if (ring_publish(&r->out))
		chan_ring_wake(r);
}

bool
chan_ring_direct(struct chan *c, struct span head, struct span rest)
{
	struct chan_ring *r = c->ring;

	if (r == NULL || c->full || !TAILQ_EMPTY(&c->out) ||
	    head.len > RING_MAX || rest.len > RING_MAX - head.len ||
	    ring_put_parts(&r->out, head, rest) != 1)
		return false;
	if (++r->unseen >= CHAN_SEND)
		chan_ring_publish(r);
	else
		loop_turn_add(c->loop, &c->turn);
	return true;
}

/*
 * Send the first message of the queue over the socket, after the word that
 * says so.  Returns 1, 0 if it must wait, or -1.
 */
static int
chan_ring_put_socket(struct chan *c)
{
	struct chan_ring *r = c->ring;
	int rv;

	if (!r->said) {
		if ((rv = ring_put_elsewhere(&r->out)) != 1) {
			r->full = rv == 0;
			r->bad = rv == -1;
			return rv;
		}
		r->said = true;
		chan_ring_publish(r);
	}
	if ((rv = chan_put(c, 1)) == 1) {
		r->said = false;
		chan_sent(c);
	}
	return rv;
}

int
chan_ring_put(struct chan *c)
{
	struct chan_ring *r = c->ring;
	struct chan_out *o;
	int rv = 1;

	r->full = false;
	while (rv == 1 && (o = TAILQ_FIRST(&c->out)) != NULL) {
		if (o->fd != -1 || o->len > RING_MAX) {
			rv = chan_ring_put_socket(c);
		} else if ((rv = ring_put(&r->out, o->bytes, o->len)) == 1) {
			chan_sent(c);
		} else {
			r->full = rv == 0;
			r->bad = rv == -1;
		}
	}
	if (r->out.at != r->published)
		chan_ring_publish(r);
	/* The receiving half tells the owner, once the channel is open. */
	if (r->bad && c->opened)
		loop_poll_add(c->loop, &r->poll);
	return rv;
}
