/* SPDX-License-Identifier: ISC */
/*
 * SEQPACKET channels between our processes: one recvmsg is one message, a
 * descriptor belongs to its message, and the kernel knows who sent it.  What
 * a message may be is decided by the protocol table before its handler runs.
 * Holds the send queue; trusts the peer with nothing.
 */
#include "chan.h"

#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "log.h"
#include "wire.h"

/* Twice what the calls of a session (PROTO_MAX_CALLS) can have under way. */
#define CHAN_MAX_QUEUE (64U << 20)
#define CHAN_MAX_QUEUED 16384U
/* Messages received per wake-up; more wait for the next one. */
#define CHAN_BATCH 8
#define CHAN_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define CHAN_MFD (MFD_CLOEXEC | MFD_ALLOW_SEALING)

struct chan_out {
	TAILQ_ENTRY(chan_out) entry;
	int fd;
	size_t len;
	uint8_t bytes[];
};

struct chan {
	struct loop *loop;
	struct loop_io io;
	int fd;
	enum role self, peer;
	unsigned index;
	enum proto_phase phase;
	const struct chan_ops *ops;
	void *arg;
	TAILQ_HEAD(, chan_out) out;
	size_t queued, nqueued;
	uint16_t last;
	bool opened, broken, reset, freed;
	unsigned busy;
	char why[256];
};

/* Where a received message lies beside its bytes. */
struct chan_slot {
	struct iovec iov;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control;
};

/* One channel at a time receives and handles in a process. */
static uint8_t chan_in[CHAN_BATCH][PROTO_MAX_DATAGRAM + 1];
static uint8_t chan_head[PROTO_MAX_DATAGRAM];

struct chan *
chan_new(struct loop *l, int fd, enum role self, enum role peer,
    unsigned index, const struct chan_ops *ops, void *arg)
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

static void
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
	return 0;
}

static void
chan_flush(struct chan *c)
{
	struct chan_out *o;
	struct iovec iov;
	int r;

	while ((o = TAILQ_FIRST(&c->out)) != NULL) {
		iov.iov_base = o->bytes;
		iov.iov_len = o->len;
		if ((r = chan_put(c, &iov, 1, o->fd)) == 0)
			return;
		if (r == -1) {
			/* The end is read, with its reason, as any message. */
			chan_drop_queue(c);
			break;
		}
		TAILQ_REMOVE(&c->out, o, entry);
		c->queued -= o->len;
		c->nqueued--;
		if (o->fd != -1)
			close(o->fd);
		freezero(o, sizeof(*o) + o->len);
	}
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

/* All descriptors that came; more than one fits through padding. */
static size_t
chan_fds(struct msghdr *mh, int *fds, size_t max)
{
	size_t n = 0, here;
	struct cmsghdr *cm;
	int fd;

	for (cm = CMSG_FIRSTHDR(mh); cm != NULL; cm = CMSG_NXTHDR(mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		here = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < here; i++) {
			memcpy(&fd, CMSG_DATA(cm) + i * sizeof(int),
			    sizeof(fd));
			if (n < max)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

/* Maps the memfd of a big field, if it is one that cannot change. */
static int
chan_map(const struct proto_msg *m, int fd, struct span *big)
{
	const struct proto_field *f;
	struct stat st;
	int seals;
	void *p;

	if (m->nfields == 0)
		return -1;
	f = &m->fields[m->nfields - 1];
	if (f->kind != PROTO_big ||
	    (seals = fcntl(fd, F_GET_SEALS)) == -1 ||
	    (seals & CHAN_SEALS) != CHAN_SEALS ||
	    syscall(SYS_fstat, fd, &st) == -1 || st.st_size <= 0 ||
	    (uint64_t)st.st_size > f->max)
		return -1;
	if ((p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
	    0)) == MAP_FAILED)
		return -1;
	*big = span_of(p, (size_t)st.st_size);
	return 0;
}

static chan_fn *
chan_handler(const struct chan *c, uint16_t type)
{
	for (size_t i = 0; i < c->ops->nhandlers; i++) {
		if (c->ops->handlers[i].type == type)
			return c->ops->handlers[i].fn;
	}
	return NULL;
}

/* Checks one message against the table and gives it to its handler. */
static int
chan_dispatch(struct chan *c, const uint8_t *in, size_t len, int fd)
{
	static union proto_any msg;
	const struct proto_msg *m;
	struct span big = {NULL, 0};
	bool memfd;
	chan_fn *fn;
	int r;

	if (len < WIRE_HEADER ||
	    (m = proto_find((uint16_t)(in[0] | in[1] << 8))) == NULL) {
		r = chan_violation(c, "no such message (%zu bytes)", len);
		goto out;
	}
	memfd = (in[2] & WIRE_MEMFD) != 0;
	c->last = m->type;
	if ((m->from & (1U << c->peer)) == 0 || (m->to & (1U << c->self)) == 0)
		r = chan_violation(c, "%s is not its to send", m->name);
	else if ((m->phase & c->phase) == 0)
		r = chan_violation(c, "%s in the wrong phase", m->name);
	else if ((fd != -1) != (memfd || m->nfds == 1))
		r = chan_violation(c, "%s with %s descriptor", m->name,
		    fd != -1 ? "a" : "no");
	else if (memfd && chan_map(m, fd, &big) == -1)
		r = chan_violation(c, "%s with a bad memfd", m->name);
	else if (wire_decode(m, in, len, big, &msg) == -1)
		r = chan_violation(c, "malformed %s", m->name);
	else if ((fn = chan_handler(c, m->type)) == NULL)
		r = chan_violation(c, "%s is not taken here", m->name);
	else {
		r = fn(c, &msg, memfd ? -1 : fd);
		if (!memfd)
			fd = -1;
		if (r == -1)
			chan_violation(c, "%s refused", m->name);
	}
	if (big.p != NULL)
		munmap((void *)(uintptr_t)big.p, big.len);
out:
	if (fd != -1)
		close(fd);
	return r;
}

/*
 * What is there, at most CHAN_BATCH messages with one call: their number, 0
 * when there is none, -1 when the channel is over.
 */
static int
chan_receive(struct chan *c, struct chan_slot *slots, struct mmsghdr *vec)
{
	int n;

	for (size_t i = 0; i < CHAN_BATCH; i++) {
		slots[i].iov = (struct iovec){chan_in[i], sizeof(chan_in[i])};
		vec[i].msg_hdr = (struct msghdr){.msg_iov = &slots[i].iov,
		    .msg_iovlen = 1,
		    .msg_control = slots[i].control.bytes,
		    .msg_controllen = sizeof(slots[i].control.bytes)};
	}
	n = recvmmsg(c->fd, vec, CHAN_BATCH, MSG_DONTWAIT | MSG_CMSG_CLOEXEC,
	    NULL);
	if (n != -1)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	/* Reported once, then what was queued can still be read. */
	if (errno == ECONNRESET && !c->reset) {
		c->reset = true;
		return 0;
	}
	return -1;
}

/* One received message; with `drop` only its descriptors are closed. */
static int
chan_take(struct chan *c, size_t slot, struct mmsghdr *m, bool drop)
{
	int fds[4];
	size_t nfds = chan_fds(&m->msg_hdr, fds, 4);
	bool bad = m->msg_len == 0 || nfds > 1 ||
	    (m->msg_hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;

	if (drop || bad) {
		for (size_t i = 0; i < nfds; i++)
			close(fds[i]);
		if (!drop && (m->msg_len != 0 || nfds != 0))
			chan_violation(c, "over-long message or descriptors");
		return -1;
	}
	return chan_dispatch(c, chan_in[slot], m->msg_len,
	    nfds == 1 ? fds[0] : -1);
}

static void
chan_ready(struct loop_io *io, uint32_t events)
{
	struct chan_slot slots[CHAN_BATCH];
	struct mmsghdr vec[CHAN_BATCH];
	struct chan *c = io->arg;
	int n = 0, r = 0;

	c->busy++;
	if ((events & EPOLLOUT) != 0)
		chan_flush(c);
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		n = chan_receive(c, slots, vec);
	for (int i = 0; i < n; i++) {
		if (chan_take(c, (size_t)i, &vec[i], r == -1 || c->freed) == -1)
			r = -1;
	}
	if ((n == -1 || r == -1) && !c->freed) {
		chan_disconnect(c);
		c->ops->closed(c, c->why[0] != '\0' ? c->why : NULL);
	}
	if (--c->busy == 0 && c->freed)
		free(c);
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
