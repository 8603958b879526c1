/* SPDX-License-Identifier: ISC */
/*
 * Passes exactly one descriptor with SCM_RIGHTS. The other end may be any
 * process of the same user; the kernel closes descriptors that do not fit.
 */
#include "credential/handover.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

union handover_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

ssize_t
handover_once(int sock, const void *p, size_t len, int fd)
{
	union handover_room room = {.bytes = ""};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = room.bytes,
	    .msg_controllen = sizeof(room.bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL);
}

ssize_t
handover_send(int sock, const void *p, size_t len, int fd)
{
	ssize_t n = handover_once(sock, p, len, fd);
	struct rlimit ours, rl;
	int save;

	if (n != -1 || errno != ETOOMANYREFS ||
	    getrlimit(RLIMIT_NOFILE, &ours) == -1)
		return n;
	rl = ours;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	n = handover_once(sock, p, len, fd);
	save = errno;
	(void)setrlimit(RLIMIT_NOFILE, &ours);
	errno = save;
	return n;
}

ssize_t
handover_receive(int sock, void *p, size_t len, int *fd)
{
	union handover_room room = {.bytes = ""};
	struct iovec iov = {.iov_base = p, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = room.bytes,
	    /* Without the padding, where a second descriptor would fit. */
	    .msg_controllen = CMSG_LEN(sizeof(*fd))};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	c = n == -1 ? NULL : CMSG_FIRSTHDR(&msg);
	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}
