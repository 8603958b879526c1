/* SPDX-License-Identifier: ISC */
/*
 * The receiving half of a channel.  A message is one datagram, a descriptor
 * belongs to its message, and the channel identifies the sender.  The protocol
 * table is checked before a handler runs; the peer is trusted with nothing.
 */
#include "common/ipc/chan_priv.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/ipc/wire.h"

/*
 * The bytes of one message, and one more than it may have, so that a longer one
 * is noticed.  The rest is padding: slots whose addresses differ by whole pages
 * would compete for the same lines of the cache.
 */
struct chan_slot {
	uint8_t in[PROTO_MAX_DATAGRAM + 64];
};

union chan_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(4 * sizeof(int))];
};

/*
 * One set for the process, which handles one channel at a time.  Only what is
 * received touches the memory of a slot, and most processes never receive so
 * many messages at once.
 */
static struct {
	struct mmsghdr vec[CHAN_BATCH];
	struct iovec iov[CHAN_BATCH];
	union chan_control control[CHAN_BATCH];
	struct chan_slot slots[CHAN_BATCH];
} chan_env;
/*
 * So many of the first slots must be prepared before the next recvmmsg().  This
 * is not zero, and beside the slots it would put them all into the program's
 * file.
 */
static size_t chan_used = CHAN_BATCH;

/* Collect all descriptors of a message; padding lets more than one arrive. */
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
			memcpy(
			    &fd, CMSG_DATA(cm) + i * sizeof(int), sizeof(fd));
			if (n < max)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

/*
 * Map the memfd of a big field, provided that it is sealed and can no longer
 * change.
 */
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
	if (f->kind != PROTO_big || (seals = fcntl(fd, F_GET_SEALS)) == -1 ||
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

static const struct chan_handler *
chan_handler(const struct chan *c, uint16_t type)
{
	for (size_t i = 0; i < c->ops->nhandlers; i++) {
		if (c->ops->handlers[i].type == type)
			return &c->ops->handlers[i];
	}
	return NULL;
}

#define CHAN_PASS_0
#define CHAN_PASS_1 , fd
#define CHAN_CASE(name, number, from, to, phase, fds)                          \
	case MSG_##name:                                                       \
		return h->fn.name(c, &msg->name CHAN_PASS_##fds);

/* Call the handler with its message, and with `fd` if the row has one. */
static int
chan_call(struct chan *c, const struct chan_handler *h,
    const union proto_any *msg, int fd)
{
	switch (h->type) {
		PROTO_MSGS(CHAN_CASE)
	}
	return -1;
}

int
chan_dispatch(struct chan *c, const uint8_t *in, size_t len, int fd)
{
	static union proto_any msg;
	const struct proto_msg *m;
	struct span big = {NULL, 0};
	bool memfd;
	const struct chan_handler *h;
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
		r = chan_violation(
		    c, "%s with %s descriptor", m->name, fd != -1 ? "a" : "no");
	else if (memfd && chan_map(m, fd, &big) == -1)
		r = chan_violation(c, "%s with a bad memfd", m->name);
	else if (wire_decode(m, in, len, big, &msg) == -1)
		r = chan_violation(c, "malformed %s", m->name);
	else if ((h = chan_handler(c, m->type)) == NULL)
		r = chan_violation(c, "%s is not taken here", m->name);
	else {
		r = chan_call(c, h, &msg, memfd ? -1 : fd);
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

static void
chan_prepare(void)
{
	for (size_t i = 0; i < chan_used; i++) {
		chan_env.iov[i] = (struct iovec){
		    chan_env.slots[i].in, PROTO_MAX_DATAGRAM + 1};
		chan_env.vec[i].msg_hdr =
		    (struct msghdr){.msg_iov = &chan_env.iov[i],
			.msg_iovlen = 1,
			.msg_control = chan_env.control[i].bytes,
			.msg_controllen = sizeof(chan_env.control[i].bytes)};
	}
	chan_used = 0;
}

/*
 * Receive messages with one call.  Returns their number, 0 if there is none, or
 * -1 if the channel has ended.
 */
static int
chan_receive(struct chan *c)
{
	int n;

	chan_prepare();
	n = recvmmsg(c->fd, chan_env.vec, c->batch,
	    MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
	if (n != -1) {
		chan_used = (size_t)n;
		return n;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	/*
	 * The reset is reported once; messages already queued can then still be
	 * read.
	 */
	if (errno == ECONNRESET && !c->reset) {
		c->reset = true;
		return 0;
	}
	return -1;
}

/* Process one received message; with `drop`, only close its descriptors. */
static int
chan_take(struct chan *c, size_t slot, bool drop)
{
	struct mmsghdr *m = &chan_env.vec[slot];
	int fds[4];
	size_t nfds = chan_fds(&m->msg_hdr, fds, 4);
	bool bad = m->msg_len == 0 || nfds > 1 ||
		   (m->msg_hdr.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
	int r;

	if (drop || bad) {
		for (size_t i = 0; i < nfds; i++)
			close(fds[i]);
		if (!drop && (m->msg_len != 0 || nfds != 0))
			chan_violation(c, "over-long message or descriptors");
		return -1;
	}
	r = chan_dispatch(
	    c, chan_env.slots[slot].in, m->msg_len, nfds == 1 ? fds[0] : -1);
	chan_forget(c, chan_env.slots[slot].in, m->msg_len);
	return r;
}

int
chan_socket_next(struct chan *c)
{
	int n;

	if ((n = chan_receive(c)) <= 0)
		return n;
	return chan_take(c, 0, false) == -1 ? -1 : 1;
}

void
chan_ended(struct chan *c)
{
	chan_disconnect(c);
	c->ops->closed(c, c->why[0] != '\0' ? c->why : NULL);
}

void
chan_drain(struct chan *c)
{
	int n, r = 0;

	n = chan_receive(c);
	for (int i = 0; i < n; i++) {
		if (chan_take(c, (size_t)i, r == -1 || c->freed) == -1)
			r = -1;
	}
	if ((n == -1 || r == -1) && !c->freed)
		chan_ended(c);
}
