/* SPDX-License-Identifier: ISC */
/*
 * Channels whose messages travel in two rings of shared memory, one for each
 * direction.  The socket carries what a ring cannot: messages with a descriptor,
 * long ones, and the end.  Before such a message, a word in the ring announces
 * it, so everything arrives in the order in which it was sent.
 * Each end has an eventfd, which the other writes to only while it sleeps.
 */
#include "common/ipc/chan_priv.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "common/log.h"

_Static_assert(RING_MAP == PLEDGE_RING_BYTES, "a worker may map rings");

/* The size of the memory cannot change: an access never fails. */
#define CHAN_RING_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)

/* The first message on the socket has the number of the ring to read, and: */
enum { RING_FD_MAP, RING_FD_EVENT, RING_FD_WAKE, RING_FDS };

union chan_ring_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(RING_FDS * sizeof(int))];
};

static void
chan_ring_close(const int *fds)
{
	for (size_t i = 0; i < RING_FDS; i++)
		if (fds[i] != -1)
			close(fds[i]);
}

static int
chan_ring_tell(int fd, uint8_t side, const int *fds)
{
	union chan_ring_control control;
	struct iovec iov = {&side, 1};
	struct msghdr mh = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *cm;

	memset(&control, 0, sizeof(control));
	cm = CMSG_FIRSTHDR(&mh);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(RING_FDS * sizeof(int));
	memcpy(CMSG_DATA(cm), fds, RING_FDS * sizeof(int));
	return sendmsg(fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) == -1 ? -1 : 0;
}

int
chan_ring_give(const int pair[2])
{
	int fds[RING_FDS] = {-1, -1, -1}, other[RING_FDS], rv = -1;

	if ((fds[RING_FD_MAP] = chan_memfd_new()) == -1 ||
	    ftruncate(fds[RING_FD_MAP], RING_MAP) == -1 ||
	    fcntl(fds[RING_FD_MAP], F_ADD_SEALS, CHAN_RING_SEALS) == -1 ||
	    (fds[RING_FD_EVENT] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) ==
		-1 ||
	    (fds[RING_FD_WAKE] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) == -1)
		goto out;
	other[RING_FD_MAP] = fds[RING_FD_MAP];
	other[RING_FD_EVENT] = fds[RING_FD_WAKE];
	other[RING_FD_WAKE] = fds[RING_FD_EVENT];
	/* A message sent to one end is received from the other. */
	if (chan_ring_tell(pair[1], 0, fds) == 0 &&
	    chan_ring_tell(pair[0], 1, other) == 0)
		rv = 0;
out:
	chan_ring_close(fds);
	return rv;
}

/* Receive what chan_ring_give() has sent.  Returns 0 or -1. */
static int
chan_ring_told(int fd, uint8_t *side, int *fds)
{
	union chan_ring_control control;
	struct iovec iov = {side, 1};
	struct mmsghdr mm = {.msg_hdr = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)}};
	struct cmsghdr *cm;

	if (recvmmsg(fd, &mm, 1, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL) != 1)
		return -1;
	if ((cm = CMSG_FIRSTHDR(&mm.msg_hdr)) == NULL ||
	    cm->cmsg_type != SCM_RIGHTS ||
	    cm->cmsg_len != CMSG_LEN(RING_FDS * sizeof(int)) ||
	    mm.msg_len != 1 || *side > 1) {
		errno = EBADMSG;
		return -1;
	}
	memcpy(fds, CMSG_DATA(cm), RING_FDS * sizeof(int));
	return 0;
}

/* Map the rings.  Returns MAP_FAILED with errno set if `fd` cannot be them. */
static void *
chan_ring_map(int fd)
{
	struct stat st;
	int seals;

	if ((seals = fcntl(fd, F_GET_SEALS)) == -1 ||
	    syscall(SYS_fstat, fd, &st) == -1)
		return MAP_FAILED;
	if ((seals & CHAN_RING_SEALS) != CHAN_RING_SEALS ||
	    st.st_size != (off_t)RING_MAP) {
		errno = EBADMSG;
		return MAP_FAILED;
	}
	return mmap(
	    NULL, RING_MAP, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

int
chan_ring_take(struct chan *c)
{
	struct chan_ring *r;
	struct ring_shared *map;
	int fds[RING_FDS];
	uint8_t side;

	if (chan_ring_told(c->fd, &side, fds) == -1)
		return -1;
	if ((r = calloc(1, sizeof(*r))) == NULL ||
	    (map = chan_ring_map(fds[RING_FD_MAP])) == MAP_FAILED) {
		free(r);
		chan_ring_close(fds);
		return -1;
	}
	close(fds[RING_FD_MAP]);
	r->map = map;
	r->in.s = &map[side];
	r->out.s = &map[1 - side];
	r->event = fds[RING_FD_EVENT];
	r->wake = fds[RING_FD_WAKE];
	r->io.fd = -1;
	c->ring = r;
	return 0;
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
	if (ring_publish(&r->out))
		chan_ring_wake(r);
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
	uint32_t before = r->out.at;
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
	if (r->out.at != before)
		chan_ring_publish(r);
	/* The receiving half tells the owner, once the channel is open. */
	if (r->bad && c->opened)
		loop_poll_add(c->loop, &r->poll);
	return rv;
}
