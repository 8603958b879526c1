/* SPDX-License-Identifier: ISC */
/*
 * Channels between our processes: setting them up and sending.
 * Sending never blocks.  Messages queue until the end of the loop's turn and
 * are then sent with one call; those that the socket does not accept stay
 * queued.
 */
#include "common/ipc/chan.h"

#include "common/ipc/chan_priv.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/wire.h"
#include "common/log.h"

/* Twice the size that PROTO_MAX_CALLS calls in flight can have. */
#define CHAN_MAX_QUEUE (64U << 20)
#define CHAN_MAX_QUEUED 16384U
static uint8_t chan_head[PROTO_MAX_DATAGRAM];

static void
chan_turn(struct loop_turn *t)
{
	chan_flush(t->arg);
}

static void
chan_retry(struct loop_retry *r)
{
	struct chan *c = r->arg;

	c->busy++;
	chan_flush(c);
	chan_relax(c);
	chan_leave(c);
}

struct chan *
chan_new(struct loop *l, int fd, enum role self, enum role peer, unsigned index,
    const struct chan_ops *ops, void *arg)
{
	struct chan *c;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return NULL;
	c->loop = l;
	c->io.fd = -1;
	c->turn.fn = chan_turn;
	c->turn.arg = c;
	c->retry.fn = chan_retry;
	c->retry.arg = c;
	c->fd = fd;
	c->self = self;
	c->peer = peer;
	c->index = index;
	c->phase = PHASE_SETUP;
	c->ops = ops;
	c->arg = arg;
	TAILQ_INIT(&c->out);
	return c;
}

bool
chan_is_behind(const struct chan *c)
{
	return c->behind;
}

static void
chan_set_behind(struct chan *c, bool behind)
{
	if (behind == c->behind)
		return;
	c->behind = behind;
	if (c->ops->behind != NULL)
		c->ops->behind(c, behind);
}

void
chan_relax(struct chan *c)
{
	if (c->nqueued <= CHAN_BEHIND_MESSAGES / 2 &&
	    c->nfds <= CHAN_BEHIND_FDS / 2 &&
	    c->queued + c->memfds <= CHAN_BEHIND_BYTES / 2)
		chan_set_behind(c, false);
}

void
chan_disconnect(struct chan *c)
{
	loop_del(c->loop, &c->io);
	loop_turn_del(c->loop, &c->turn);
	loop_retry_del(c->loop, &c->retry);
	chan_ring_free(c);
	chan_arena_free(c);
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
	c->broken = true;
	chan_drop_queue(c);
}

void
chan_leave(struct chan *c)
{
	if (--c->busy == 0 && c->freed)
		free(c);
}

void
chan_free(struct chan *c)
{
	int saved = errno;

	if (c == NULL)
		return;
	/* Send the last messages of this turn. */
	if (!c->broken && c->turn.queued)
		chan_flush(c);
	chan_disconnect(c);
	chan_relax(c);
	c->freed = true;
	c->busy++;
	chan_leave(c);
	errno = saved;
}

void
chan_phase(struct chan *c, enum proto_phase phase)
{
	c->phase = phase;
}

enum role
chan_peer(const struct chan *c)
{
	return c->peer;
}

unsigned
chan_index(const struct chan *c)
{
	return c->index;
}

void *
chan_arg(const struct chan *c)
{
	return c->arg;
}

uint16_t
chan_last(const struct chan *c)
{
	return c->last;
}

size_t
chan_queued(const struct chan *c)
{
	return c->queued;
}

int
chan_violation(struct chan *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (c->why[0] == '\0')
		vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
	errno = EBADMSG;
	return -1;
}

/*
 * Create a sealed memfd with the bytes of `big`, which the receiver may map
 * because it can no longer change.
 */
static int
chan_memfd(struct span big)
{
	size_t done = 0;
	ssize_t n;
	int fd;

	if ((fd = chan_memfd_new()) == -1)
		return -1;
	while (done < big.len) {
		if ((n = write(fd, big.p + done, big.len - done)) == -1) {
			if (errno == EINTR)
				continue;
			goto bad;
		}
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, CHAN_SEALS) == -1)
		goto bad;
	return fd;
bad:
	close(fd);
	return -1;
}

/* Queue a message; with `memfd` bytes in `fd`, if it is a memfd. */
static int
chan_enqueue(
    struct chan *c, struct span head, struct span rest, int fd, size_t memfd)
{
	struct chan_out *o;
	size_t len = head.len + rest.len;

	if (fd == -1 && chan_ring_direct(c, head, rest))
		return 0;
	if (c->nqueued >= CHAN_MAX_QUEUED || len > CHAN_MAX_QUEUE - c->queued) {
		errno = ENOBUFS;
		return -1;
	}
	if ((o = malloc(sizeof(*o) + len)) == NULL)
		return -1;
	o->fd = fd;
	o->memfd = memfd;
	o->len = len;
	memcpy(o->bytes, head.p, head.len);
	if (rest.len != 0)
		memcpy(o->bytes + head.len, rest.p, rest.len);
	TAILQ_INSERT_TAIL(&c->out, o, entry);
	c->queued += len;
	c->nqueued++;
	c->memfds += memfd;
	c->nfds += fd != -1;
	/*
	 * Send at once if one call's worth is queued, or so much that waiting
	 * would delay it.
	 */
	if (!c->full &&
	    (c->nqueued >= CHAN_SEND || c->queued >= CHAN_SEND_BYTES))
		chan_flush(c);
	else if (!c->full)
		loop_turn_add(c->loop, &c->turn);
	if (c->nqueued >= CHAN_BEHIND_MESSAGES || c->nfds >= CHAN_BEHIND_FDS ||
	    c->queued + c->memfds >= CHAN_BEHIND_BYTES)
		chan_set_behind(c, true);
	return 0;
}

void
chan_flush(struct chan *c)
{
	bool waits;
	int r = 1;

	loop_turn_del(c->loop, &c->turn);
	loop_retry_del(c->loop, &c->retry);
	c->full = c->refused = false;
	if (c->ring != NULL)
		r = chan_ring_put(c);
	while (c->ring == NULL && !TAILQ_EMPTY(&c->out) &&
	       (r = chan_put(c, CHAN_SEND)) > 0) {
		for (; r > 0; r--)
			chan_sent(c);
	}
	/*
	 * The receiving half reads the end of the channel, and its reason, like
	 * any message.
	 */
	if (r == -1)
		chan_drop_queue(c);
	c->full = !TAILQ_EMPTY(&c->out);
	if (c->refused)
		loop_retry_add(c->loop, &c->retry);
	waits = r != -1 && !c->refused && (c->full || c->behind) &&
		(c->ring == NULL || !c->ring->full);
	if (c->opened)
		loop_mod(c->loop, &c->io,
		    EPOLLIN | (waits ? (uint32_t)EPOLLOUT : 0));
}

int
chan_send(struct chan *c, enum msg_type type, const void *msg, int fd)
{
	const struct proto_msg *m = proto_find((uint16_t)type);
	size_t len, memfd = 0;
	struct span big;
	int saved;

	if (m == NULL || (m->from & (1U << c->self)) == 0 ||
	    (m->to & (1U << c->peer)) == 0 || (fd != -1) != (m->nfds == 1))
		fatalx("bug: %s may not send message %#x to %s",
		    role_name(c->self), (unsigned)type, role_name(c->peer));
	if (c->broken) {
		errno = EPIPE;
		goto bad;
	}
	if (wire_encode(m, msg, chan_head, &len, &big) == -1)
		fatalx("bug: %s exceeds its maximum", m->name);
	if ((chan_head[2] & WIRE_MEMFD) != 0) {
		if ((fd = chan_memfd(big)) == -1)
			goto bad;
		memfd = big.len;
		big.len = 0;
	}
	if (chan_enqueue(c, span_of(chan_head, len), big, fd, memfd) == 0) {
		chan_forget(c, chan_head, len);
		return 0;
	}
bad:
	saved = errno;
	if (fd != -1)
		close(fd);
	if (saved == ENOBUFS)
		log_warnx("%s takes nothing: %zu messages wait",
		    role_name(c->peer), c->nqueued);
	errno = saved;
	return -1;
}
