/* SPDX-License-Identifier: ISC */
/* The queue of a channel, and its messages on the socket. */
#include "common/ipc/chan_priv.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define CHAN_MFD (MFD_CLOEXEC | MFD_ALLOW_SEALING)

#define CHAN_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)

/* Room for one descriptor. */
union chan_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int
chan_memfd_new(void)
{
	int fd;

	if ((fd = memfd_create("ic", CHAN_MFD | MFD_NOEXEC_SEAL)) == -1 &&
	    errno == EINVAL)
		fd = memfd_create("ic", CHAN_MFD);
	return fd;
}

/* Fill `*mh` to send `o`, with its descriptor if it has one. */
static void
chan_message(const struct chan_out *o, struct msghdr *mh, struct iovec *iov,
    union chan_control *control)
{
	struct cmsghdr *cm;

	*iov = (struct iovec){(void *)(uintptr_t)o->bytes, o->len};
	*mh = (struct msghdr){.msg_iov = iov, .msg_iovlen = 1};
	if (o->fd == -1)
		return;
	memset(control, 0, sizeof(*control));
	mh->msg_control = control->bytes;
	mh->msg_controllen = sizeof(control->bytes);
	cm = CMSG_FIRSTHDR(mh);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &o->fd, sizeof(o->fd));
}

/*
 * Say once why messages wait.  The kernel counts the descriptors in flight of
 * all processes of a user together, and compares the count with the sender's
 * RLIMIT_NOFILE.
 */
static void
chan_tell_refused(const struct chan *c, int error)
{
	static bool told;

	if (told)
		return;
	told = true;
	if (error == ETOOMANYREFS)
		log_warnx("messages to %s wait: programs of this user hold "
			  "more descriptors in flight than this process may "
			  "open files. `icctl doctor` names them",
		    role_name(c->peer));
	else
		log_warnx("messages to %s wait: %s", role_name(c->peer),
		    strerror(error));
}

int
chan_put(struct chan *c, unsigned most)
{
	union chan_control control[CHAN_SEND] UNCLEARED;
	struct mmsghdr vec[CHAN_SEND] UNCLEARED;
	struct iovec iov[CHAN_SEND] UNCLEARED;
	struct chan_out *o;
	unsigned n = 0;
	int r;

	TAILQ_FOREACH (o, &c->out, entry) {
		if (n == most || n == CHAN_SEND)
			break;
		chan_message(o, &vec[n].msg_hdr, &iov[n], &control[n]);
		n++;
	}
again:
	if (n == 1)
		r = sendmsg(c->fd, &vec[0].msg_hdr, CHAN_FLAGS) != -1 ? 1 : -1;
	else
		r = sendmmsg(c->fd, vec, n, CHAN_FLAGS);
	if (r != -1)
		return r;
	if (errno == EINTR)
		goto again;
	if (errno == EAGAIN)
		return 0;
	if (errno != ETOOMANYREFS && errno != ENOBUFS && errno != ENOMEM)
		return -1;
	c->refused = true;
	chan_tell_refused(c, errno);
	return 0;
}

void
chan_sent(struct chan *c)
{
	struct chan_out *o = TAILQ_FIRST(&c->out);

	TAILQ_REMOVE(&c->out, o, entry);
	c->queued -= o->len;
	c->nqueued--;
	c->memfds -= o->memfd;
	if (o->fd != -1) {
		c->nfds--;
		close(o->fd);
	}
	freezero(o, sizeof(*o) + o->len);
}

void
chan_drop_queue(struct chan *c)
{
	struct chan_out *o;

	while ((o = TAILQ_FIRST(&c->out)) != NULL) {
		TAILQ_REMOVE(&c->out, o, entry);
		if (o->fd != -1)
			close(o->fd);
		freezero(o, sizeof(*o) + o->len);
	}
	c->queued = c->nqueued = c->memfds = c->nfds = 0;
}
