/* SPDX-License-Identifier: ISC */
/*
 * Memory that icsupervisor makes for a pair of workers, and the first message
 * on each end of their channel, which has its descriptors.
 */
#include "common/ipc/chan_priv.h"

#include <sys/socket.h>

#include <errno.h>
#include <unistd.h>

int
chan_shared_new(size_t size)
{
	int fd;

	if ((fd = chan_memfd_new()) == -1)
		return -1;
	if (ftruncate(fd, (off_t)size) == -1 ||
	    fcntl(fd, F_ADD_SEALS, CHAN_SHARED_SEALS) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

void
chan_first_close(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] != -1)
			close(fds[i]);
}

int
chan_first_send(int fd, uint8_t side, const int *fds, size_t n)
{
	union chan_first_control control;
	struct iovec iov = {&side, 1};
	struct msghdr mh = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *cm;

	memset(&control, 0, sizeof(control));
	if ((cm = CMSG_FIRSTHDR(&mh)) == NULL) {
		errno = EINVAL;
		return -1;
	}
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(cm), fds, n * sizeof(int));
	return sendmsg(fd, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) == -1 ? -1 : 0;
}
