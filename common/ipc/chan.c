/* SPDX-License-Identifier: ISC */
/*
 * SEQPACKET channels between our processes: their life and their sending
 * half.  Sending never blocks; what the socket does not take waits here.
 */
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

/* Twice what the calls of a session (PROTO_MAX_CALLS) can have under way. */
#define CHAN_MAX_QUEUE (64U << 20)
#define CHAN_MAX_QUEUED 16384U
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define CHAN_MFD (MFD_CLOEXEC | MFD_ALLOW_SEALING)

static uint8_t chan_head[PROTO_MAX_DATAGRAM];

struct chan *
chan_new(struct loop *l, int fd, enum role self, enum role peer, unsigned index,
    const struct chan_ops *ops, void *arg)
{
	struct chan *c;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return NULL;
	c->loop = l;
	c->io.fd = -1;
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
	    c->queued <= CHAN_BEHIND_BYTES / 2)
		chan_set_behind(c, false);
}

static void
chan_drop_queue(struct chan *c)
{
	struct chan_out *o;

	while ((o = TAILQ_FIRST(&c->out)) != NULL) {
		TAILQ_REMOVE(&c->out, o, entry);
		if (o->fd != -1)
			close(o->fd);
		freezero(o, sizeof(*o) + o->len);
	}
	c->queued = c->nqueued = 0;
}

void
chan_disconnect(struct chan *c)
{
	loop_del(c->loop, &c->io);
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
	c->broken = true;
	chan_drop_queue(c);
}

void
chan_free(struct chan *c)
{
	int saved = errno;

	if (c == NULL)
		return;
	chan_disconnect(c);
	chan_relax(c);
	c->freed = true;
	if (c->busy == 0)
		free(c);
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

/* Sealed, so that the receiver may map it: it cannot change any more. */
static int
chan_memfd(struct span big)
{
	size_t done = 0;
	ssize_t n;
	int fd;

	if ((fd = memfd_create("ic", CHAN_MFD | MFD_NOEXEC_SEAL)) == -1 &&
	    errno == EINVAL)
		fd = memfd_create("ic", CHAN_MFD);
	if (fd == -1)
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

/* 1: the socket took it, 0: it is full, -1: the peer is gone. */
static int
chan_put(struct chan *c, struct iovec *iov, size_t niov, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = niov};
	struct cmsghdr *cm;

	if (fd != -1) {
		memset(&control, 0, sizeof(control));
		mh.msg_control = control.bytes;
		mh.msg_controllen = sizeof(control.bytes);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	}
again:
	if (sendmsg(c->fd, &mh, MSG_DONTWAIT | MSG_NOSIGNAL) != -1)
		return 1;
	if (errno == EINTR)
		goto again;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS)
		return 0;
	return -1;
}

static int
chan_enqueue(struct chan *c, const struct iovec *iov, size_t niov, int fd)
{
	struct chan_out *o;
	size_t len = 0;

	for (size_t i = 0; i < niov; i++)
		len += iov[i].iov_len;
	if (c->nqueued >= CHAN_MAX_QUEUED || len > CHAN_MAX_QUEUE - c->queued) {
		errno = ENOBUFS;
		return -1;
	}
	if ((o = malloc(sizeof(*o) + len)) == NULL)
		return -1;
	o->fd = fd;
	o->len = 0;
	for (size_t i = 0; i < niov; i++) {
		memcpy(o->bytes + o->len, iov[i].iov_base, iov[i].iov_len);
		o->len += iov[i].iov_len;
	}
	TAILQ_INSERT_TAIL(&c->out, o, entry);
	c->queued += len;
	c->nqueued++;
	if (c->opened)
		loop_mod(c->loop, &c->io, EPOLLIN | EPOLLOUT);
	if (c->nqueued >= CHAN_BEHIND_MESSAGES ||
	    c->queued >= CHAN_BEHIND_BYTES)
		chan_set_behind(c, true);
	return 0;
}

void
chan_flush(struct chan *c)
{
	struct chan_out *o;
	struct iovec iov;
	int r = 1;

	while ((o = TAILQ_FIRST(&c->out)) != NULL) {
		iov.iov_base = o->bytes;
		iov.iov_len = o->len;
		if ((r = chan_put(c, &iov, 1, o->fd)) != 1)
			break;
		TAILQ_REMOVE(&c->out, o, entry);
		c->queued -= o->len;
		c->nqueued--;
		if (o->fd != -1)
			close(o->fd);
		freezero(o, sizeof(*o) + o->len);
	}
	/* The end is read, with its reason, as any message. */
	if (r == -1)
		chan_drop_queue(c);
	if (r != 0 && !c->behind)
		loop_mod(c->loop, &c->io, EPOLLIN);
}

int
chan_send(struct chan *c, enum msg_type type, const void *msg, int fd)
{
	const struct proto_msg *m = proto_find((uint16_t)type);
	struct iovec iov[2];
	size_t len, niov = 1;
	struct span big;
	int r, saved;

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
	} else if (big.p != NULL && big.len != 0) {
		iov[1].iov_base = (void *)(uintptr_t)big.p;
		iov[1].iov_len = big.len;
		niov = 2;
	}
	iov[0].iov_base = chan_head;
	iov[0].iov_len = len;
	r = TAILQ_EMPTY(&c->out) ? chan_put(c, iov, niov, fd) : 0;
	if (r == 0 && chan_enqueue(c, iov, niov, fd) == 0)
		return 0;
	if (r == 1) {
		if (fd != -1)
			close(fd);
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

int
chan_open(struct chan *c)
{
	if (loop_add(c->loop, &c->io, c->fd,
		EPOLLIN | (TAILQ_EMPTY(&c->out) ? 0 : (uint32_t)EPOLLOUT),
		chan_ready, c) == -1)
		return -1;
	c->opened = true;
	return 0;
}
